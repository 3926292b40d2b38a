package main

import "strings"

// leftOut are the tags whose operations the client does not have: the frame of the payment modal speaks for shoppers, and
// the addresses about the service are for those who run it.
var leftOut = map[string]bool{"Payment modal": true, "Service": true}

// paging are the parameters that the client sets itself, when it goes through the pages of a list.
var paging = map[string]bool{"page": true, "per_page": true, "offset": true, "count": true}

// own are the schemas for which the client has a type of its own.
var own = map[string]string{
	"Day": "Day", "Instant": "Instant", "IntegerInput": "int64", "BooleanInput": "bool", "IDListInput": "[]int64",
}

// nullable are the fields of an input that null removes, although the description calls them numbers.
var nullable = map[string]bool{"BookingChange.pax": true}

// pointers are the fields of inputs whose zero is something else than a field that is left out, besides all fields of changes
// and of policies.
var pointers = map[string]bool{"LimitCreate.amount": true}

// initials are written in capitals.
var initials = map[string]string{
	"id": "ID", "ids": "IDs", "uuid": "UUID", "url": "URL", "urls": "URLs", "ip": "IP", "ppm": "PPM", "psp": "PSP", "api": "API",
	"3ds": "ThreeDS", "rtl": "RTL", "eci": "ECI", "csv": "CSV", "pdf": "PDF",
}

// goName is the name of a field of the API in Go: known_at is KnownAt.
func goName(name string) string {
	var made strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r == '-' || r == ' ' }) {
		if known := initials[word]; known != "" {
			made.WriteString(known)
			continue
		}
		made.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return made.String()
}

// single is the name of one item of a list.
func single(name string) string {
	switch {
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "taxes"):
		return strings.TrimSuffix(name, "es")
	default:
		return strings.TrimSuffix(name, "s")
	}
}

// queryName is the type of the parameters of an operation: listBookings has BookingsQuery.
func queryName(operation string) string {
	return goName(strings.TrimPrefix(strings.TrimPrefix(operation, "list"), "get")) + "Query"
}
