package api_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"holdfast/docs"
	"holdfast/internal/testkit/dbtest"

	"go.yaml.in/yaml/v3"
)

// TestNoPlainTextIsABoolean: YAML 1.1 parsers read a plain on, off, yes, no, y or n as a boolean.
func TestNoPlainTextIsABoolean(t *testing.T) {
	t.Parallel()
	words := []string{"on", "off", "yes", "no", "y", "n"}
	var visit func(node *yaml.Node)
	visit = func(node *yaml.Node) {
		if node.Kind == yaml.ScalarNode && node.Style == 0 && slices.Contains(words, strings.ToLower(node.Value)) {
			t.Errorf("docs/openapi.yaml:%d: quote %s", node.Line, node.Value)
		}
		for _, part := range node.Content {
			visit(part)
		}
	}
	var document yaml.Node
	must(t, yaml.Unmarshal(docs.OpenAPI, &document))
	visit(&document)
}

// moreBodies are bodies for routes that accept several kinds, each with its own required fields.
var moreBodies = map[string][]string{
	"POST /demo/rest/svc/v2/transactions": {
		`{"channels": 4, "currencies": "EUR", "total": 10, "transaction_types": "refund", "linked_id": {transaction}}`,
		`{"channels": 4, "currencies": "EUR", "total": 10, "transaction_types": "authorize", "attempt_3ds": true,
			"3ds_redirect_url": "https://shop.example/back", "bookings": [{"id": {booking}, "currencies": "EUR", "total": 10}]}`,
	},
	"POST /demo/rest/svc/v2/limits": {`{"scope": "channel", "channels": {channel}, "lift": true}`},
	"POST /demo/rest/svc/v2/webhooks/{id}/replay": {
		`{"from": "2026-03-01 00:00:00", "to": "2026-03-03 00:00:00"}`,
	},
	"POST /demo/rest/svc/v2/policies": {
		`{"from": "2031-02-01", "rate_card": [{"lead_from": 0, "lead_to": 30, "ppm": 2500}, {"lead_from": 31, "ppm": 5000}],
			"tax_codes": [{"code": "IPT", "rate_ppm": 120000, "label": "Insurance premium tax"}]}`,
	},
}

// TestRequiredFields sends bodies without each of their fields. The description marks a field as required exactly where the service
// rejects a body without it.
func TestRequiredFields(t *testing.T) {
	t.Parallel()
	h := furnish(t, newWorld(t, dbtest.SQLite(t), io.Discard))
	d := theDescription(t)
	tried := 0
	for _, r := range matrixRoutes() {
		key := r.Method + " " + strings.ReplaceAll(r.Pattern, "{site}", "demo")
		if requests[key].body == "" {
			continue // no body, or one that belongs to a session of the payment modal
		}
		for _, body := range append([]string{requests[key].body}, moreBodies[key]...) {
			for _, less := range without(t, h.fill(body, h.own)) {
				path, _ := h.address(t, key, r.Pattern, h.own)
				request := h.request(t, h.credential(t, "operator"), r.Method, path, less)
				valid, problems := d.validator.ValidateHttpRequestSync(h.request(t, h.credential(t, "operator"), r.Method, path, less))
				response, said := h.send(t, request)
				missing := response.StatusCode == http.StatusBadRequest && strings.Contains(string(said), "rest_missing_callback_param")
				if valid == missing {
					t.Errorf("%s with %s returns %d %s, but the description says that it is valid: %v %v", key, less, response.StatusCode, said, valid, problems)
				}
				tried++
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d bodies were tried", tried)
	}
}

// without returns a body, and copies of it that each lack one field, including fields of objects in its lists.
func without(t *testing.T, body string) []string {
	t.Helper()
	list := []string{body}
	var whole map[string]any
	must(t, json.Unmarshal([]byte(body), &whole))
	add := func() {
		text, err := json.Marshal(whole)
		must(t, err)
		list = append(list, string(text))
	}
	drop := func(fields map[string]any) {
		for name, value := range maps.Clone(fields) {
			delete(fields, name)
			add()
			fields[name] = value
		}
	}
	drop(whole)
	for _, value := range whole {
		items, _ := value.([]any)
		for _, item := range items {
			if fields, ok := item.(map[string]any); ok {
				drop(fields)
			}
		}
	}
	return list
}
