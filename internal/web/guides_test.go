package web

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/docs"
)

// The menu has the groups of package docs in order, with the reference in the last one. Each page is highlighted in it.
func TestTheGuidesAreNextToTheReference(t *testing.T) {
	p := pages
	for _, address := range []string{"/docs", "/docs/bookings", "/docs/guides/logging", "/docs/handbook/import"} {
		page := get(t, p, address).Body.String()
		places := []int{
			strings.Index(page, `href="/docs/guides/`+docs.Guides[0]+`"`), strings.Index(page, `<p class="part">Operate</p>`),
			strings.Index(page, `href="/docs/handbook/running"`), strings.Index(page, `href="/docs/bookings"`),
			strings.Index(page, `href="/docs/handbook/rules"`),
		}
		if slices.Contains(places, -1) || !slices.IsSorted(places) {
			t.Errorf("%s: menu entries are at %v", address, places)
		}
		if !strings.Contains(page, `<a href="`+address+`" aria-current="page">`) {
			t.Errorf("%s is not marked as the present page", address)
		}
	}
	page := get(t, p, "/docs/guides/logging").Body.String()
	for _, want := range []string{
		`<a href="#time-outs-and-retries">Time-outs and retries</a>`, // among the contents
		`<h2 id="time-outs-and-retries">`, `<a href="/docs/handbook/reliability#what-a-client-does">`, `<pre class="curl"`,
		`<a href="/docs/guides/first-payment#a-shell">`, `post bookings &#39;{&#34;channels&#34;: 3`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the guide lacks %s", want)
		}
	}
	if page := get(t, p, "/docs/guides/errors").Body.String(); !strings.Contains(page, `<a href="/docs/errors">`) {
		t.Error("the guide about errors does not lead to the catalogue")
	}
	if page := get(t, p, "/").Body.String(); strings.Count(page, `href="/docs/guides/`) <= len(docs.Guides) {
		t.Error("the front page does not lead to each guide")
	}
	// A file without a page is named, not linked.
	if page := get(t, p, "/docs/handbook/modal").Body.String(); !strings.Contains(page, "modal.d.ts") || strings.Contains(page, `modal.d.ts"`) {
		t.Error("the page about the modal links a file that is not there")
	}
}

// The picture may use its embedded style when opened separately; the page that shows it may not.
func TestThePictureOfTheGuides(t *testing.T) {
	p := pages
	page := get(t, p, "/docs/guides/concepts").Body.String()
	pictures := all(page, `<img src="([^"]*)" alt="A booking gets a payment[^"]*"`)
	if len(pictures) != 1 {
		t.Fatalf("pictures with a text in their place: %v", pictures)
	}
	answer := get(t, p, pictures[0])
	h := answer.Header()
	if answer.Code != http.StatusOK || h.Get("Content-Type") != "image/svg+xml" || h.Get("Content-Security-Policy") != picturePolicy ||
		!strings.Contains(h.Get("Cache-Control"), "immutable") || !strings.Contains(answer.Body.String(), "prefers-color-scheme: dark") {
		t.Errorf("the picture: %d %v", answer.Code, h)
	}
	for _, name := range []string{"Booking", "Payment", "Allocation", "Exposure", "Premium", "Statement"} {
		if !regexp.MustCompile(`<text class="name[^"]*"[^>]*>` + name + `</text>`).MatchString(answer.Body.String()) {
			t.Errorf("the picture has no box for the %s", strings.ToLower(name))
		}
	}
	if other := get(t, p, "/docs/guides/concepts").Header().Get("Content-Security-Policy"); other != policy {
		t.Errorf("the page with the picture has the policy %q", other)
	}
}

func TestTheSearchCoversTheGuides(t *testing.T) {
	for query, want := range map[string]string{
		"hold first":               "/docs/guides/logging#hold-first-take-later",
		"five minutes":             "/docs/guides/first-payment",
		"order-4711":               "/docs/guides/logging#time-outs-and-retries", // stands in a block of code
		"tokenizer's hosted":       "/docs/handbook/modal#on-the-page",
		"wp-json segments clients": "/docs/guides/moving#what-is-the-same",
		"docker":                   "/docs/handbook/running#docker",
		"metrics":                  "/docs/handbook/running#metrics",
		"cancellation":             "/docs/guides/logging#cancellation",
	} {
		hits, _ := find(theLibrary(t).index, query)
		if len(hits) == 0 || hits[0].Link != want {
			t.Errorf("%q finds %+v, want %s first", query, hits[:min(1, len(hits))], want)
		}
	}
}
