package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/testkit/dbtest"
)

// collections are the routes whose description has the parameter cursor, with its parameters.
func collections(t *testing.T) map[string][]parameter {
	t.Helper()
	found := map[string][]parameter{}
	for _, r := range api.Routes(api.Config{}) {
		if r.Method != "GET" || strings.Contains(r.Pattern, "{key}") {
			continue
		}
		list := parametersOf(t, r.Method, r.Pattern)
		if slices.ContainsFunc(list, func(p parameter) bool { return p.Name == "cursor" }) {
			found[r.Pattern] = list
		}
	}
	if len(found) < 20 {
		t.Fatalf("only %d collections are described", len(found))
	}
	return found
}

// page is one page of a list: the ids of its items, and the URL of the next page.
type page struct {
	ids   []string
	total string
	next  string
}

var nextLink = regexp.MustCompile(`<https?://[^/]+([^>]*)>; rel="next"`)

func (h *house) page(t *testing.T, address string) page {
	t.Helper()
	response, said := h.send(t, h.request(t, h.credential(t, "operator"), "GET", address, ""))
	if response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s", address, response.StatusCode, said)
	}
	p := page{total: response.Header.Get("X-WP-Total"), ids: []string{}}
	var items []struct {
		ID    json.Number              `json:"id"`
		Line  json.Number              `json:"line"`  // of an import
		Limit struct{ ID json.Number } `json:"limit"` // in force
	}
	must(t, json.Unmarshal(said, &items))
	for _, item := range items {
		p.ids = append(p.ids, (item.ID + item.Line + item.Limit.ID).String())
	}
	for _, link := range response.Header.Values("Link") {
		if m := nextLink.FindStringSubmatch(link); m != nil {
			p.next = m[1]
		}
	}
	return p
}

// TestEveryListIsPagedTheSameWay: include, exclude, modified_after, order, search, totals and cursors mean the same in all
// collections of the description.
func TestEveryListIsPagedTheSameWay(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, address string) {
		h := furnish(t, newWorld(t, address, io.Discard))
		for range 2 {
			for _, kind := range []string{"booking", "transaction", "supplier", "limit", "collateral", "webhook", "contract", "reportmail", "policy"} {
				h.make(t, "operator", "demo", kind)
			}
		}
		paged := 0
		for pattern, parameters := range collections(t) {
			if strings.HasSuffix(pattern, "/imports/{id}/rows") || strings.HasSuffix(pattern, "/dispute-files/{id}/lines") {
				continue // there is no such file here
			}
			path, _ := h.address(t, "GET "+strings.ReplaceAll(pattern, "{site}", "demo"), pattern, h.own)
			path, query, _ := strings.Cut(path, "?")
			at := func(more string) string { return path + "?" + query + "&" + more }
			whole := h.page(t, at(""))
			if len(whole.ids) > 1 {
				paged++
			}
			h.checkOrders(t, at, parameters, len(whole.ids))
			h.checkChoices(t, at, parameters, whole)
			for _, wrong := range []string{"per_page=0", "per_page=101", "page=0", "order=up", "orderby=nothing", "cursor=1", "per_page=1&per_page=2"} {
				h.mustRefuse(t, at(wrong), wrong[:strings.IndexByte(wrong, '=')])
			}
			searched := slices.ContainsFunc(parameters, func(p parameter) bool { return p.Name == "search" })
			if !searched {
				h.mustRefuse(t, at("search=x"), "search")
			} else if got := h.page(t, at("search=no+such+thing")); len(got.ids) != 0 {
				t.Errorf("%s: a search for nothing finds %v", path, got.ids)
			}
		}
		if paged < 12 {
			t.Errorf("only %d lists have two items", paged)
		}
	})
}

// checkOrders compares pages of one item, following Link, with the whole list, in each order.
func (h *house) checkOrders(t *testing.T, at func(string) string, parameters []parameter, n int) {
	t.Helper()
	var orders []string
	for _, p := range parameters {
		if p.Name == "orderby" {
			var schema struct{ Enum []string }
			must(t, p.Schema.Decode(&schema))
			orders = schema.Enum
		}
	}
	for _, by := range orders {
		if by == "include" {
			continue
		}
		for _, order := range []string{"asc", "desc"} {
			sorted := "orderby=" + by + "&order=" + order
			want, got := h.page(t, at(sorted)), []string{}
			if want.total != strconv.Itoa(n) {
				t.Errorf("%s: the total is %q of %d", at(sorted), want.total, n)
			}
			for p := (page{next: at(sorted + "&per_page=1")}); p.next != "" && len(got) <= n; {
				if len(got) > 0 && !strings.Contains(p.next, "cursor=") {
					t.Errorf("%s has no cursor", p.next)
				}
				p = h.page(t, p.next)
				got = append(got, p.ids...)
			}
			if !slices.Equal(got, want.ids) {
				t.Errorf("%s: the pages have %v, the list %v", at(sorted), got, want.ids)
			}
		}
	}
}

// checkChoices checks the filters that every list has.
func (h *house) checkChoices(t *testing.T, at func(string) string, parameters []parameter, whole page) {
	t.Helper()
	if slices.ContainsFunc(parameters, func(p parameter) bool { return p.Name == "modified_after" }) {
		for query, want := range map[string][]string{
			"modified_after=2100-01-01": {}, "modified_before=1990-01-01": {}, "modified_after=1990-01-01": whole.ids, "modified_before=2100-01-01": whole.ids,
		} {
			if got := h.page(t, at(query)); !slices.Equal(got.ids, want) {
				t.Errorf("%s: %v, want %v", at(query), got.ids, want)
			}
		}
	}
	if len(whole.ids) == 0 {
		return
	}
	first, last := whole.ids[0], whole.ids[len(whole.ids)-1]
	for query, want := range map[string]func(id string) bool{
		"include=" + first: func(id string) bool { return id == first },
		"exclude=" + first: func(id string) bool { return id != first },
	} {
		expected := slices.DeleteFunc(slices.Clone(whole.ids), func(id string) bool { return !want(id) })
		if got := h.page(t, at(query)); !slices.Equal(got.ids, expected) {
			t.Errorf("%s: %v, want %v", at(query), got.ids, expected)
		}
	}
	named := h.page(t, at("orderby=include&order=desc&include="+last+","+first)).ids
	if named[0] != last || named[len(named)-1] != first {
		t.Errorf("%s: in the order of %s, %s: %v", at(""), last, first, named)
	}
}

func (h *house) mustRefuse(t *testing.T, address, field string) {
	t.Helper()
	status, said := h.ask(t, h.credential(t, "operator"), "GET", address, "")
	var answer struct {
		Data struct{ Params map[string]string }
	}
	must(t, json.Unmarshal(said, &answer))
	if status != http.StatusBadRequest || answer.Data.Params[field] == "" {
		t.Errorf("GET %s: %d %s, want 400 that names %s", address, status, said, field)
	}
}

// TestWhoFollowsChangesMissesNothing: bookings are changed and deleted while a client pages through the changes.
func TestWhoFollowsChangesMissesNothing(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, address string) {
		h := furnish(t, newWorld(t, address, io.Discard))
		for _, by := range []string{"id", "modified", "surname"} {
			var made []string
			for range 9 {
				made = append(made, strconv.FormatInt(h.make(t, "operator", "demo", "booking"), 10))
			}
			since := url.QueryEscape(h.clock.read().AddDate(-1, 0, 0).Format("2006-01-02T15:04:05"))
			next := "/demo/rest/svc/v2/bookings?per_page=3&modified_after=" + since + "&orderby=" + by + "&include=" + strings.Join(made, ",")
			seen := map[string]int{}
			for step := 0; next != "" && step < 10; step++ {
				p := h.page(t, next)
				for _, id := range p.ids {
					seen[id]++
				}
				next = p.next
				switch step {
				case 0: // a row of this page is deleted, which would move the next pages forward
					h.must(t, "operator", "DELETE", "/demo/rest/svc/v2/bookings/"+p.ids[0], "")
				case 1: // a row that was seen is changed, so it appears again in order of modification
					h.must(t, "operator", "PUT", "/demo/rest/svc/v2/bookings/"+p.ids[0], fmt.Sprintf(`{"content": "Changed, by %s"}`, by))
				}
			}
			for _, id := range made {
				if seen[id] == 0 {
					t.Errorf("by %s: booking %s was missed; seen %v", by, id, seen)
				}
			}
		}
	})
}
