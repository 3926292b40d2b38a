package apptest

import "holdfast/internal/travel"

// WholeList is one page with all, in order of the ids.
var WholeList = travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}

// Everything is one page with all, in the order that the list has by itself.
var Everything = travel.Page{Number: 1, Size: 1000, Offset: -1, Count: true}
