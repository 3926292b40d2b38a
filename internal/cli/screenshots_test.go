//go:build screenshots

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/demo"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
)

// The subjects of the screenshots: `make screenshots` prints the folder.
var (
	pictureLanguages = []string{"enGB", "deDE", "jaJA", "kkKK"}
	pictureSizes     = [][2]int64{{320, 640}, {768, 1024}, {1280, 900}}
)

// TestScreenshots takes screenshots of every state of the payment modal on the demo's checkout page, at every size,
// light and dark, in the languages above, for review. The test only fails if a state is not reached.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("HOLDFAST_SCREENSHOTS")
	if err := os.MkdirAll(folder, 0o755); err != nil || folder == "" {
		t.Fatalf("HOLDFAST_SCREENSHOTS names no folder to write to: %v", err)
	}
	shop := openShop(t, "--payment-timeout", "1s")
	for _, language := range pictureLanguages {
		for name, story := range map[string]func(*photographer){
			"form": (*photographer).forms, "loading": (*photographer).loading, "expired": (*photographer).expired, "paying": (*photographer).paying, "challenge": (*photographer).challenge,
			"declined": (*photographer).declined, "unknown": (*photographer).unknown, "refused": (*photographer).refused,
			"invalid": (*photographer).invalid, "failed": (*photographer).failed, "error": (*photographer).notConnected,
			"currencies": (*photographer).currencies,
		} {
			t.Run(language+" "+name, func(t *testing.T) {
				t.Parallel()
				v := &visit{tab: newTab(t), shop: shop}
				v.size(1280, 900, false)
				v.open(shop.demo.base + "/checkout?language=" + language)
				v.waitFor(mainFrame, "!document.getElementById('pay').disabled")
				story(&photographer{v, folder, language})
			})
		}
	}
}

// photographer takes screenshots of one visit.
type photographer struct {
	*visit
	folder, language string
}

// open opens the modal like the page, except for some fields.
func (p *photographer) opens(changes, options map[string]any) {
	p.t.Helper()
	p.do(mainFrame, fmt.Sprintf(`(() => {
		const form = document.getElementById("checkout"), data = {};
		for (const element of form.elements) if (element.name) data[element.name] = element.value;
		Object.assign(data, { reference: "FF-7K2QXM", payee_name: "Astrid Solberg", payee_surname: "" }, %s);
		window.modal = new tmtPaymentModalSdk({ path: "demo", environment: "test", verify: ["country", "date"], data, ...%s });
	})()`, asScript(changes), asScript(options)))
}

// take takes screenshots of a state at every size, light and dark.
func (p *photographer) take(state string) {
	p.t.Helper()
	for _, size := range pictureSizes {
		for _, dark := range []bool{false, true} {
			p.size(size[0], size[1], dark)
			// After two animation frames everything is drawn.
			p.do(mainFrame, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
			shot := call(p.tab, page.CaptureScreenshot, page.CaptureScreenshotParams{})
			mode := map[bool]string{false: "light", true: "dark"}[dark]
			name := fmt.Sprintf("%s-%s-%d-%s.png", state, p.language, size[0], mode)
			if err := os.WriteFile(filepath.Join(p.folder, name), shot.Data, 0o644); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

func (p *photographer) forms() {
	p.take("checkout")
	p.opens(nil, nil)
	p.inState("form")
	p.take("form")
	p.press("Enter")
	p.waitFor(modalFrame, "!document.getElementById('number-error').hidden")
	p.take("form-wrong")
	p.enter("4242424242424243")
	p.press("Enter")
	p.take("form-mistyped")
	p.do(modalFrame, "document.getElementById('tests').open = true")
	p.take("form-cards")
	p.do(modalFrame, "document.getElementById('tests').open = false")
	p.payWith(approved)
	p.inState("paid")
	p.take("paid")
	p.press("Escape")
	p.waitFor(mainFrame, "!document.querySelector('dialog')")
}

// loading delays the frame, and then the response to its first request.
func (p *photographer) loading() {
	p.hold("*/modal/v1/frame*", fetch.RequestStageRequest)
	p.opens(nil, nil)
	frame := p.held()
	p.take("loading-1")
	call(p.tab, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: frame})
	p.hold("*/modal/v1/sessions", fetch.RequestStageRequest)
	p.held()
	p.take("loading-2")
}

// expired ends the session while the form is open.
func (p *photographer) expired() {
	p.hold("*/modal/v1/transactions", fetch.RequestStageRequest)
	p.opens(nil, nil)
	p.payWith(approved)
	body := []byte(`{"code": "jwt_auth_invalid_request", "message": "Expired.", "data": {"status": 403, "reason": "expired"}}`)
	call(p.tab, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: p.held(), ResponseCode: 403, Body: body})
	p.waitFor(modalFrame, "!document.getElementById('notice').hidden")
	p.take("expired")
}

func (p *photographer) paying() {
	p.hold("*/modal/v1/transactions", fetch.RequestStageRequest)
	p.opens(nil, nil)
	p.payWith(approved)
	p.held()
	p.take("paying")
	p.press("Escape")
	p.waitFor(modalFrame, "!document.getElementById('ask').hidden")
	p.take("leave")
}

func (p *photographer) challenge() {
	p.opens(nil, nil)
	p.payWith(challenged)
	p.waitFor(challengeFrame, "document.querySelector('button[value=approve]')")
	p.take("challenge")
}

func (p *photographer) declined() {
	p.opens(nil, nil)
	for n := 1; n <= 3; n++ {
		p.payWith("4000000000009995")
		if n == 3 {
			break
		}
		p.waitFor(modalFrame, "!document.getElementById('notice').hidden")
		p.take(fmt.Sprintf("declined-%d", n))
	}
	p.inState("declined")
	p.take("declined")
}

func (p *photographer) unknown() {
	p.opens(nil, nil)
	p.payWith(unanswered)
	p.inState("unknown")
	p.take("unknown")
}

func (p *photographer) refused() {
	p.opens(map[string]any{"total": 1}, nil)
	p.inState("refused")
	p.take("refused")
}

func (p *photographer) invalid() {
	p.opens(map[string]any{"email": "nobody", "date_start": "2051-01-01"}, nil)
	p.inState("invalid")
	p.take("invalid")
}

func (p *photographer) failed() {
	order := p.shop.order()
	p.shop.signFor("Northern Trails", order, 0)
	order["language"] = p.language
	p.opens(order, map[string]any{"environment": "live", "verify": []string{}})
	p.inState("failed")
	p.take("failed")
}

func (p *photographer) notConnected() {
	p.hold("*/modal/v1/transactions", fetch.RequestStageRequest)
	p.opens(nil, nil)
	p.payWith(approved)
	call(p.tab, fetch.FailRequest, fetch.FailRequestParams{RequestID: p.held(), ErrorReason: network.ErrorReasonConnectionRefused})
	p.waitFor(modalFrame, "!document.getElementById('notice').hidden")
	call(p.tab, fetch.Disable, cdp.Empty{})
	p.take("error")
}

func (p *photographer) currencies() {
	order := p.shop.order()
	made := p.shop.book(p.t, order)
	order["booking_id"], order["currencies"], order["total"], order["language"] = made, "EUR", 13873, p.language
	p.shop.sign(order, 0)
	p.opens(order, map[string]any{"verify": []string{}})
	p.inState("form")
	p.take("currencies")
}

// size sets the size of the page, and dark its colours.
func (p *tab) size(width, height int64, dark bool) {
	p.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1,
	})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// TestDashboardPictures takes screenshots of every kind of dashboard page, on a phone and a desktop, light and dark, of
// the demo's book and an empty one, as the operator and as the site's admin, for review. The test fails if axe-core
// finds something serious in dark mode or on a phone, or if a page is wider than a phone or larger than 150 kB.
func TestDashboardPictures(t *testing.T) {
	folder, script := os.Getenv("HOLDFAST_SCREENSHOTS"), axe(t)
	for book, args := range map[string][]string{"book": {"demo"}, "empty": {"demo", "--empty"}} {
		p := onSQLite(t).start(args...)
		for name, role := range map[string]string{demo.OperatorName: "Operator", demo.AdminName: "Admin"} {
			t.Run(book+" "+role, func(t *testing.T) {
				t.Parallel()
				g := &gallery{&walker{newTab(t), p.base}, filepath.Join(folder, "dashboard", book, strings.ToLower(role)), script}
				if err := os.MkdirAll(g.into, 0o755); err != nil {
					t.Fatal(err)
				}
				if book == "book" && role == "Admin" {
					g.atTheDoor(name)
				}
				g.signIn(name, passwordOf(t, p, role))
				g.walk(false, 40, func(kind, address string) {
					g.goTo(address)
					g.weigh(kind)
					g.show(strings.Trim(strings.NewReplacer("/", "_", "#", "1").Replace(kind), "_"))
				})
				if book == "book" && role == "Admin" {
					g.moments()
				}
			})
		}
	}
}

// gallery is a walker that takes screenshots.
type gallery struct {
	*walker
	into, script string // a folder, and axe-core
}

// show takes screenshots of the current page, and judges it.
func (g *gallery) show(name string) {
	g.t.Helper()
	g.do(mainFrame, g.script)
	for _, size := range []int64{390, 1280} {
		for mode, dark := range map[string]bool{"light": false, "dark": true} {
			g.size(size, 900, dark)
			g.picture(filepath.Join(g.into, fmt.Sprintf("%s-%d-%s.png", name, size, mode)))
			if dark == (size == 1280) { // light mode on a desktop is judged by TestDashboard
				g.judge(fmt.Sprintf("%s at %d, %s", name, size, mode), size)
			}
		}
	}
}

// atTheDoor shows the pages without a sign-in.
func (g *gallery) atTheDoor(name string) {
	g.t.Helper()
	for _, page := range []string{"/", "/dashboard/sign-in", "/dashboard/forgotten"} {
		g.goTo(page)
		g.show("door" + strings.ReplaceAll(page, "/", "_"))
	}
	g.signIn(name, "not the password")
	g.show("door_wrong")
}

// moments shows pages that are not linked: invalid forms, search results, a dry run, a notice.
func (g *gallery) moments() {
	g.t.Helper()
	const site = "/dashboard/sites/" + demo.SitePath
	for name, address := range map[string]string{
		"missing": "/nothing", "hits": "/search?q=Rossi", "no_hits": "/search?q=nobody", "card": "/search?q=4111+1111+1111+1111",
		"filtered": "/payments?status=incomplete&q=zzz", "wrong_filter": "/bookings?include=x",
	} {
		g.goTo(site + address)
		g.show("moment_" + name)
	}
	g.goTo(site + "/bookings/new")
	g.do(mainFrame, `document.querySelector("main form").noValidate = true`)
	g.fill("email", "nobody")
	g.fill("total", "12,50")
	g.press("Log booking")
	g.show("moment_wrong_booking")
	d := &stories{t: g.t}
	d.try(g.walker)
	g.show("moment_tried_file")
	g.press("Import 1 payment")
	g.waitFor(mainFrame, `!document.querySelector("main[data-refresh]") && !document.querySelector("progress")`)
	g.show("moment_imported_file")
	g.goTo("/dashboard/account/second-factor")
	g.press("Start")
	g.show("moment_second_factor")
}

// judge runs axe-core on the current page, and checks that it fits the window.
func (g *gallery) judge(what string, width int64) {
	g.t.Helper()
	var problems []string
	g.read(mainFrame, judgement, &problems)
	var needs int64
	g.read(mainFrame, "document.documentElement.scrollWidth", &needs)
	if needs > width {
		problems = append(problems, fmt.Sprintf("it needs %d pixels", needs))
	}
	for _, problem := range problems {
		g.t.Errorf("%s: %s", what, problem)
	}
}

// mostBytes is the maximum compressed size of a page with its styles, scripts and images.
const mostBytes = 150_000

// weigh adds up the downloads of the last page.
func (g *gallery) weigh(kind string) {
	g.t.Helper()
	var bytes int64
	g.read(mainFrame, `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
		.reduce((sum, entry) => sum + entry.encodedBodySize, 0)`, &bytes)
	g.t.Logf("%s: %d bytes", kind, bytes)
	if bytes > mostBytes || bytes == 0 {
		g.t.Errorf("%s loads %d bytes, at most %d are allowed", kind, bytes, mostBytes)
	}
}

// picture takes a screenshot of the whole page.
func (g *gallery) picture(file string) {
	g.t.Helper()
	shot := call(g.tab, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: new(true)})
	if err := os.WriteFile(file, shot.Data, 0o644); err != nil {
		g.t.Fatal(err)
	}
}
