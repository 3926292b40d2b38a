package apptest

import "holdfast/internal/store"

// WholeList is one page with all objects, ordered by id.
var WholeList = store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}

// Everything is one page with all objects, in the list's default order.
var Everything = store.Page{Number: 1, Size: 1000, Offset: -1, Count: true}
