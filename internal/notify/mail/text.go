package mail

import (
	"bytes"
	"context"
	"embed"
	"encoding/base64"
	"html/template"
	"net/url"
	"strings"
	plain "text/template"
	"time"

	"holdfast/internal/book/certificates"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/lib/i18n"
	"holdfast/internal/lib/qr"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

//go:embed templates
var templates embed.FS

// The two forms of an e-mail, both rendered from a view.
var (
	htmlForm = template.Must(template.New("mail.html").Funcs(template.FuncMap{"outlook": outlook}).ParseFS(templates, "templates/mail.html"))
	textForm = plain.Must(plain.ParseFS(templates, "templates/mail.txt"))
)

// outlook is read only by Outlook on Windows, which does not support max-width and needs a fixed-width table around the
// e-mail. html/template removes comments, so they are added here.
func outlook(part string) template.HTML {
	if part == "begin" {
		return `<!--[if mso]><table role="presentation" width="600" align="center" cellpadding="0" cellspacing="0"><tr><td><![endif]-->`
	}
	return `<!--[if mso]></td></tr></table><![endif]-->`
}

// Message is a rendered e-mail.
type Message struct {
	Subject  string
	Language string // BCP 47, such as de-DE
	Text     string
	HTML     string // its only image, if any, is cid:code
	Code     []byte // the image, a PNG; nil for none
	File     *File  // attachment; nil for none, and if the e-mail is only shown
}

// Page is the HTML with the image embedded, for browsers.
func (m Message) Page() string {
	return strings.Replace(m.HTML, codeAddress, "data:image/png;base64,"+base64.StdEncoding.EncodeToString(m.Code), 1)
}

// The name of the embedded image, and its URL in the HTML.
const (
	codeName    = "code"
	codeAddress = "cid:" + codeName
)

// view is the data of the templates.
type view struct {
	Subject, Preheader  string
	Language, Direction string
	Sender              string
	Test                string // test note; "" for none
	Title, Greeting     string
	Paragraphs          []string
	Rows                []row
	Protection          *protectionView
	Act                 *act
	After               []string
	Footer              string
}

type row struct{ Label, Value string }

type protectionView struct {
	Title, Text, CheckText, Check, CodeText string
	Link                                    string
	Code                                    template.URL // "" for none
}

// text renders an e-mail. E-mails to travellers link to the booking's certificate.
func (m *Mails) text(ctx context.Context, mail Mail) (Message, error) {
	link := ""
	if mail.toTraveller() && m.Addresses.Base != "" {
		var err error
		if link, err = m.certificateOf(ctx, mail.SiteID, mail.BookingID); err != nil {
			return Message{}, err
		}
	}
	if mail.Letter.Protection != nil || mail.Letter.Insolvency != nil || mail.Letter.Dispute != nil || mail.Letter.Payout != nil {
		link = m.Addresses.Dashboard
	}
	return mail.Letter.write(mail.Kind, link)
}

// certificateOf is the address of a booking's certificate. It is "" for a booking that was deleted meanwhile.
func (m *Mails) certificateOf(ctx context.Context, siteID, bookingID int64) (string, error) {
	actor := access.System(siteID)
	err := m.Store.Read(ctx, siteID, func(tx *store.Tx) error {
		clock, err := sites.ClockOf(tx, siteID)
		actor.Ahead = clock.Ahead
		return err
	})
	if err != nil {
		return "", err
	}
	found, err := m.Certificates.Of(ctx, actor, bookingID)
	if errs.Is(err, errs.RecordNotFound) {
		return "", nil
	}
	return certificates.Link(m.Addresses.Base, found.Key), err
}

// write renders a letter.
func (l Letter) write(kind Kind, link string) (Message, error) {
	w := writer{Letter: l, in: i18n.Of(l.Language), kind: kind}
	v := w.view(link)
	if w.err != nil {
		return Message{}, w.err
	}
	made := Message{Subject: v.Subject, Language: v.Language}
	if v.Protection != nil && link != "" {
		var err error
		if made.Code, err = picture(link); err != nil {
			return Message{}, err
		}
		v.Protection.Code = codeAddress
	}
	var html, text bytes.Buffer
	if err := htmlForm.Execute(&html, v); err != nil {
		return Message{}, err
	}
	if err := textForm.Execute(&text, v); err != nil {
		return Message{}, err
	}
	made.HTML, made.Text = html.String(), text.String()
	return made, nil
}

// codePixels is the size of a QR module: drawn sharp, and scaled down in the e-mail.
const codePixels = 8

// picture is the QR code of a URL as a PNG.
func picture(address string) ([]byte, error) {
	code, err := qr.Of(address)
	if err != nil {
		return nil, err
	}
	return code.PNG(codePixels)
}

// writer looks up the texts of one letter and keeps the first error.
type writer struct {
	Letter
	in   i18n.Language
	kind Kind
	err  error
}

func (w *writer) say(key string, values ...any) string {
	said, err := w.in.Say(key, values...)
	if w.err == nil && err != nil {
		w.err = err
	}
	return said
}

// mine looks up a text of the letter's kind.
func (w *writer) mine(part string, values ...any) string {
	return w.say("mail."+string(w.kind)+"."+part, values...)
}

func (w *writer) money(minor int64, c money.Currency) string { return w.in.Money(minor, c) }

// merchant is the merchant's name as the reader knows it.
func (w *writer) merchant() string { return clean(w.Sender, maxName) }

// reference is the booking reference as the reader knows it.
func (w *writer) reference() string {
	if w.Reference != "" {
		return clean(w.Reference, maxName)
	}
	return w.Booking
}

func (w *writer) view(link string) view {
	v := view{Language: w.in.Tag(), Direction: w.in.Direction(), Sender: w.merchant()}
	if w.Test {
		v.Test = w.say("mail.test_note")
	}
	switch w.kind {
	case Receipt, Refund:
		w.toTraveller(&v, link)
	case Failure, Chargeback, Reversal:
		w.toMerchant(&v)
	case Webhook:
		w.toManager(&v)
	case ProtectionAsked, ProtectionAnswered:
		w.aboutProtection(&v, link)
	case DisputeDue:
		w.aboutDispute(&v, link)
	case InsolvencyReported, Insolvency:
		w.aboutInsolvency(&v, link)
	case PayoutKind:
		w.aboutPayout(&v, link)
	case ReportKind:
		w.toReader(&v)
	case Invitation, Access, Password, AddressKind, AddressChanged:
		w.toPerson(&v, link)
	default:
		w.toOperator(&v)
	}
	return v
}

func (w *writer) toTraveller(v *view, link string) {
	amount, merchant := w.money(w.Amount, w.Currency), w.merchant()
	if w.Paid != 0 {
		amount = w.money(w.Paid, w.PaidCurrency)
	}
	v.Subject = w.mine("subject", "amount", amount, "merchant", merchant)
	v.Preheader = w.mine("preheader", "reference", w.reference())
	v.Title = w.mine("title")
	v.Greeting = w.say("mail.greeting", "name", clean(w.Name, maxName))
	v.Paragraphs = []string{w.mine("text", "amount", amount, "merchant", merchant)}
	v.Footer = w.say("mail.footer", "merchant", merchant)
	day, sum := "label.paid_on", "label.amount_paid"
	if w.kind == Refund {
		v.Paragraphs = append(v.Paragraphs, w.mine("when"))
		day, sum = "label.refunded_on", "label.amount_refunded"
	}
	paid := amount
	if w.Paid != 0 {
		paid += " (" + w.money(w.Amount, w.Currency) + ")"
	}
	w.row(v, sum, paid)
	w.row(v, day, w.in.Day(civil.Day(w.On)))
	if w.Digits != "" && w.Scheme != "" {
		w.row(v, "label.card", w.say("mail.card", "scheme", w.Scheme.Label(), "digits", w.Digits))
	}
	w.row(v, "label.reference", w.reference())
	w.row(v, "label.merchant", merchant)
	w.row(v, "label.travel", w.in.Days(civil.Day(w.Start), civil.Day(w.End)))
	if w.Country != "" {
		w.row(v, "label.country", w.in.Country(w.Country))
	}
	if w.Unpaid > 0 && w.kind == Receipt {
		w.row(v, "label.still_to_pay", w.money(w.Unpaid, w.Currency))
	}
	w.row(v, "label.transaction", w.Number)
	if w.kind == Receipt && w.Descriptor != "" {
		v.After = []string{w.mine("statement", "label", clean(w.Descriptor, maxName))}
	}
	v.Protection = w.protection(link)
}

// protection describes what is protected, until when, and how to check it.
func (w *writer) protection(link string) *protectionView {
	p := &protectionView{
		Title: w.say("mail.protection.title"), Link: link, CheckText: w.say("mail.protection.check_text"),
		Check: w.say("mail.protection.check"), CodeText: w.say("mail.protection.qr"),
	}
	switch {
	case w.Protected > 0:
		p.Text = w.say("mail.protection.protected", "merchant", w.merchant(), "date", w.in.Day(civil.Day(w.Until)),
			"amount", w.money(w.Protected, w.Currency))
	case w.kind == Refund:
		p.Text = w.say("mail.protection.ended")
	default:
		p.Text = w.say("mail.protection.none")
	}
	return p
}

func (w *writer) toMerchant(v *view) {
	amount := w.money(w.Amount, w.Currency)
	switch w.kind {
	case Chargeback:
		v.Subject = w.mine("subject", "amount", amount, "reference", w.reference())
		v.Preheader = w.mine("preheader", "reference", w.reference())
		v.After = []string{w.mine("next")}
	case Reversal:
		v.Subject = w.mine("subject", "amount", amount, "reference", w.reference())
		v.Preheader = w.mine("preheader", "reference", w.reference())
	default:
		v.Subject = w.mine("subject", "reference", w.reference())
		v.Preheader = w.mine("preheader", "amount", amount)
	}
	v.Title = w.mine("title")
	v.Greeting = w.say("mail.hello")
	v.Paragraphs = []string{w.mine("text", "amount", amount, "reference", w.reference())}
	w.row(v, "label.amount", amount)
	w.row(v, "label.reason", clean(w.Reason, maxName))
	w.row(v, "label.reference", w.reference())
	w.row(v, "label.transaction", w.Number)
	w.row(v, "label.arn", w.ARN)
	w.row(v, "label.channel", clean(w.Channel, maxName))
	v.Footer = w.say("mail.footer_merchant", "channel", clean(w.Channel, maxName))
}

// toManager reports that a webhook of the site was disabled, and why.
func (w *writer) toManager(v *view) {
	host, address := w.Address, clean(w.Address, maxAnswer)
	if u, err := url.Parse(w.Address); err == nil && u.Host != "" {
		host = u.Host
	}
	v.Subject, v.Preheader, v.Title = w.mine("subject", "host", clean(host, maxName)), w.mine("preheader"), w.mine("title")
	v.Greeting = w.say("mail.hello")
	why := w.mine("gone", "address", address)
	if w.Days > 0 {
		why = w.mine("text", "count", w.Days, "address", address)
	}
	v.Paragraphs = []string{why}
	w.row(v, "label.address", address)
	v.After = []string{w.mine("next", "days", w.in.Number(int64(events.Kept/(24*time.Hour))))}
	v.Footer = w.say("mail.footer_site", "site", w.merchant())
}

// toOperator renders e-mails to operators. Chain heads are for a file, and not translated.
func (w *writer) toOperator(v *view) {
	v.Title = w.say("mail.trial.subject")
	v.Paragraphs = []string{w.say("mail.trial.text")}
	if w.kind == Heads {
		v.Title = "Chain heads"
		v.Paragraphs = []string{"Keep this e-mail outside the database. Save its lines to a file and pass the file to " +
			"\"holdfast verify --against\" to detect removed or rewritten records."}
		for _, line := range w.Lines {
			v.Paragraphs = append(v.Paragraphs, clean(line, maxAnswer))
		}
	}
	v.Subject, v.Preheader = v.Title, v.Paragraphs[0]
	v.Footer = w.merchant()
}

// row adds a line to the table, unless it is empty.
func (w *writer) row(v *view, label, value string) {
	if value != "" {
		v.Rows = append(v.Rows, row{w.say(label), value})
	}
}
