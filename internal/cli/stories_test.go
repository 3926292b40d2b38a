package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"holdfast/internal/demo"

	"github.com/pquerna/otp/totp"
	"github.com/xuri/excelize/v2"
)

// text is the text of an element, on one line.
func (w *walker) text(selector string) string {
	w.t.Helper()
	var said string
	w.read(mainFrame, fmt.Sprintf(`((e) => e ? e.innerText || e.textContent : "")(document.querySelector(%q))`, selector), &said)
	return strings.Join(strings.Fields(said), " ")
}

// says expects a text on the page.
func (w *walker) says(wants ...string) {
	w.t.Helper()
	w.waitFor(mainFrame, `document.readyState === "complete"`) // a page that reloads itself may be incomplete
	said := w.text("main")
	for _, want := range wants {
		if !strings.Contains(said, want) {
			w.t.Fatalf("the page does not say %q:\n%s\n%s", want, said, w.state())
		}
	}
}

// press presses the button with this text, and waits for the next page.
func (w *walker) press(words string) {
	w.t.Helper()
	w.do(mainFrame, fmt.Sprintf(`window.left = false;
		[...document.querySelectorAll("main button")].find((button) => button.textContent.trim().startsWith(%q)).click()`, words))
	w.waitFor(mainFrame, `window.left === undefined && document.readyState === "complete"`)
}

// fetched downloads a file of the dashboard in the signed-in browser.
func (w *walker) fetched(address string) []byte {
	w.t.Helper()
	var text string
	w.read(mainFrame, fmt.Sprintf(`fetch(%q).then((answer) => answer.blob()).then((blob) => new Promise((done) => {
		const reader = new FileReader();
		reader.onload = () => done(reader.result.split(",")[1] ?? "");
		reader.readAsDataURL(blob);
	}))`, address), &text)
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		w.t.Fatal(err)
	}
	return content
}

// stories are typical uses of the dashboard, one after the other, each in a separate browser.
type stories struct {
	t *testing.T
	s *system
	p *process
}

func (d *stories) browser() *walker { return &walker{newTab(d.t), d.p.base} }

// as signs in a user of the demo.
func (d *stories) as(name, role string) *walker {
	d.t.Helper()
	w := d.browser()
	w.signIn(name, passwordOf(d.t, d.p, role))
	return w
}

const storyPassword = "a lantern above the harbour"

// newSite: the operator creates a site; its admin follows the one-time link and sets up a second factor. It returns the
// admin's browser.
func (d *stories) newSite() *walker {
	d.t.Helper()
	operator := d.as(demo.OperatorName, "Operator")
	operator.goTo("/dashboard/new-site")
	for field, value := range map[string]string{
		"name": "Harbour Travel", "path": "harbour", "currency": "GBP", "username": "harbour-admin", "email": "admin@harbour.example",
		"display_name": "Ada Harbour",
	} {
		operator.fill(field, value)
	}
	operator.do(mainFrame, `document.querySelector("[name=sandbox]").checked = false`)
	operator.press("Create site")
	link := operator.text("#link")

	admin := d.browser()
	admin.goTo(strings.TrimPrefix(link, d.p.base))
	admin.fill("password", storyPassword)
	admin.fill("again", storyPassword)
	admin.press("Set password")
	admin.signInAs("harbour-admin", storyPassword)
	admin.goTo("/dashboard/account/second-factor")
	admin.press("Start")
	code, err := totp.GenerateCode(strings.ReplaceAll(admin.text(".secret"), " ", ""), time.Now())
	if err != nil {
		d.t.Fatalf("the key of the second factor: %v", err)
	}
	admin.fill("code", code)
	admin.press("Turn")
	recovery := strings.Fields(admin.text("#codes"))
	if len(recovery) < 5 {
		d.t.Fatalf("recovery codes: %v\n%s", recovery, admin.text("main"))
	}
	second := d.browser()
	second.goTo("/dashboard/sign-in")
	second.fill("username", "harbour-admin")
	second.fill("password", storyPassword)
	second.send()
	second.fill("password", storyPassword)
	second.fill("code", recovery[0])
	second.send()
	if said := second.text(".brand"); said != "Harbour Travel" {
		d.t.Fatalf("the first sign-in with a second factor leads to %q", said)
	}
	return second
}

// signInAs signs a user in.
func (w *walker) signInAs(name, password string) {
	w.t.Helper()
	w.signIn(name, password)
}

// protection: a draft channel requests protection, and two operators approve it, because the site is not a sandbox.
func (d *stories) protection(admin *walker) {
	d.t.Helper()
	admin.goTo("/dashboard/sites/harbour/channels/new")
	admin.fill("name", "Island Ferries")
	admin.fill("currencies", "GBP")
	admin.fill("account_mode", "draft")
	admin.press("Create merchant")
	var channel string
	admin.read(mainFrame, `location.pathname.match(/channels\/(\d+)/)[1]`, &channel)
	admin.goTo("/dashboard/sites/harbour/channels/" + channel + "/protection")
	for field, value := range map[string]string{
		"company": "Island Ferries Ltd", "registration_number": "0123456", "website": "https://ferries.example", "sells": "Crossings",
		"contact_name": "Ada", "contact_mail": "ada@ferries.example", "licence": "none", "currencies": "GBP", "turnover": "1,200,000.00",
		"bookings": "400", "average_booking": "250.00", "supplier_cover": "Nothing",
	} {
		admin.fill(field, value)
	}
	admin.do(mainFrame, `(() => { const first = document.querySelector("[name^=lead]"); first.value = "100"; })()`)
	admin.press("Send request")
	admin.says("Island Ferries Ltd")

	first := d.as(demo.OperatorName, "Operator")
	first.goTo("/dashboard/asked")
	first.says("Island Ferries")
	first.goTo("/dashboard/sites/harbour/channels/" + channel + "/settings")
	first.fill("account_mode", "protection-only")
	first.press("Save")
	admin.goTo("/dashboard/sites/harbour/channels/" + channel + "/settings")
	admin.says("Draft")
	second := d.as(demo.ApproverName, "Operator 2")
	second.goTo("/dashboard/approvals")
	second.do(mainFrame, `window.left = false; [...document.querySelectorAll("main a")].find((a) => a.href.includes("/sites/harbour/approvals/")).click()`)
	second.waitFor(mainFrame, `window.left === undefined && document.readyState === "complete"`)
	second.press("Approve")
	admin.goTo("/dashboard/sites/harbour/channels/" + channel + "/settings")
	admin.says("Protection only")
}

// token: a token is created on a page and then used with the API.
func (d *stories) token(admin *walker) {
	d.t.Helper()
	admin.goTo("/dashboard/sites/harbour/developers/tokens/new")
	admin.fill("name", "booking system")
	admin.do(mainFrame, `document.querySelector("#never").click()`)
	admin.press("Create token")
	token := admin.text("#secret")
	status, said := request(d.t, "GET", d.p.base+"/harbour/rest/svc/v2/channels", token, nil)
	if status != http.StatusOK || !strings.Contains(string(said), "Island Ferries") {
		d.t.Errorf("the token gets %d %s", status, said)
	}
	d.snippets(admin, token)
}

// money reads the digits of a figure.
var notDigits = regexp.MustCompile(`[^0-9]`)

// payment: a payment logged on a page appears in the exposure.
func (d *stories) payment() {
	d.t.Helper()
	admin := d.as(demo.AdminName, "Admin")
	e1 := func() int {
		admin.goTo("/dashboard/sites/demo/exposure?currency=EUR")
		var n int
		_, _ = fmt.Sscan(notDigits.ReplaceAllString(admin.text(".figures b"), ""), &n) // 0 is reported below
		return n
	}
	before := e1()
	admin.goTo("/dashboard/sites/demo/bookings/new")
	admin.do(mainFrame, `(() => { const choice = document.querySelector("[name=channels]");
		choice.value = [...choice.options].find((option) => option.text.startsWith("Azure Coast")).value; })()`)
	for field, value := range map[string]string{
		"reference": "STORY-1", "date": time.Now().AddDate(0, 9, 0).Format("2006-01-02"), "total": "1,500.00", "countries": "PT",
		"content": "A week", "firstname": "Nils", "surname": "Story", "email": "nils@example.org",
	} {
		admin.fill(field, value)
	}
	admin.send()
	admin.says("STORY-1")
	admin.do(mainFrame, `window.left = false; [...document.querySelectorAll(".acts a")].find((a) => a.textContent === "Log a payment").click()`)
	admin.waitFor(mainFrame, `window.left === undefined && document.readyState === "complete"`)
	admin.fill("total", "1,000.00")
	admin.send()
	if after := e1(); before == 0 || after-before != 1000_00 {
		d.t.Errorf("E1 was %d and is %d cents", before, after)
	}
}

// aFile has a good row and a bad one.
const aFile = `booking_reference,channel,countries,currencies,date_start,date,total,firstname,surname,email,content,payment_reference,transaction_types,paid_at,payment_currencies,payment_total,booking_total
STORY-2,Azure Coast Holidays,PT,EUR,,%[1]s,120000,Ana,Sousa,ana@example.org,A week,STORY-2-P,purchase,%[2]s,EUR,20000,20000
STORY-3,Azure Coast Holidays,PT,EUR,,%[1]s,much,Ana,Sousa,ana@example.org,A week,STORY-3-P,purchase,%[2]s,EUR,20000,20000
`

// file: a file with one bad row is checked, then imported without that row, which can be downloaded.
func (d *stories) file() {
	d.t.Helper()
	admin := d.as(demo.AdminName, "Admin")
	d.try(admin)
	admin.press("Import 1 payment")
	admin.waitFor(mainFrame, `!document.querySelector("main[data-refresh]") && !document.querySelector("progress")`)
	var address string
	admin.read(mainFrame, `[...document.querySelectorAll("main a[download]")].find((a) => a.textContent.includes("rejected")).href`, &address)
	rows, err := csv.NewReader(bytes.NewReader(admin.fetched(address))).ReadAll()
	if err != nil || len(rows) != 2 || !strings.Contains(strings.Join(rows[1], " "), "STORY-3") {
		d.t.Errorf("the refused rows: %v %q", err, rows)
	}
	admin.goTo("/dashboard/sites/demo/bookings?q=STORY-2")
	admin.says("Ana Sousa")
}

// try uploads the file, and checks the expected result of each row.
func (d *stories) try(admin *walker) {
	d.t.Helper()
	admin.goTo("/dashboard/sites/demo/bookings/import")
	content, _ := json.Marshal(fmt.Sprintf(aFile, // a text can be written
		time.Now().AddDate(0, 9, 0).Format("2006-01-02"), time.Now().Add(-48*time.Hour).UTC().Format(time.DateTime)))
	admin.do(mainFrame, fmt.Sprintf(`(() => { const files = new DataTransfer();
		files.items.add(new File([%s], "book.csv", { type: "text/csv" }));
		document.querySelector("[name=file]").files = files.files; })()`, content))
	admin.press("Start dry run")
	admin.waitFor(mainFrame, `[...document.querySelectorAll("main button")].some((button) => button.textContent.startsWith("Import 1 payment"))`)
	admin.says("Rejected 1", "STORY-3 Ana Sousa STORY-3-P Purchase", "200.00 EUR", `"much" is not a whole number`)
}

// export: a spreadsheet has the same content as the page.
func (d *stories) export() {
	d.t.Helper()
	admin := d.as(demo.AdminName, "Admin")
	admin.goTo("/dashboard/sites/demo/bookings?q=STORY-1")
	var shown map[string]string // by column title; the file has an extra column for currencies
	admin.read(mainFrame, `(() => {
		const cells = document.querySelectorAll("table.list tbody tr:first-child td");
		return Object.fromEntries([...document.querySelectorAll("table.list thead th")].map((title, i) => [title.innerText.trim(), cells[i].innerText.trim()]));
	})()`, &shown)
	var address string
	admin.read(mainFrame, `[...document.querySelectorAll(".out a")].find((a) => a.textContent === "XLSX").href`, &address)
	book, err := excelize.OpenReader(bytes.NewReader(admin.fetched(address)))
	if err != nil {
		d.t.Fatal(err)
	}
	rows, err := book.GetRows(book.GetSheetName(0))
	if err != nil || len(rows) != 2 {
		d.t.Fatalf("the spreadsheet: %v %v", err, rows)
	}
	compared := 0
	for i, cell := range rows[1] {
		title := rows[0][i]
		page, ok := shown[title]
		if strings.HasSuffix(page, "EUR") {
			page = strings.Fields(page)[0]
		}
		if ok && (title == "Total" || title == "Reference") {
			compared++
			if strings.ReplaceAll(cell, ",", "") != strings.ReplaceAll(page, ",", "") {
				d.t.Errorf("column %s has %q, and the page says %q", title, cell, page)
			}
		}
	}
	if compared != 2 {
		d.t.Errorf("%d columns were compared, the file has %v and the page %v", compared, rows[0], shown)
	}
}

// reader: a read-only user sees no button, and cannot submit the form either.
func (d *stories) reader() {
	d.t.Helper()
	d.s.mustWith(storyPassword+"\n", "user", "create", "story-reader", "--site", "demo", "--role", "read_only", "--email", "reader@example.org")
	reader := d.browser()
	reader.signIn("story-reader", storyPassword)
	reader.goTo("/dashboard/sites/demo/bookings")
	if acts := reader.text(".acts"); acts != "" {
		d.t.Errorf("who may only read is offered %q", acts)
	}
	for _, address := range []string{
		"/bookings/new", "/channels/1/settings", "/channels", "/developers/tokens", "/developers/webhooks", "/developers/origins",
		"/people/invite", "/bookings/1/delete", "/bookings/import",
	} {
		var status int
		reader.read(mainFrame, fmt.Sprintf(`fetch("/dashboard/sites/demo%s", { method: "POST", body: new URLSearchParams({ name: "forged" }) }).then((a) => a.status)`,
			address), &status)
		if status != http.StatusForbidden {
			d.t.Errorf("POST %s is answered with %d", address, status)
		}
	}
}

// keys: pages are opened, searched and left with the keyboard. A card number typed into a search is removed from the
// URL.
func (d *stories) keys() {
	d.t.Helper()
	admin := d.as(demo.AdminName, "Admin")
	admin.waitFor(mainFrame, `document.documentElement.classList.contains("js")`)
	admin.tab.press("/")
	admin.waitFor(mainFrame, `document.activeElement.name === "q"`)
	admin.tab.press("Escape")
	admin.waitFor(mainFrame, `document.activeElement.name !== "q" && !document.querySelector(".side.open")`)
	admin.tab.press("g", "b")
	admin.waitFor(mainFrame, `location.pathname.endsWith("/bookings") && document.documentElement.classList.contains("js")`)
	admin.do(mainFrame, `document.querySelector(".columns summary").click()`)
	admin.tab.press("Escape")
	admin.waitFor(mainFrame, `!document.querySelector(".columns").open`)
	admin.tab.press("/")
	admin.tab.typeText("Rossi")
	admin.waitFor(mainFrame, `location.search === "?q=Rossi" && document.querySelector("#results").textContent.includes("Rossi")`)
	admin.tab.press("/") // a character in a field like any other
	admin.do(mainFrame, `document.querySelector("main [name=q]").value = ""`)
	admin.insert("4111 1111 1111 1111")
	admin.waitFor(mainFrame, `document.querySelector(".note.warned")?.textContent.includes("card number") && !location.search.includes("4111")`)
	admin.goTo("/dashboard/sites/demo/channels/2/delete")
	admin.tab.press("Escape")
	admin.waitFor(mainFrame, `location.pathname.endsWith("/channels/2/settings")`)
}

// tell runs all stories.
func (d *stories) tell() {
	admin := d.newSite()
	d.protection(admin)
	d.token(admin)
	admin.wellBehaved()
	d.payment()
	d.file()
	d.export()
	d.keys()
	d.reader()
}
