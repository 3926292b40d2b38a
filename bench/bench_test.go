package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestPartsOfAList checks percentiles of a list.
func TestPartsOfAList(t *testing.T) {
	t.Parallel()
	var list []time.Duration
	for i := range 1000 {
		list = append(list, time.Duration(i+1))
	}
	got := fmt.Sprint(part(list, 0.5), part(list, 0.99), part(list, 0.999), part(list[:1], 0.999), part(nil, 0.5))
	if want := "501ns 991ns 1µs 1ns 0s"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// TestTurnsTogether: most figures are medians, failures add up, the highest peak counts; a figure that no turn has stays
// nil.
func TestTurnsTogether(t *testing.T) {
	t.Parallel()
	statements := func(n float64) *float64 { return &n }
	turns := []figures{
		{Kind: getBooking, PerSecond: 100, P99: 3, Failures: 1, Peak: 50, Statements: statements(4), Requests: 10},
		{Kind: getBooking, PerSecond: 500, P99: 1, Failures: 2, Peak: 90, Statements: statements(5), Failure: "no", Requests: 10},
		{Kind: getBooking, PerSecond: 300, P99: 2, Peak: 70, Statements: statements(6), Requests: 10},
	}
	f := together(turns)
	got := fmt.Sprintln(f.PerSecond, f.P99, f.Failures, f.Failure, f.Peak, *f.Statements, f.Commits, f.Requests, f.Turns)
	if want := "300 2 3 no 90 5 <nil> 30 [100 500 300]\n"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if *turns[0].Statements != 4 {
		t.Error("a turn was changed")
	}
	if got := median([]float64{1, 4, 2, 3}); got != 2.5 {
		t.Errorf("the median of four is %v", got)
	}
}

// TestTheTable: the table shows ratios to the peer. A payment is compared with the peer's create request.
func TestTheTable(t *testing.T) {
	t.Parallel()
	r := result{Command: "make bench"}
	r.add([]figures{
		{Subject: product, Kind: logPayment, Callers: 32, PerSecond: 900, ServerCPU: 100, DataCPU: 100},
		{Subject: peer, Kind: createBooking, Callers: 32, PerSecond: 300, ServerCPU: 500},
	})
	var out bytes.Buffer
	r.print(&out)
	if want := "| " + logPayment + " | 32      | 900      | 3.00         | 2.50"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}

// TestTheClient reads responses with a length and in chunks on one connection, and counts unexpected ones.
func TestTheClient(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/chunks":
			for range 3 {
				fmt.Fprint(w, strings.Repeat("x", 5000))
				w.(http.Flusher).Flush()
			}
		case "/busy":
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			bareHandler(w, r)
		}
	}))
	defer server.Close()
	c, err := dial(t.Context(), server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for _, test := range []struct {
		path         string
		status, body int
		retries      bool
	}{{"/chunks", 200, 15000, false}, {"/busy", 503, 0, true}, {"/chunks", 200, 15000, false}, {"/bare", 400, 14, false}} {
		status, err := c.do(request(nil, http.MethodPost, test.path, "token", []byte("{}")))
		if err != nil || status != test.status || len(c.body) != test.body || c.retries != test.retries || c.bytes <= test.body {
			t.Errorf("%s: %d with %d bytes of %d, %t, %v", test.path, status, len(c.body), c.bytes, c.retries, err)
		}
	}
	moved := redirected([]byte("GET /a/long/path HTTP/1.1\r\n\r\n"), []byte("/b"))
	if string(moved) != "GET /b HTTP/1.1\r\n\r\n" {
		t.Errorf("another path: %q", moved)
	}
	k := kind{name: "busy", callers: 2, status: 200, make: func(_ *rand.Rand, into []byte) []byte {
		return request(into, http.MethodGet, "/busy", "", nil)
	}}
	l, err := drive(t.Context(), server.Listener.Addr().String(), k, 5*time.Millisecond)
	if err == nil || l.failed == 0 || l.statuses[503] != l.failed || len(l.refused) != l.failed || l.silent != 0 {
		t.Errorf("the server is always busy, but the load is %+v, %v", l, err)
	}
}

// TestFiguresOnThePage: a run replaces the previous one under its heading and keeps the handwritten text.
func TestFiguresOnThePage(t *testing.T) {
	t.Parallel()
	page := "# Page\n\n### Start\n\nWords.\n\nRun of old:\nold\n\n### Soak\n\nMore.\n"
	for _, heading := range []string{"Start", "Soak"} {
		var err error
		if page, err = replaced(page, heading, "Run of new:\n"+heading+"\n\n"); err != nil {
			t.Fatal(err)
		}
	}
	want := "# Page\n\n### Start\n\nWords.\n\nRun of new:\nStart\n\n### Soak\n\nMore.\n\nRun of new:\nSoak\n"
	if page != want {
		t.Errorf("the page is\n%s", page)
	}
	if _, err := replaced(page, "Growth", ""); err == nil {
		t.Error("a missing heading is not an error")
	}
}

// TestTheCommand: the page shows how a run was started, without local paths.
func TestTheCommand(t *testing.T) {
	t.Parallel()
	args := []string{"-dir", "/somewhere", "-bookings", "1000", "--json=/x", "-kinds", "list|log", "-docs", "docs/performance.md"}
	if got, want := command(args), `make bench ARGS="-bookings 1000 -kinds 'list|log'"`; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if got := command(nil); got != "make bench" {
		t.Error(got)
	}
}
