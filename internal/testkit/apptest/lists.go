package apptest

import "holdfast/internal/store"

// WholeList is one page with all, in order of the ids.
var WholeList = store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}

// Everything is one page with all, in the order that the list has by itself.
var Everything = store.Page{Number: 1, Size: 1000, Offset: -1, Count: true}
