package terms

import (
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/mail"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

const mailsAt = "/settings/mails"

// mailTones are the marks of the states of mails.
var mailTones = map[mail.State]string{
	mail.Outbox: "calm", mail.Waiting: "warn", mail.Sending: "warn", mail.Sent: "good", mail.Dead: "bad", mail.Unknown: "bad",
}

// resentAtOnce is how many dead mails one request asks for again.
const resentAtOnce = 50

// mails shows the mails of the site, the latest first.
func (p *pages) mails(v *shell.Visit) error {
	page, err := v.PageOf([]string{"id"}, true)
	if err != nil {
		return err
	}
	var filter mail.Filter
	if s := v.Query("state"); s != "" {
		filter.States = []mail.State{mail.State(s)}
	}
	if k := v.Query("kind"); k != "" {
		filter.Kinds = []mail.Kind{mail.Kind(k)}
	}
	t := shell.Table{
		Name: "mails", Caption: "Mails", Number: page.Number, Total: -1,
		Columns: []shell.Column{
			{Name: "kind", Title: "Mail"}, {Name: "to", Title: "To"}, {Name: "state", Title: "State"}, {Name: "queued_at", Title: "Made"},
			{Name: "tried_at", Title: "Last tried", Minor: true}, {Name: "booking", Title: "Booking", Figure: true},
			{Name: "attempts", Title: "Tries", Figure: true, Hidden: true}, {Name: "answer", Title: "Answer", Hidden: true},
			{Name: "id", Title: "No.", Figure: true, Hidden: true},
		},
		Empty: shell.Empty{Title: "There are no such mails", Text: "Receipts, refunds and chargebacks are sent by mail. Each mail is listed here with its delivery status."},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
		list, err := p.app.Mails.List(v.R.Context(), v.Actor, filter, page)
		for _, m := range list.Items {
			t.Rows = append(t.Rows, mailRow(v, m))
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	acts := p.act(v, auth.ManageSites, "Try the mail server", "/settings/mails/try")
	if v.Can(auth.SendMails) {
		acts = append(acts, shell.Link{Text: "Send dead mails again", Href: v.At("/settings/mails/resend"), Plain: true})
	}
	return v.Show(p.Pages, "mails.html", p.settings(v, shell.Page{Title: "Mails", Acts: acts, Data: struct {
		Form   *shell.Form
		Server bool
		List   *shell.Table
	}{shell.Filled("state", v.Query("state"), "kind", v.Query("kind")), p.app.Mails.Transport != nil, made}}, mailsAt))
}

func mailRow(v *shell.Visit, m mail.Mail) shell.Row {
	to := shell.Words(m.Recipient)
	if m.Forgotten {
		to = shell.Words("Forgotten")
	}
	booking := shell.Ident(m.BookingID)
	if m.BookingID != 0 {
		booking.Href = v.At(fmt.Sprintf("/bookings/%d", m.BookingID))
	}
	return shell.Row{Href: v.At(fmt.Sprintf("%s/%d", mailsAt, m.ID)), Cells: []shell.Cell{
		shell.Words(shell.Say(m.Kind)), to, shell.State(string(m.State), mailTones[m.State]), shell.AtInstant(m.QueuedAt),
		shell.AtInstant(m.TriedAt), booking, shell.Number(m.Attempts), shell.Words(m.Answer), shell.Ident(m.ID),
	}}
}

// mail shows one mail with its text.
func (p *pages) mail(v *shell.Visit) error { return p.showMail(v, nil) }

func (p *pages) showMail(v *shell.Visit, refused *shell.Form) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	m, text, err := p.app.Mails.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	facts := []shell.Fact{
		{Text: "State", Value: shell.Say(m.State), Tone: mailTones[m.State]}, {Text: "To", Value: m.Recipient},
		{Text: "From", Value: m.Letter.Sender}, {Text: "Language", Value: text.Language}, {Text: "Made", Value: shell.Instant(m.QueuedAt)},
		{Text: "Last tried", Value: shell.Instant(m.TriedAt)}, {Text: "Tried again", Value: shell.Instant(m.NextAt)},
		{Text: "Answer of the server", Value: m.Answer},
	}
	if m.BookingID != 0 {
		facts = append(facts, shell.Fact{Text: "Booking", Value: fmt.Sprint(m.BookingID), Href: v.At(fmt.Sprintf("/bookings/%d", m.BookingID))})
	}
	over := m.State != mail.Waiting && m.State != mail.Sending && !m.Forgotten
	return v.Show(p.Pages, "mail.html", shell.Page{
		Title: shell.Say(m.Kind), Menu: "/settings", Path: []shell.Link{{Text: "Mails", Href: v.At(mailsAt)}},
		Data: struct {
			ID        int64
			Facts     []shell.Fact
			Subject   string
			Text      string
			Forgotten bool
			Again     bool
			Form      *shell.Form
		}{m.ID, present(facts), text.Subject, text.Text, m.Forgotten, over && v.Can(auth.SendMails) && p.app.Mails.Transport != nil, refused},
	})
}

// present are the facts that say something.
func present(facts []shell.Fact) (list []shell.Fact) {
	for _, f := range facts {
		if f.Value != "" {
			list = append(list, f)
		}
	}
	return list
}

// resendMail has one mail sent again.
func (p *pages) resendMail(v *shell.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	_, err = p.app.Mails.Resend(v.R.Context(), v.Actor, id)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.showMail(v, form)
	}
	return v.Done(v.At(fmt.Sprintf("%s/%d", mailsAt, id)), "The mail is sent again within a few seconds.")
}

// askResend asks once before the dead mails are sent again.
func (p *pages) askResend(v *shell.Visit) error {
	return v.Confirm(shell.Confirmation{
		Title: "Send dead mails again",
		Text: []string{
			fmt.Sprintf("The %d oldest dead mails of this site are sent again, each to the address that its booking has now.", resentAtOnce),
			"A mail is dead when the server has refused it for good, or for three days.",
		},
		Act: "Send them again", Back: v.At(mailsAt + "?state=dead"),
	}, shell.Page{Menu: "/settings", Path: []shell.Link{{Text: "Mails", Href: v.At(mailsAt)}}})
}

// resendDead has dead mails sent again. One that cannot be sent again stays dead, and does not stop the others.
func (p *pages) resendDead(v *shell.Visit) error {
	if _, err := v.Form(); err != nil {
		return err
	}
	page := travel.Page{Number: 1, Size: resentAtOnce, Offset: -1, OrderBy: "id"}
	list, err := p.app.Mails.List(v.R.Context(), v.Actor, mail.Filter{States: []mail.State{mail.Dead}}, page)
	if err != nil {
		return err
	}
	var sent int64
	why := ""
	for _, m := range list.Items {
		switch _, err := p.app.Mails.Resend(v.R.Context(), v.Actor, m.ID); {
		case err == nil:
			sent++
		case fault.Is(err, fault.NotPossible):
			why = fmt.Sprintf(" Mail %d cannot be sent: %s", m.ID, err)
		default:
			return err
		}
	}
	return v.Done(v.At(mailsAt), "%s sent again.%s", shell.Plural(sent, "mail is", "mails are"), why)
}

// tryMail sends a mail to try the settings of the mail server.
func (p *pages) tryMail(v *shell.Visit) error {
	form := shell.Filled("to", v.User.Email)
	if v.R.Method == "POST" {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		made, err := p.app.Mails.Try(v.R.Context(), v.Actor, form.Get("to"))
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(v.At(fmt.Sprintf("%s/%d", mailsAt, made.ID)), "The mail is made. This page says what the server answers.")
		}
	}
	return v.Show(p.Pages, "try-mail.html", shell.Page{
		Title: "Try the mail server", Menu: "/settings", Path: []shell.Link{{Text: "Mails", Href: v.At(mailsAt)}}, Data: form,
	})
}
