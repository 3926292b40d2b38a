package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"

	"holdfast/internal/browsertest"
	"holdfast/internal/demo"
)

// axeVariable names the environment variable that holds the path of axe-core, which judges pages for people who use a screen
// reader or a keyboard alone.
const axeVariable = "HOLDFAST_TEST_AXE"

// axe is the script of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	path := os.Getenv(axeVariable)
	if path == "" && os.Getenv("CI") == "true" {
		t.Fatalf("%s is not set, and under CI=true no page may be left out; `make test` sets it", axeVariable)
	}
	if path == "" {
		t.Skipf("pages not judged by axe-core: %s is not set; `make test` sets it", axeVariable)
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// walker is somebody who goes through the dashboard in a tab.
type walker struct {
	*tab
	base string
}

// goTo opens an address, and waits until the page and its script are there.
func (w *walker) goTo(address string) {
	w.t.Helper()
	call(w.tab, page.Navigate, page.NavigateParams{URL: w.base + address})
	w.waitFor(mainFrame, `document.readyState === "complete" && location.href !== "about:blank"`)
}

// signIn signs somebody of the demo in.
func (w *walker) signIn(name, password string) {
	w.t.Helper()
	w.goTo("/dashboard/sign-in")
	w.fill("username", name)
	w.fill("password", password)
	w.send()
}

// fill writes into a field.
func (w *walker) fill(name, value string) {
	w.t.Helper()
	text, _ := json.Marshal(value) // a text can be written
	w.do(mainFrame, fmt.Sprintf(`(() => {
		const field = document.querySelector("main [name=%s]");
		field.value = %s;
		field.dispatchEvent(new Event("input", { bubbles: true }));
	})()`, name, text))
}

// send presses the first button of the page, and waits for the page that comes.
func (w *walker) send() {
	w.t.Helper()
	w.do(mainFrame, `window.left = false; document.querySelector("main form button[type=submit], main form button").click()`)
	w.waitFor(mainFrame, `window.left === undefined && document.readyState === "complete"`)
}

// links are the addresses of the dashboard to which the page leads.
func (w *walker) links() (list []string) {
	w.t.Helper()
	if err := w.run(mainFrame, `[...document.querySelectorAll("a[href]:not([download])")].map((a) => new URL(a.getAttribute("href"), location).href)`, &list); err != nil {
		w.t.Fatal(err)
	}
	return list
}

// objects are the parts of addresses that name one of many.
var objects = regexp.MustCompile(`/([0-9]+|[a-z]+_[0-9A-Za-z]{8,})(/|$)`)

// sites are the parts of addresses that name a site.
var sites = regexp.MustCompile(`/sites/[^/]+`)

// kindOf is the page that an address shows: the same for each booking and site, and whatever a list is ordered by.
func kindOf(address string) string {
	path, _, _ := strings.Cut(address, "?")
	path = sites.ReplaceAllString(path, "/sites/#")
	for range 2 {
		path = objects.ReplaceAllString(path, "/#$2")
	}
	return path
}

// walk opens one page of each kind that can be reached by links, from the demo's site and the start page on, and shows each to visit.
func (w *walker) walk(visit func(kind string)) (kinds []string) {
	w.t.Helper()
	queue := []string{"/dashboard/sites/" + demo.SitePath, "/dashboard"}
	for len(queue) > 0 && len(kinds) < 200 {
		address := queue[0]
		queue = queue[1:]
		if slices.Contains(kinds, kindOf(address)) {
			continue
		}
		kinds = append(kinds, kindOf(address))
		w.goTo(address)
		visit(kindOf(address))
		for _, link := range w.links() {
			to, err := url.Parse(link)
			if err == nil && strings.HasPrefix(link, w.base+"/dashboard") && !strings.Contains(to.RawQuery, "format=") {
				queue = append(queue, to.RequestURI())
			}
		}
	}
	return kinds
}

// judge lets axe-core judge the page. What it calls serious or worse fails the test.
func (w *walker) judge(script, kind string) {
	w.t.Helper()
	var found []string
	err := w.run(mainFrame, script+`; axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] }).then((result) =>
		result.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => v.id + ": " + v.help + " " +
			v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" ")))`, &found)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, problem := range found {
		w.t.Errorf("%s: %s", kind, problem)
	}
}

// noPages are the titles of pages that say no.
var noPages = []string{"There is nothing here", "This did not work", "One moment", "You may not do this"}

// TestDashboard does with the demo's dashboard what people do. Then it walks through all its pages in a browser, as the operator: every
// link leads somewhere, no script fails, and axe-core finds nothing serious. What a site's admin can reach leads somewhere, too.
func TestDashboard(t *testing.T) {
	t.Parallel()
	browsertest.Context(t)
	script := axe(t)
	s := onSQLite(t)
	p := s.start("demo")
	(&stories{t, s, p}).tell()

	operator := &walker{newTab(t), p.base}
	operator.signIn(demo.OperatorName, passwordOf(t, p, "Operator"))
	kinds := operator.walk(func(kind string) {
		if title := operator.text("h1"); slices.Contains(noPages, title) {
			t.Errorf("%s says %q", kind, title)
		}
		operator.judge(script, kind)
	})
	if len(kinds) < 60 {
		t.Errorf("only %d kinds of pages were found: %s", len(kinds), strings.Join(kinds, " "))
	}
	operator.mu.Lock()
	defer operator.mu.Unlock()
	for _, problem := range operator.problems {
		t.Error(problem)
	}
	admin := &walker{newTab(t), p.base}
	admin.signIn(demo.AdminName, passwordOf(t, p, "Admin"))
	admin.fetchAll()
}

// fetchAll asks for one page of each kind that can be reached by links, without showing it.
func (w *walker) fetchAll() {
	w.t.Helper()
	queue, seen := []string{"/dashboard/sites/" + demo.SitePath, "/dashboard"}, map[string]bool{}
	for ; len(queue) > 0 && len(seen) < 200; queue = queue[1:] {
		address := queue[0]
		if seen[kindOf(address)] {
			continue
		}
		seen[kindOf(address)] = true
		var page struct {
			Status int
			Links  []string
		}
		w.read(mainFrame, fmt.Sprintf(`fetch(%q).then(async (answer) => {
			const page = new DOMParser().parseFromString(await answer.text(), "text/html");
			return { Status: answer.status, Links: [...page.querySelectorAll("a[href^='/dashboard']:not([download])")].map((a) => a.getAttribute("href")) };
		})`, address), &page)
		if page.Status != http.StatusOK {
			w.t.Errorf("%s is answered with %d", address, page.Status)
		}
		for _, link := range page.Links {
			if !strings.Contains(link, "format=") {
				queue = append(queue, link)
			}
		}
	}
	if len(seen) < 40 {
		w.t.Errorf("only %d kinds of pages were found", len(seen))
	}
}

// passwordOf reads a password that the demo prints.
func passwordOf(t *testing.T, p *process, who string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^ +` + who + ` +\S+ +password (\S+)$`).FindStringSubmatch(p.said)
	if found == nil {
		t.Fatalf("the demo prints no password of %s:\n%s", who, p.said)
	}
	return found[1]
}
