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

// axe is the source of axe-core.
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

// walker is a user of the dashboard in a tab.
type walker struct {
	*tab
	base string
}

// goTo opens a URL, and waits until the page and its script are loaded.
func (w *walker) goTo(address string) {
	w.t.Helper()
	call(w.tab, page.Navigate, page.NavigateParams{URL: w.base + address})
	w.waitFor(mainFrame, `document.readyState === "complete" && location.href !== "about:blank"`)
}

// signIn signs in a user of the demo.
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

// send presses the first button of the page, and waits for the next page.
func (w *walker) send() {
	w.t.Helper()
	w.do(mainFrame, `window.left = false; document.querySelector("main form button[type=submit], main form button").click()`)
	w.waitFor(mainFrame, `window.left === undefined && document.readyState === "complete"`)
}

// objects are the path segments that identify an object.
var objects = regexp.MustCompile(`/([0-9]+|[a-z]+_[0-9A-Za-z]{8,})(/|$)`)

// siteParts are the path segments that identify a site.
var siteParts = regexp.MustCompile(`/sites/[^/]+`)

// kindOf is the kind of page of a URL: the same for each booking, site and order of a list.
func kindOf(address string) string {
	path, _, _ := strings.Cut(strings.SplitN(address, "#", 2)[0], "?")
	path = siteParts.ReplaceAllString(path, "/sites/#")
	for range 2 {
		path = objects.ReplaceAllString(path, "/#$2")
	}
	return path
}

// seen are the findings about a page of the dashboard.
type seen struct {
	Status   int
	Page     bool     // and no file
	Title    string   // its heading
	Links    []string // to pages of the dashboard
	Problems []string // what axe-core calls serious or worse
}

// look fetches a page and judges it by replacing the content of the current page: the style sheet and axe-core are
// already loaded, and opening each page would take most of the time. Long tables are cut to five rows, because the rows
// are similar, and screenshots judge whole pages. If the server closes an idle connection just when the browser uses
// it, the request is retried.
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

// judgement returns the serious findings of axe-core on the current page, in which axe-core must be loaded.
const judgement = `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] }).then((result) =>
	result.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) =>
		v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" ")))`

// walk checks one page of each kind that can be reached by links from the demo's site and the start page. It calls
// visit for each, if given.
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

// noPages are the titles of error pages.
var noPages = []string{"Not found", "Something went wrong", "Try again shortly", "Permission denied"}

// TestDashboard uses the demo's dashboard like its users. Then it walks through all pages in a browser as the operator:
// every link works, and axe-core finds nothing serious. It also follows all links of a site's admin.
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
