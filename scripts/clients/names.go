package main

import "strings"

// leftOut are the tags without client operations: the payment modal's iframe acts for shoppers, and the service's
// endpoints are for its operators.
var leftOut = map[string]bool{"Payment modal": true, "Service": true}

// paging are the parameters that the client sets itself when it iterates over a list.
var paging = map[string]bool{"page": true, "per_page": true, "offset": true, "cursor": true, "count": true}

// own are the schemas with a hand-written or basic type in the client.
var own = map[string]string{
	"Day": "Day", "Instant": "Instant", "IntegerInput": "int64", "BooleanInput": "bool", "IDListInput": "[]int64",
}

// nullable are the input fields that null clears, although the description declares them as numbers.
var nullable = map[string]bool{"BookingChange.pax": true}

// pointers are the input fields whose zero differs from an omitted field, in addition to all fields of changes and
// policies.
var pointers = map[string]bool{"LimitCreate.amount": true}

// initials are the words with special capitalization in Go names.
var initials = map[string]string{
	"id": "ID", "ids": "IDs", "uuid": "UUID", "url": "URL", "urls": "URLs", "ip": "IP", "ppm": "PPM", "psp": "PSP", "api": "API",
	"3ds": "ThreeDS", "rtl": "RTL", "eci": "ECI", "csv": "CSV", "pdf": "PDF",
}

// goName is the Go name of an API field: known_at is KnownAt.
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

// queryName is the name of the type for an operation's parameters: listBookings has BookingsQuery.
func queryName(operation string) string {
	return goName(strings.TrimPrefix(strings.TrimPrefix(operation, "list"), "get")) + "Query"
}
