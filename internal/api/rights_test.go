package api_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"holdfast/internal/testkit/dbtest"
)

// TestPermissionsAreCheckedFirst sends invalid requests to each route, as every caller that the access matrix rejects
// there. They get the same error, without details about fields.
func TestPermissionsAreCheckedFirst(t *testing.T) {
	t.Parallel()
	matrix, err := os.ReadFile(matrixFile)
	must(t, err)
	known := map[string][]string{}
	for line := range strings.Lines(string(matrix)) {
		if words := strings.Fields(line); len(words) > 2 && words[0] != "#" {
			known[words[0]+" "+words[1]] = words[2:]
		}
	}
	h := furnish(t, newWorld(t, dbtest.SQLite(t), io.Discard))
	tried := 0
	for _, r := range matrixRoutes() {
		if !strings.HasPrefix(r.Pattern, "/{site}/api-tokens") && !strings.Contains(r.Pattern, "/v2/") {
			continue // the caller is not a member there
		}
		key := r.Method + " " + strings.ReplaceAll(r.Pattern, "{site}", "demo")
		path, _ := h.address(t, key, r.Pattern, h.own)
		path, _, _ = strings.Cut(path, "?")
		for i, c := range callers {
			if i >= len(known[key]) || c.name != "reader" && c.name != "finance" && c.name != "admin" || known[key][i] != "403" {
				continue
			}
			for _, wrong := range []struct{ query, body string }{
				{"", `{"to": [], "name": {}, "total": "x", "date": 1, "channels": {}, "currency": 5, "from": false}`}, {"", "{}"}, {"", "{"},
				{"", `{"name": "4111 1111 1111 1111"}`}, {"?page=x&per_page=0&as_of=x&from=x&status=x&order=x", ""}, {"?%zz", ""},
			} {
				body := wrong.body
				if r.Method == http.MethodGet {
					body = ""
				}
				if status, said := h.ask(t, h.credential(t, c.name), r.Method, path+wrong.query, body); status != http.StatusForbidden {
					t.Errorf("%s: %s with %q %q is answered %d %s", key, c.name, wrong.query, body, status, said)
				}
				tried++
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d requests were tried", tried)
	}
}
