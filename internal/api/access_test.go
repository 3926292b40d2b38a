package api_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/testkit/dbtest"
)

// The access matrix is the file testdata/access.matrix: a row for every route, a column for every kind of caller, and
// the response status in each cell. All requests are for the site demo and valid, so that only the caller matters. `go
// test ./internal/api -run AccessMatrix -rewrite` rewrites it: check the difference before you commit it.
const matrixFile = "testdata/access.matrix"

// callers are the columns. Those with invalid credentials come first, so that they find a complete world. On PostgreSQL
// only some are tested, because permissions do not depend on the engine.
var callers = []struct {
	name, about string
	postgres    bool
}{
	{"nobody", "sends no credentials", true},
	{"jwt-forged", "an access token with another signature", false},
	{"jwt-expired", "an access token of an hour ago", false},
	{"jwt-ended", "an access token whose refresh token was deleted", false},
	{"refresh", "a refresh token, which is no access token", false},
	{"leaver", "a former member", false},
	{"token-wrong", "an API token with the secret of another", false},
	{"token-expired", "an API token that has expired", false},
	{"token-deleted", "an API token that was deleted", false},
	{"stranger", "the admin of the site other", true},
	{"token-other", "an API token of the site other", false},
	{"token-away", "an operator's API token of the site other", true},
	{"token-near", "an API token of admin that counts only from another address", false},
	{"may-read", "an API token of admin, limited to read", false},
	{"may-book", "an API token of admin, limited to log_bookings", false},
	{"may-pay", "an API token of admin, limited to log_payments", false},
	{"may-report", "an API token of admin, limited to reports", false},
	{"reader", "read_only", false},
	{"finance", "finance", true},
	{"token", "an API token of admin", true},
	{"admin", "member_admin", false},
	{"operator", "an operator", false},
}

// requests are the bodies and path parameters of the routes that need them. A kind in fresh is created for each cell,
// because the request deletes it.
var requests = map[string]struct{ id, fresh, body, query string }{
	"POST /demo/api-tokens":                                         {body: `{"name": "Another"}`},
	"DELETE /demo/api-tokens/{id}":                                  {fresh: "token"},
	"POST /auth/rest/jwt-auth/v1/token":                             {body: `{"username": "admin", "password": "correct horse battery"}`},
	"POST /demo/rest/jwt-auth/v1/token":                             {body: `{"username": "admin", "password": "correct horse battery"}`},
	"GET /demo/rest/svc/v2/sites/{id}":                              {id: "site"},
	"PUT /demo/rest/svc/v2/sites/{id}":                              {id: "site", body: `{"permitted_urls": ["https://shop.example"]}`},
	"POST /demo/rest/svc/v2/channels":                               {body: `{"name": "Channel {n}", "currencies": "EUR"}`},
	"GET /demo/rest/svc/v2/channels/{id}":                           {id: "channel"},
	"PUT /demo/rest/svc/v2/channels/{id}":                           {id: "channel", body: `{"receipt_label": "Azure"}`},
	"DELETE /demo/rest/svc/v2/channels/{id}":                        {fresh: "channel"},
	"POST /demo/rest/svc/v2/channels/{id}/secret":                   {id: "channel"},
	"POST /demo/rest/svc/v2/suppliers":                              {body: bodies["supplier"].body},
	"GET /demo/rest/svc/v2/suppliers/{id}":                          {id: "supplier"},
	"PUT /demo/rest/svc/v2/suppliers/{id}":                          {id: "supplier", body: `{"url": "https://airways.example"}`},
	"DELETE /demo/rest/svc/v2/suppliers/{id}":                       {fresh: "supplier"},
	"POST /demo/rest/svc/v2/bookings":                               {body: bodies["booking"].body},
	"GET /demo/rest/svc/v2/bookings/{id}":                           {id: "booking"},
	"PUT /demo/rest/svc/v2/bookings/{id}":                           {id: "booking", body: `{"pax": 3, "suppliers": [{supplier}]}`},
	"DELETE /demo/rest/svc/v2/bookings/{id}":                        {fresh: "booking"},
	"GET /demo/rest/svc/v2/bookings/{id}/protection":                {id: "booking"},
	"GET /demo/rest/svc/v2/bookings/{id}/certificate":               {id: "booking"},
	"POST /demo/rest/svc/v2/bookings/{id}/certificate/revoke":       {id: "booking"},
	"POST /demo/rest/svc/v2/transactions":                           {body: bodies["transaction"].body},
	"GET /demo/rest/svc/v2/transactions/{id}":                       {id: "transaction"},
	"GET /demo/rest/svc/v2/transactions/{id}/protection":            {id: "transaction"},
	"GET /demo/rest/svc/v2/payments/{id}":                           {id: "payment"},
	"GET /demo/rest/svc/v2/policies/{id}":                           {id: "policy"},
	"POST /demo/rest/svc/v2/policies":                               {body: bodies["policy"].body},
	"GET /demo/rest/svc/v2/statements/{id}":                         {id: "statement"},
	"GET /demo/rest/svc/v2/statements/{id}/lines":                   {id: "statement"},
	"GET /demo/rest/svc/v2/statements/{id}/csv":                     {id: "statement"},
	"GET /demo/rest/svc/v2/statements/{id}/pdf":                     {id: "statement"},
	"GET /demo/rest/svc/v2/statements/{id}/payments":                {id: "statement"},
	"GET /demo/rest/svc/v2/exposure/movement":                       {query: "from=2026-03-01&to=2026-03-31"},
	"GET /demo/rest/svc/v2/exposure/movement/details":               {query: "from=2026-03-01&to=2026-03-31&cause=new"},
	"GET /demo/rest/svc/v2/bordereaux/premium":                      {query: "period=2026-03"},
	"GET /demo/rest/svc/v2/disputes/ratios":                         {query: "period=2026-03"},
	"GET /demo/rest/svc/v2/loss-ratio":                              {query: "year=2026"},
	"GET /demo/rest/svc/v2/bordereaux/claims":                       {query: "period=2026-03"},
	"POST /demo/rest/svc/v2/bordereaux/claims/present":              {body: `{"period": "2020-01"}`},
	"GET /demo/rest/svc/v2/limits/{id}":                             {id: "limit"},
	"POST /demo/rest/svc/v2/limits":                                 {body: bodies["limit"].body},
	"GET /demo/rest/svc/v2/channels/{id}/record":                    {id: "channel"},
	"GET /demo/rest/svc/v2/report-mails/{id}":                       {id: "reportmail"},
	"POST /demo/rest/svc/v2/report-mails":                           {body: bodies["reportmail"].body},
	"PUT /demo/rest/svc/v2/report-mails/{id}":                       {id: "reportmail", body: `{"on": 2}`},
	"DELETE /demo/rest/svc/v2/report-mails/{id}":                    {fresh: "reportmail"},
	"POST /demo/rest/svc/v2/report-mails/{id}/pause":                {id: "reportmail"},
	"POST /demo/rest/svc/v2/report-mails/{id}/resume":               {id: "reportmail"},
	"POST /demo/rest/svc/v2/report-mails/{id}/send":                 {id: "reportmail"},
	"GET /demo/rest/svc/v2/bordereaux/contracts/{id}":               {id: "contract"},
	"POST /demo/rest/svc/v2/bordereaux/contracts":                   {body: bodies["contract"].body},
	"GET /demo/rest/svc/v2/collateral/{id}":                         {id: "collateral"},
	"POST /demo/rest/svc/v2/collateral":                             {body: bodies["collateral"].body},
	"POST /demo/rest/svc/v2/webhooks":                               {body: bodies["webhook"].body},
	"GET /demo/rest/svc/v2/webhooks/{id}":                           {id: "webhook"},
	"PUT /demo/rest/svc/v2/webhooks/{id}":                           {id: "webhook", body: `{"types": []}`},
	"DELETE /demo/rest/svc/v2/webhooks/{id}":                        {fresh: "webhook"},
	"POST /demo/rest/svc/v2/webhooks/{id}/rotate":                   {id: "webhook"},
	"POST /demo/rest/svc/v2/webhooks/{id}/test":                     {id: "webhook"},
	"POST /demo/rest/svc/v2/webhooks/{id}/replay":                   {id: "webhook", body: `{"event": {event}}`},
	"GET /demo/rest/svc/v2/webhooks/{id}/deliveries":                {id: "webhook"},
	"GET /demo/rest/svc/v2/webhooks/{id}/deliveries/{delivery}":     {id: "webhook"},
	"POST /demo/rest/svc/v2/rates":                                  {body: `{"currency": "THB", "day": "2026-03-02", "rate": "39.45", "quote_id": "desk-{n}"}`},
	"POST /demo/rest/svc/v2/clock":                                  {body: `{"to": "2026-04-11 10:25:30"}`},
	"GET /demo/rest/svc/v2/statements/{id}/lines/{line}/protection": {id: "statement"},
	"GET /demo/rest/svc/v2/insolvencies/{id}":                       {id: "insolvency"},
	"GET /demo/rest/svc/v2/insolvencies/{id}/events":                {id: "insolvency"},
	"GET /demo/rest/svc/v2/insolvencies/{id}/affected":              {id: "insolvency"},
	"GET /demo/rest/svc/v2/insolvencies/{id}/affected/csv":          {id: "insolvency"},
	"GET /demo/rest/svc/v2/insolvencies/{id}/affected/xlsx":         {id: "insolvency"},
	"GET /demo/rest/svc/v2/insolvencies/{id}/snapshot":              {id: "insolvency"},
	"POST /demo/rest/svc/v2/insolvencies/{id}/confirm":              {id: "insolvency"},
	"POST /demo/rest/svc/v2/insolvencies/{id}/withdraw":             {id: "insolvency"},
	"POST /demo/rest/svc/v2/insolvencies/{id}/close-claims":         {id: "insolvency"},
	"POST /demo/rest/svc/v2/insolvencies/{id}/close":                {id: "insolvency"},
	"POST /demo/rest/svc/v2/insolvencies/{id}/reinstate":            {id: "insolvency"},
	"POST /demo/rest/svc/v2/insolvencies/{id}/allow-processing":     {id: "insolvency"},
	"GET /demo/rest/svc/v2/insolvencies/{id}/report":                {id: "insolvency"},
	"GET /demo/rest/svc/v2/claims/{id}":                             {id: "claim"},
	"GET /demo/rest/svc/v2/claims/{id}/events":                      {id: "claim"},
	"GET /demo/rest/svc/v2/claims/{id}/explanation":                 {id: "claim"},
	"POST /demo/rest/svc/v2/claims/{id}/assess":                     {id: "claim"},
	"POST /demo/rest/svc/v2/claims/{id}/approve":                    {id: "claim"},
	"POST /demo/rest/svc/v2/claims/{id}/reject":                     {id: "claim", body: `{"reason": "Why {n}"}`},
	"POST /demo/rest/svc/v2/claims/{id}/withdraw":                   {id: "claim"},
	"POST /demo/rest/svc/v2/claims/{id}/reopen":                     {id: "claim", body: `{"reason": "Why {n}"}`},
	"POST /demo/rest/svc/v2/claims/{id}/release":                    {id: "claim", body: `{"reason": "Why {n}"}`},
	"GET /demo/rest/svc/v2/payouts/{id}":                            {id: "payout"},
	"GET /demo/rest/svc/v2/payouts/{id}/lines":                      {id: "payout"},
	"GET /demo/rest/svc/v2/payouts/{id}/pdf":                        {id: "payout"},
	"POST /demo/rest/svc/v2/payouts/{id}/sign":                      {id: "payout"},
	"POST /demo/rest/svc/v2/payouts/{id}/paid":                      {id: "payout", body: `{"bank_reference": "BANK-{n}"}`},
	"POST /demo/rest/svc/v2/payouts/{id}/failed":                    {id: "payout", body: `{"reason": "Why {n}"}`},
	"GET /demo/rest/svc/v2/recoveries/{id}":                         {id: "recovery"},
	"POST /demo/rest/svc/v2/recoveries/{id}/cancel":                 {id: "recovery", body: `{"reason": "Why {n}"}`},
	"POST /demo/rest/svc/v2/recoveries":                             {body: bodies["recovery"].body},
	"POST /demo/rest/svc/v2/statements/{id}/payments": {
		id: "statement", body: `{"date": "2026-04-02", "total": 1, "currencies": "GBP", "reference": "BACS {n}"}`,
	},
}

// address puts ids into the pattern of a route and returns it with the body of the request.
func (h *house) address(t *testing.T, key, pattern string, ids map[string]int64) (path, body string) {
	t.Helper()
	r := requests[key]
	if strings.Contains(pattern, "/statements/{id}/lines/") { // for any line
		r.id = "statement"
	}
	id := int64(1) << 40 // an unknown id
	switch {
	case r.fresh != "":
		id = h.make(t, "operator", "demo", r.fresh)
	case r.id != "":
		id = ids[r.id]
	}
	path = strings.NewReplacer("{site}", "demo", "{id}", strconv.FormatInt(id, 10), "{line}", "1", "{delivery}", "1", "{key}", "nokey",
		"{processor}", "sandbox", "{site_id}", "1", "{channel_id}", "4").Replace(pattern)
	if r.query != "" {
		path += "?" + r.query
	}
	return path, h.fill(r.body, ids)
}

// matrixRoutes are the routes in the order in which they are called: those that end sessions and tokens come last.
func matrixRoutes() (list []api.Route) {
	var tokens, sessions []api.Route
	for _, r := range api.Routes(api.Config{}) {
		switch {
		case endsSessions(r):
			sessions = append(sessions, r)
		case r.Method == "DELETE" && strings.HasSuffix(r.Pattern, "/api-tokens"):
			tokens = append(tokens, r)
		default:
			list = append(list, r)
		}
	}
	return slices.Concat(list, tokens, sessions)
}

// rowsOf returns the routes with their rows in the matrix, one for each kind of object that a path can name.
func rowsOf(routes []api.Route) (list []api.Route) {
	for _, r := range routes {
		list = append(list, r)
		for _, line := range []string{"opening", "original", "payments", "closing"} {
			if named := strings.ReplaceAll(r.Pattern, "{line}", line); named != r.Pattern {
				variant := r
				variant.Pattern = named
				list = append(list, variant)
			}
		}
	}
	return list
}

func endsSessions(r api.Route) bool {
	return r.Method == "DELETE" && strings.HasSuffix(r.Pattern, "/refresh")
}

func TestAccessMatrix(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(matrixFile)
	if !*rewrite {
		must(t, err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(want)) {
		if words := strings.Fields(line); len(words) > 2 && words[0] != "#" {
			known[words[0]+" "+words[1]] = strings.Join(words[2:], " ")
		}
	}
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		sqlite := strings.HasPrefix(url, "sqlite:")
		h := furnish(t, newWorld(t, url, io.Discard))
		for _, c := range callers { // ended before the other sessions begin
			h.credential(t, c.name)
		}
		var written bytes.Buffer
		seen := map[string]bool{}
		head(&written)
		for _, r := range rowsOf(matrixRoutes()) {
			key := r.Method + " " + strings.ReplaceAll(r.Pattern, "{site}", "demo")
			row := h.row(t, key, r, !sqlite)
			fmt.Fprintf(&written, "%-7s %-62s", r.Method, strings.TrimPrefix(key, r.Method+" "))
			for i, status := range strings.Fields(row) {
				fmt.Fprintf(&written, " %*s", len(callers[i].name), status)
			}
			written.WriteString("\n")
			if !*rewrite && !sameRow(known[key], row) {
				t.Errorf("%s is answered\n%s and the matrix says\n%s", key, row, known[key])
			}
			seen[key] = true
		}
		if *rewrite && sqlite {
			must(t, os.WriteFile(matrixFile, written.Bytes(), 0o644))
		}
		for key := range known {
			if !*rewrite && !seen[key] {
				t.Errorf("%s is in the matrix but is not a route", key)
			}
		}
	})
}

// sameRow compares two rows cell by cell, ignoring cells that were not tested.
func sameRow(want, got string) bool {
	a, b := strings.Fields(want), strings.Fields(got)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && b[i] != "-" {
			return false
		}
	}
	return true
}

// row returns the response statuses of the callers, in order.
func (h *house) row(t *testing.T, key string, r api.Route, onPostgres bool) string {
	t.Helper()
	var row []string
	for _, c := range callers {
		if onPostgres && !c.postgres {
			row = append(row, "-")
			continue
		}
		if endsSessions(r) { // of a former member
			h.renew(t, c.name)
		}
		path, body := h.address(t, key, r.Pattern, h.own)
		status, _ := h.ask(t, h.credential(t, c.name), r.Method, path, body)
		row = append(row, strconv.Itoa(status))
	}
	return strings.Join(row, " ")
}

// head writes the header of the rows.
func head(to *bytes.Buffer) {
	to.WriteString("# What each caller is answered on each route of the site demo. access_test.go makes the requests.\n#\n")
	for _, c := range callers {
		fmt.Fprintf(to, "# %-14s %s\n", c.name, c.about)
	}
	fmt.Fprintf(to, "#\n# %-68s", "route")
	for _, c := range callers {
		fmt.Fprintf(to, " %s", c.name)
	}
	to.WriteString("\n")
}

// aNumber matches ids in a response.
var aNumber = regexp.MustCompile(`\d+`)

// TestForeignThingsLookAsIfTheyDidNotExist requests objects of the other site: in the path, the query and the body. The
// response is that for an unknown id.
func TestForeignThingsLookAsIfTheyDidNotExist(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		h := furnish(t, newWorld(t, url, io.Discard))
		nothing := map[string]int64{}
		for kind := range h.own {
			nothing[kind] = 7_000_000_000
		}
		asked := 0
		compare := func(r api.Route, what string, ask func(ids map[string]int64) (path, body string)) {
			t.Helper()
			for _, who := range []string{"admin", "operator"} {
				if who == "operator" && strings.HasPrefix(what, "site ") {
					continue // only operators list all sites
				}
				path, body := ask(h.foreign)
				status, said := h.ask(t, h.credential(t, who), r.Method, path, body)
				other, otherBody := ask(nothing)
				wantStatus, want := h.ask(t, h.credential(t, who), r.Method, other, otherBody)
				asked++
				if status != wantStatus || !bytes.Equal(aNumber.ReplaceAll(said, []byte("N")), aNumber.ReplaceAll(want, []byte("N"))) {
					t.Errorf("%s %s as %s with a foreign %s is answered\n%d %s and with one that does not exist\n%d %s",
						r.Method, path, who, what, status, said, wantStatus, want)
				}
			}
		}
		for _, r := range matrixRoutes() {
			key := r.Method + " " + strings.ReplaceAll(r.Pattern, "{site}", "demo")
			sample := requests[key]
			kind := sample.id + sample.fresh
			if kind != "" {
				compare(r, kind+" in the address", func(ids map[string]int64) (string, string) {
					path := strings.NewReplacer("{site}", "demo", "{line}", "1", "{delivery}", "1", "{id}", strconv.FormatInt(ids[kind], 10)).Replace(r.Pattern)
					return path + "?" + sample.query, h.fill(sample.body, h.own)
				})
			}
			for name := range h.own { // each id in the body separately, with valid values in the other fields
				if !strings.Contains(sample.body, "{"+name+"}") {
					continue
				}
				compare(r, name+" in the body", func(ids map[string]int64) (string, string) {
					path, _ := h.address(t, key, r.Pattern, h.own)
					mixed := map[string]int64{name: ids[name]}
					return path, h.fill(h.fill(sample.body, mixed), h.own)
				})
			}
			for name, of := range idsInQueries(t, r) {
				compare(r, of+" in "+name, func(ids map[string]int64) (string, string) {
					path, body := h.address(t, key, r.Pattern, h.own)
					path, query, _ := strings.Cut(path, "?")
					return path + "?" + query + "&" + name + "=" + strconv.FormatInt(ids[of], 10), body
				})
			}
		}
		if asked < 100 {
			t.Errorf("only %d requests were compared", asked)
		}
	})
}

// idsInQueries are the query parameters with ids, and the kind of object.
func idsInQueries(t *testing.T, r api.Route) map[string]string {
	t.Helper()
	kinds := map[string]string{
		"channels": "channel", "suppliers": "supplier", "bookings": "booking", "transactions": "transaction", "linked_id": "transaction",
		"payments": "payment",
	}
	found := map[string]string{}
	for _, p := range parametersOf(t, r.Method, r.Pattern) {
		of := kinds[p.Name]
		if p.Name == "include" || p.Name == "exclude" {
			resource := r.Pattern[strings.LastIndexByte(r.Pattern, '/')+1:]
			if of = kinds[resource]; of == "" {
				of = strings.TrimSuffix(resource, "s")
			}
		}
		if of != "" && p.In == "query" {
			found[p.Name] = of
		}
	}
	return found
}
