package cli

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// readTheDocs reads the documentation with the keyboard only, and on a narrow screen.
func readTheDocs(t *testing.T, base string) {
	t.Helper()
	p := newTab(t)
	p.open(base + "/docs/transactions")
	p.waitFor(mainFrame, "document.querySelector('.copy')")
	marked := func(name string) {
		t.Helper()
		p.waitFor(mainFrame, "document.querySelector('.side a[aria-current=true]')?.textContent.includes('"+name+"')")
	}
	p.do(mainFrame, "location.hash = 'listtransactions'")
	marked("List transactions")
	p.do(mainFrame, "location.hash = 'gettransaction'")
	marked("Read a transaction")

	// "/" opens the search, arrows select a result, Return opens the page. The row is visible even though its table was
	// folded.
	p.press("/")
	p.waitFor(mainFrame, "document.activeElement.id === 'q'")
	p.typeText("total_unpaid")
	p.waitFor(mainFrame, "document.querySelector('#hits a')?.textContent.includes('total_unpaid')")
	p.press("Escape")
	p.waitFor(mainFrame, "document.getElementById('hits').hidden && document.activeElement.id === 'q'")
	p.typeText(" ")
	p.waitFor(mainFrame, "!document.getElementById('hits').hidden")
	p.press("ArrowDown")
	p.waitFor(mainFrame, "document.activeElement.closest('#hits')")
	p.press("Enter")
	p.waitFor(mainFrame, "location.pathname === '/docs/bookings' && location.hash === '#object-booking.total_unpaid'")
	p.waitFor(mainFrame, "document.getElementById('object-booking.total_unpaid')?.checkVisibility()")

	var links []string
	p.read(mainFrame, "[...document.querySelectorAll('.side a')].map((a) => a.pathname)", &links)
	pages := map[string]bool{"/": true, "/docs/search": true}
	for _, link := range links {
		pages[link] = true
	}
	if len(pages) < 15 {
		t.Errorf("only %d pages", len(pages))
	}
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: 320, Height: 640, DeviceScaleFactor: 1, Mobile: true,
	})
	for _, path := range slices.Sorted(maps.Keys(pages)) {
		p.open(base + path)
		var wide int
		p.read(mainFrame, "document.documentElement.scrollWidth", &wide)
		if wide > 320 {
			t.Errorf("%s is %d pixels wide on a screen of 320", path, wide)
		}
	}
	host := regexp.MustCompile(`^\w+ ` + regexp.QuoteMeta(base) + `/`)
	for _, request := range p.sent() {
		if !host.MatchString(request) && !strings.HasPrefix(request, "GET data:") {
			t.Errorf("the pages ask elsewhere: %s", request)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.problems) > 0 {
		t.Errorf("problems of scripts: %v", p.problems)
	}
}
