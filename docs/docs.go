// Package docs holds what users read, and hands the program what it serves of it.
package docs

import _ "embed" // for the description below

// OpenAPI is the description of the HTTP API, with the default segments in its addresses.
//
//go:embed openapi.yaml
var OpenAPI []byte
