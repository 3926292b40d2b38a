package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/demo"
	"holdfast/internal/testkit/browsertest"

	"github.com/chromedp/cdproto/page"
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

// objects are the parts of addresses that name one of many.
var objects = regexp.MustCompile(`/([0-9]+|[a-z]+_[0-9A-Za-z]{8,})(/|$)`)

// siteParts are the parts of addresses that name a site.
var siteParts = regexp.MustCompile(`/sites/[^/]+`)

// kindOf is the page that an address shows: the same for each booking and site, and whatever a list is ordered by.
func kindOf(address string) string {
	path, _, _ := strings.Cut(strings.SplitN(address, "#", 2)[0], "?")
	path = siteParts.ReplaceAllString(path, "/sites/#")
	for range 2 {
		path = objects.ReplaceAllString(path, "/#$2")
	}
	return path
}

// seen is what the browser finds of a page of the dashboard.
type seen struct {
	Status   int
	Page     bool     // and no file
	Title    string   // its heading
	Links    []string // to pages of the dashboard
	Problems []string // what axe-core calls serious or worse
}

// look fetches a page. To judge it, it puts the page's content in the place of the one that is shown: the style sheet and axe-core are
// there already, and opening each page anew takes most of the time. Of a long table it leaves five rows: the others are made alike, and
// the pictures of all pages are judged whole. The browser may take a connection in the moment in which the server
// closes it, because nothing has come on it for long: then it asks again.
func (w *walker) look(address string, judged bool) (found seen) {
	w.t.Helper()
	w.read(mainFrame, fmt.Sprintf(`fetch(%[1]q).catch(() => fetch(%[1]q)).then(async (answer) => {
		const page = new DOMParser().parseFromString(await answer.text(), "text/html");
		const found = {
			Status: answer.status, Page: answer.headers.get("Content-Type").startsWith("text/html"), Title: page.querySelector("h1")?.textContent.trim() ?? "",
			Links: [...page.querySelectorAll("a[href^='/dashboard']:not([download])")].map((a) => a.getAttribute("href")), Problems: [],
		};
		if (%[2]t && found.Page) {
			history.replaceState(null, "", answer.url);
			document.documentElement.lang = page.documentElement.lang;
			document.title = page.title;
			page.querySelectorAll("tbody tr:nth-child(n+6)").forEach((row) => row.remove());
			document.body.replaceWith(page.body);
			found.Problems = await %[3]s;
		}
		return found;
	})`, address, judged, judgement), &found)
	return found
}

// judgement is what axe-core calls serious or worse on the page that is shown. axe-core has to be in it.
const judgement = `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] }).then((result) =>
	result.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) =>
		v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" ")))`

// walk looks at one page of each kind that can be reached by links, from the demo's site and the start page on. It shows each to visit,
// if that is there.
func (w *walker) walk(judged bool, least int, visit func(kind, address string)) {
	w.t.Helper()
	queue, kinds := []string{"/dashboard/sites/" + demo.SitePath, "/dashboard"}, []string{}
	for ; len(queue) > 0 && len(kinds) < 200; queue = queue[1:] {
		kind := kindOf(queue[0])
		if slices.Contains(kinds, kind) {
			continue
		}
		kinds = append(kinds, kind)
		page := w.look(queue[0], judged)
		if page.Status != http.StatusOK || slices.Contains(noPages, page.Title) {
			w.t.Errorf("%s is answered with %d %q", kind, page.Status, page.Title)
		}
		for _, problem := range page.Problems {
			w.t.Errorf("%s: %s", kind, problem)
		}
		if visit != nil && page.Page {
			visit(kind, queue[0])
		}
		for _, link := range page.Links {
			if !strings.Contains(link, "format=") {
				queue = append(queue, link)
			}
		}
	}
	if len(kinds) < least {
		w.t.Errorf("only %d kinds of pages were found: %s", len(kinds), strings.Join(kinds, " "))
	}
}

// wellBehaved expects that no script of the pages has failed.
func (w *walker) wellBehaved() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, problem := range w.problems {
		w.t.Error(problem)
	}
}

// noPages are the titles of pages that say no.
var noPages = []string{"Not found", "Something went wrong", "Try again shortly", "Permission denied"}

// TestDashboard does with the demo's dashboard what people do. Then it walks through all its pages in a browser, as the operator: every
// link leads somewhere, and axe-core finds nothing serious. What a site's admin can reach leads somewhere, too.
func TestDashboard(t *testing.T) {
	t.Parallel()
	browsertest.Context(t)
	script := axe(t)
	s := onSQLite(t)
	p := s.start("demo")
	(&stories{t, s, p}).tell()

	operator := &walker{newTab(t), p.base}
	operator.signIn(demo.OperatorName, passwordOf(t, p, "Operator"))
	operator.do(mainFrame, script)
	operator.walk(true, 60, nil)
	operator.wellBehaved()
	admin := &walker{newTab(t), p.base}
	admin.signIn(demo.AdminName, passwordOf(t, p, "Admin"))
	admin.walk(false, 40, nil)
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
