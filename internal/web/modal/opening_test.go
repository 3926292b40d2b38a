package modal_test

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/money"
	"holdfast/internal/lib/i18n"
	"holdfast/internal/web/modal"

	"github.com/chromedp/chromedp/kb"
)

// holds delays the service's responses for some paths, until the returned function is called.
func (s *shop) holds(t *testing.T, paths ...string) (release func(path string)) {
	t.Helper()
	s.set(func() {
		s.waits = map[string]chan bool{}
		for _, path := range paths {
			s.waits[path] = make(chan bool)
		}
	})
	release = func(path string) {
		s.set(func() {
			if wait := s.waits[path]; wait != nil {
				close(wait)
				delete(s.waits, path)
			}
		})
	}
	t.Cleanup(func() {
		for _, path := range paths {
			release(path)
		}
	})
	return release
}

// cover is shown on the page until the frame has loaded.
const cover = "document.querySelector('dialog div').shadowRoot"

// uncovered is true when the frame can be seen and used. Before that its scripts may not have run, and a click would be lost.
const uncovered = "document.querySelector('dialog')?.ariaBusy === 'false'"

// placeOf is the place and the size of the panel in a document or in the cover.
func placeOf(root string) string {
	return "(() => { const { x, y, width, height } = " + root + ".querySelector('.panel').getBoundingClientRect(); return [x, y, width, height].map(Math.round).join(' '); })()"
}

// reopen opens the modal again in a page that has loaded: a page that loads waits for its frames.
const reopen = "window.modal.closeModal(), window.calls = [], window.tmtPaymentModalReady()"

// TestItCanBeClosedFromTheFirstMoment: before the frame has loaded, and while it waits for the service.
func TestItCanBeClosedFromTheFirstMoment(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(func() { s.data["language"] = "deDE" })
	b := visit(t, s)
	release := s.holds(t, "frame", "sessions")
	b.page(reopen)
	covered := "document.querySelector('dialog')?.ariaBusy === 'true' && document.querySelector('dialog').getAttribute('aria-label') === 'Zahlung'"
	b.until(shopPage, covered)
	// The overlay is in the page's language: it shows the amount, and a focused button.
	if got := b.page(cover + ".querySelector('.amount').textContent + " + cover + ".activeElement.getAttribute('aria-label')"); strings.ReplaceAll(fmt.Sprint(got), "\u00a0", " ") != "1.249,50 £Schließen" {
		t.Errorf("while it loads it says %v", got)
	}
	b.press(kb.Escape)
	b.fired("modal_closed")
	b.page(reopen)
	b.until(shopPage, covered)
	b.press(kb.Enter) // on the button
	b.fired("modal_closed")
	b.page(reopen)
	release("frame")
	b.until(shopPage, uncovered)
	if got := text(b, "#amount") + text(b, "#pay"); strings.ReplaceAll(got, "\u00a0", " ") != "1.249,50 £1.249,50 £ bezahlen" {
		t.Errorf("the form to come says %q", got)
	}
	if got := b.frame("document.getElementById('close').getAttribute('aria-label')"); got != "Schließen" {
		t.Errorf("the button to close has the name %v", got)
	}
	b.press(kb.Escape)
	b.fired("modal_closed")
	b.page(reopen)
	b.until(shopPage, uncovered)
	b.click("#close")
	b.fired("modal_closed")
	b.page(reopen)
	b.shows("loading")
	release("sessions")
	b.shows("form")
	b.until(modalFrame, "document.activeElement.id === 'number'")
	b.fired("booking_logged")
}

// TestItDoesNotJump: the panel and the form keep their size and position from the first moment to the last.
func TestItDoesNotJump(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int64{{320, 640}, {600, 900}, {1280, 900}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			status := "failed"
			s.pays(func(object) (int, object) {
				return http.StatusCreated, s.made(int64(len(status)), status, object{"decline_reason": "insufficient_funds"})
			})
			b := visit(t, s)
			b.resize(size[0], size[1])
			b.until(shopPage, fmt.Sprintf("innerWidth === %d", size[0]))
			release := s.holds(t, "frame", "sessions", "transactions")
			b.page(reopen)
			b.until(shopPage, "document.querySelector('dialog')?.ariaBusy === 'true'")
			covered := b.page(placeOf(cover))
			shapes := b.page("[1, 4, 5].map((n) => Math.round(" + cover + ".querySelectorAll('.stage i')[n].getBoundingClientRect().y))").([]any)
			release("frame")
			b.until(shopPage, uncovered)
			panel := fmt.Sprint(b.frame(placeOf("document")))
			if covered != panel {
				t.Errorf("before the frame the panel is at %v, in the frame at %s", covered, panel)
			}
			fields := func() string {
				return fmt.Sprint(b.frame("['number', 'name', 'pay'].map((id) => { const at = document.getElementById(id).getBoundingClientRect(); return [at.y, at.height].map(Math.round); }).join(' ')"))
			}
			place := fields()
			for i, id := range []string{"number", "name", "pay"} {
				if at := b.frame(fmt.Sprintf("document.getElementById(%q).getBoundingClientRect().y", id)).(float64); math.Abs(at-shapes[i].(float64)) > 4 {
					t.Errorf("%s is at %v, its shape before was at %v", id, at, shapes[i])
				}
			}
			same := func(state string) {
				t.Helper()
				if got := b.frame(placeOf("document")); got != panel {
					t.Errorf("%s: the panel is at %v, before at %s", state, got, panel)
				}
			}
			release("sessions")
			b.shows("form")
			if got := fields(); got != place {
				t.Errorf("the fields are at %s, while it loaded at %s", got, place)
			}
			same("form")
			b.fill("4000000000000002", "1240", "123", "Ada Lovelace")
			b.press(kb.Enter)
			b.shows("paying")
			same("paying")
			if got := fields(); got != place {
				t.Errorf("paying the fields are at %s, before at %s", got, place)
			}
			if got := b.frame("[document.activeElement.id, document.activeElement.ariaBusy, document.activeElement.textContent, document.getElementById('number').checkVisibility(), document.querySelector('.field').inert].join()"); got != "pay,true,Processing …,true,true" {
				t.Errorf("paying: %v", got)
			}
			release("transactions")
			b.until(modalFrame, "!document.getElementById('notice').hidden")
			same("declined")
			if got := b.frame("['notice', 'number'].map((id) => (document.getElementById(id).closest('.control') ?? document.getElementById(id)).getBoundingClientRect().width).map(Math.round).join() + document.activeElement.id + document.activeElement.ariaInvalid"); !regexp.MustCompile(`^(\d+),\d+numbertrue$`).MatchString(fmt.Sprint(got)) || !sameWidths(fmt.Sprint(got)) {
				t.Errorf("the notice, the number, the focus: %v", got)
			}
			status = "complete"
			b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
			if got := b.frame("document.getElementById('number').ariaInvalid"); got != nil {
				t.Errorf("another number is marked: %v", got)
			}
			b.press(kb.Enter)
			b.shows("paid")
			same("paid")
			b.fired("booking_logged", "transaction_failed", "transaction_logged")
		})
	}
}

// sameWidths reports whether the two numbers at the beginning of a text are the same.
func sameWidths(text string) bool {
	m := regexp.MustCompile(`^(\d+),(\d+)`).FindStringSubmatch(text)
	return m != nil && m[1] == m[2]
}

// TestASmallTelephone: at 320 by 640 pixels the pay button, and those after a timeout, are visible. The confirmation
// before closing fits the window, with its buttons below each other.
func TestASmallTelephone(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	release := s.holds(t, "transactions")
	s.pays(func(object) (int, object) { return http.StatusCreated, s.made(1, "incomplete", nil) })
	b := newTab(t)
	b.resize(320, 640)
	b.open(s.page.URL + "/")
	b.shows("form")
	seen := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			if got := b.frame(fmt.Sprintf("(() => { const at = document.getElementById(%q).getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight && at.height >= 44 && document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2)?.closest('button')?.id === %[1]q; })()", id)); got != true {
				t.Errorf("%s cannot be seen", id)
			}
		}
	}
	seen("close", "pay")
	if got := b.frame("document.querySelector('.sum').offsetHeight"); got.(float64) > 90 {
		t.Errorf("the head has a height of %v pixels", got)
	}
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.shows("paying")
	b.press(kb.Escape)
	b.until(modalFrame, "document.activeElement.id === 'stay'")
	seen("stay", "leave")
	if got := b.frame("document.getElementById('leave').getBoundingClientRect().top >= document.getElementById('stay').getBoundingClientRect().bottom"); got != true {
		t.Error("the buttons of the question do not stand below each other")
	}
	b.press(kb.Escape)
	release("transactions")
	b.shows("unknown")
	seen("retry", "done")
}

// TestTheBrandsOfCards: a row of accepted brands, with the shopper's highlighted, and a hint about the security code.
func TestTheBrandsOfCards(t *testing.T) {
	t.Parallel()
	b := visit(t, newShop(t))
	names := func(selector string) string {
		return fmt.Sprint(b.frame(fmt.Sprintf("[...document.querySelectorAll(%q)].map((item) => item.textContent).join()", selector)))
	}
	if got := names("#brands li"); got != "Visa,Amex" || b.frame("document.getElementById('brands').getAttribute('aria-label')") != "Accepted cards" {
		t.Errorf("accepted are %s", got)
	}
	// Each is drawn.
	if got := b.frame("[...document.querySelectorAll('#brands use')].every((use) => use.getBBox().width > 30)"); got != true {
		t.Error("there are no drawings")
	}
	for number, want := range map[string]string{"42": "Visa|back|Amex", "37": "Amex|front|Visa", "9": "|back|"} {
		b.frame("(() => { const field = document.getElementById('number'); field.focus(); field.select(); })()")
		b.press(number)
		if got := names("#mark") + "|" + fmt.Sprint(b.frame("document.getElementById('where').dataset.side")) + "|" + names("#brands .faint"); got != want {
			t.Errorf("%s: %s, want %s", number, got, want)
		}
	}
}

// TestTheFormLivesOn: before the session ends the page is notified, and with a new auth string the form continues.
func TestTheFormLivesOn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(func() { s.session["expires_in"] = 121 })
	over := object{"code": "jwt_auth_invalid_request", "message": "The session has expired.", "data": object{"status": 403, "reason": "expired"}}
	s.pays(func(object) (int, object) { return http.StatusForbidden, over })
	b := visit(t, s)
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	if b.fired("booking_logged", "token_expiring"); b.argument(1)["expires_in"] != 120.0 || b.argument(1)["message"] == "" {
		t.Errorf("the page is notified with %v", b.argument(1))
	}
	// It is too late, but the input is kept.
	b.press(kb.Enter)
	b.until(modalFrame, "document.getElementById('notice-title').textContent === 'This payment has timed out'")
	b.fired("booking_logged", "token_expiring", "token_error")
	if got := b.frame("[...document.querySelectorAll('form input')].map((field) => field.value).join('; ') + document.activeElement.id"); got != "4242 4242 4242 4242; 12 / 40; 123; Ada Lovelacepay" {
		t.Errorf("of the form is left %v", got)
	}
	// A wrong string changes nothing.
	fine := s.session
	s.set(func() {
		s.session = object{"code": "jwt_auth_invalid_request", "message": "Wrong.", "data": object{"status": 403}}
	})
	b.page("window.modal.renew('wrong')")
	if b.fired("booking_logged", "token_expiring", "token_error", "token_error"); b.argument(3)["message"] != "Wrong." {
		t.Errorf("a wrong string is answered with %v", b.argument(3))
	}
	s.set(func() { s.session = fine; s.session["token"], s.session["expires_in"] = "next-token", 1800 })
	s.pays(func(object) (int, object) { return http.StatusCreated, s.made(1, "complete", nil) })
	b.page("window.modal.renew('4567')")
	b.until(modalFrame, "document.getElementById('notice').hidden")
	if got := s.sent("POST sessions"); got["booking_auth"] != "4567" || got["booking_id"] != 4711.0 {
		t.Errorf("the new session is opened with %v", got)
	}
	b.press(kb.Enter)
	b.shows("paid")
	b.fired("booking_logged", "token_expiring", "token_error", "token_error", "transaction_logged")
	if n := s.count("POST bookings"); n != 1 {
		t.Errorf("%d bookings were made", n)
	}
	if s.bearer != "Bearer next-token" {
		t.Errorf("it was paid with %q", s.bearer)
	}
}

// TestWhatThePageSays: the type of the transaction also inside the data, and any environment.
func TestWhatThePageSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		data, option any
		want         string
	}{{"authorize", nil, "authorize"}, {"authorize", "purchase", "purchase"}, {"", "authorize", "authorize"}} {
		t.Run(fmt.Sprint(c.data, c.option), func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.pays(func(object) (int, object) { return http.StatusCreated, s.made(1, "complete", nil) })
			s.set(func() {
				s.data["transactionType"], s.options["environment"] = c.data, "staging"
				s.data["allocations"] = []object{{"label": "Hôtel/Bar"}}
				s.options["verify"] = []string{"allocations"}
				if c.option != nil {
					s.options["transactionType"] = c.option
				}
			})
			b := visit(t, s)
			if got := strings.HasPrefix(text(b, "#pay"), "Reserve"); got != (c.want == "authorize") {
				t.Errorf("the button says %q", text(b, "#pay"))
			}
			b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
			b.press(kb.Enter)
			b.shows("paid")
			if got := s.sent("POST transactions"); got["transaction_types"] != c.want {
				t.Errorf("paid with %v", got)
			}
			opening := s.sent("POST sessions")
			if _, given := opening["environment"]; given || opening["allocations"] != `[{"label":"Hôtel/Bar"}]` {
				t.Errorf("opened with %v", opening)
			}
		})
	}
}

// TestTheCoverKnowsLanguagesAndCurrencies: the page's script has the same data as the frame.
func TestTheCoverKnowsLanguagesAndCurrencies(t *testing.T) {
	script := get(t, newModal(t, modal.Config{}), "modal.js").Body.String()
	decimals := map[string]int{}
	for _, m := range regexp.MustCompile(`\[(\d), "([A-Z ]+)"\]`).FindAllStringSubmatch(script, -1) {
		for code := range strings.FieldsSeq(m[2]) {
			decimals[code] = int(m[1][0] - '0')
		}
	}
	for _, c := range money.Currencies() {
		count, listed := decimals[string(c)]
		if listed != (c.Exponent() != 2) || listed && count != c.Exponent() {
			t.Errorf("%s has %d decimals, in modal.js %d", c, c.Exponent(), count)
		}
		delete(decimals, string(c))
	}
	if len(decimals) > 0 {
		t.Errorf("these are no currencies: %v", decimals)
	}
	own := regexp.MustCompile(`(?m)^    (\w{4}): \["(\w\w-\w\w)", "(.+)", "(.+)"\],$`).FindAllStringSubmatch(script, -1)
	names := map[string][]string{}
	for _, m := range own {
		names[m[1]] = m[2:]
	}
	if len(names) != 15 {
		t.Errorf("it knows %d languages", len(names))
	}
	tags := asset(t, "texts.js")
	for code, said := range names {
		words := asset(t, "texts/"+code+".js")
		if !strings.Contains(tags, fmt.Sprintf("%s: %q", code, said[0])) || said[0] != i18n.Of(code).Tag() ||
			!strings.Contains(words, fmt.Sprintf("\n \"title\": %q,", said[1])) || !strings.Contains(words, fmt.Sprintf("\n \"close\": %q,", said[2])) {
			t.Errorf("%s: %v is not what the frame says", code, said)
		}
	}
}

// TestTheFrameLoadsAllScriptsAtOnce: none of them waits until another one has come.
func TestTheFrameLoadsAllScriptsAtOnce(t *testing.T) {
	m := newModal(t, modal.Config{})
	page := get(t, m, framePath("&language=kkKK")).Body.String()
	known := func(name string) bool {
		return strings.Contains(page, fmt.Sprintf(`<link rel="modulepreload" href="%s%s">`, assetsOf(page), name))
	}
	if !known("texts/kkKK.js") {
		t.Error("the texts of the language are not loaded at once")
	}
	for todo, seen := []string{"frame.js"}, []string{}; len(todo) > 0; todo = todo[1:] {
		if slices.Contains(seen, todo[0]) {
			continue
		}
		seen = append(seen, todo[0])
		if !known(todo[0]) && todo[0] != "frame.js" {
			t.Errorf("%s is not loaded at once", todo[0])
		}
		for _, m := range regexp.MustCompile(`from "\./([\w./]+)"`).FindAllStringSubmatch(get(t, m, strings.TrimPrefix(assetsOf(page), modal.Path)+todo[0]).Body.String(), -1) {
			todo = append(todo, m[1])
		}
	}
	for _, language := range []string{"", "xxXX", "../frame", `"><script>`} {
		if w := get(t, m, framePath("&language="+strings.ReplaceAll(language, `"><`, "%22%3E%3C"))); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "texts/") {
			t.Errorf("language %q: %d", language, w.Code)
		}
	}
	if !strings.Contains(page, `data-site="Sunny &amp; Travel"`) {
		t.Error("the frame does not know the name of the site")
	}
}

func assetsOf(page string) string {
	return regexp.MustCompile(`/modal/v1/assets/[0-9a-f]+/`).FindString(page)
}

func asset(t *testing.T, name string) string {
	t.Helper()
	m := newModal(t, modal.Config{})
	return get(t, m, strings.TrimPrefix(assetsOf(get(t, m, framePath("")).Body.String()), modal.Path)+name).Body.String()
}
