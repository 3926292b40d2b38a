package mail_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/book/imports"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/platform/audit"
	"holdfast/internal/psp"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// post is a world with a mail server.
type post struct {
	*apptest.World
	t       *testing.T
	server  *server
	channel merchant.Channel
}

func onBoth(t *testing.T, test func(t *testing.T, p *post)) {
	t.Helper()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		p := &post{World: w, t: t, server: serve(t, &server{}, nil, false)}
		w.App.Mails.Transport, w.App.Mails.Sandboxes = p.server.transport(), true
		p.channel = w.Channel(merchant.ModeProtectionOnly, "GBP")
		test(t, p)
	})
}

// set changes the channel.
func (p *post) set(f merchant.ChannelFields) {
	p.t.Helper()
	changed, err := p.App.Channels.Change(p.t.Context(), p.Actor, p.channel.ID, f)
	if err != nil {
		p.t.Fatal(err)
	}
	p.channel = changed
}

// pay creates a booking and its payment.
func (p *post) pay(total int64) (booking.Booking, payment.Transaction) {
	p.t.Helper()
	b := p.Booking(p.channel, total, "2024-09-14")
	return b, p.Must(apptest.Report(payment.Purchase, b, total))
}

// follow creates the e-mails about new events.
func (p *post) follow() {
	p.t.Helper()
	for more := true; more; {
		var err error
		if more, err = p.App.Mails.Follow(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
	}
}

// send sends the e-mails that are due.
func (p *post) send() error {
	for {
		if more, err := p.App.Mails.Send(p.t.Context()); err != nil || !more {
			return err
		}
	}
}

// list reads all e-mails of the site.
func (p *post) list() []mail.Mail {
	p.t.Helper()
	found, err := p.App.Mails.List(p.t.Context(), p.Actor, mail.Filter{}, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
	if err != nil {
		p.t.Fatal(err)
	}
	return found.Items
}

// want compares the mails with lines of kind, recipient, copy and state.
func (p *post) want(lines ...string) {
	p.t.Helper()
	got := []string{}
	for _, m := range p.list() {
		line := fmt.Sprintf("%s %s %s", m.Kind, m.Recipient, m.State)
		if m.Copy {
			line += " copy"
		}
		got = append(got, line)
	}
	if !slices.Equal(got, lines) {
		p.t.Errorf("the mails are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

// TestEachEventIsMailedOnce: several processes follow and send at the same time, and stop at any point.
func TestEachEventIsMailedOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		list, copies := "shop@example.org, desk@example.org", true
		p.set(merchant.ChannelFields{PrimaryMail: &list, MailBCC: &copies})
		const payments = 6
		for range payments {
			p.pay(1000)
		}
		other := apptest.Over(t, p.World, dbtest.Open(t, p.URL, p.Now))
		other.App.Mails.Transport, other.App.Mails.Sandboxes = p.server.transport(), true
		together := func(do func(*mail.Mails) error) {
			var running sync.WaitGroup
			for _, mails := range []*mail.Mails{p.App.Mails, other.App.Mails, p.App.Mails} {
				running.Go(func() {
					if err := do(mails); err != nil {
						t.Error(err)
					}
				})
			}
			running.Wait()
		}
		together(func(m *mail.Mails) error {
			_, err := m.Follow(t.Context())
			return err
		})
		p.follow()
		if n := len(p.list()); n != 3*payments {
			t.Fatalf("%d mails are queued, want %d", n, 3*payments)
		}
		together(func(m *mail.Mails) error {
			_, err := m.Send(t.Context())
			return err
		})
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, m := range p.server.got() {
			id := m.data[strings.Index(m.data, "Message-ID: "):]
			id, _, _ = strings.Cut(id, "\r\n")
			seen[m.to[0]]++
			seen[id]++
			if !strings.Contains(m.data, "<ada@example.org>") {
				t.Errorf("a copy is not addressed to the traveller:\n%s", m.data)
			}
		}
		if seen["ada@example.org"] != payments || seen["shop@example.org"] != payments || len(seen) != 3*payments+3 {
			t.Errorf("the server has %v", seen)
		}
	})
}

// TestOutcomesOfAnAttempt: growing pauses, three days, rejections, and unknown outcomes.
func TestOutcomesOfAnAttempt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		_, _ = p.pay(1000)
		p.follow()
		p.server.rcpt = answer(452)
		began, tries := p.Now(), 0
		for state := mail.Waiting; state == mail.Waiting; state = p.list()[0].State {
			if err := p.send(); err != nil {
				t.Fatal(err)
			}
			m := p.list()[0]
			if tries++; m.State == mail.Waiting && m.NextAt.Sub(p.Now()) != mail.Pause(int64(tries)) {
				t.Fatalf("after attempt %d it waits %s", tries, m.NextAt.Sub(p.Now()))
			}
			if m.State == mail.Waiting {
				p.SetClock(m.NextAt)
			}
		}
		if took := p.Now().Sub(began); took > mail.GiveUpAfter || took < mail.GiveUpAfter-6*time.Hour || tries < 15 || tries > 30 {
			t.Errorf("it was given up after %d attempts in %s", tries, took)
		}
		p.want("receipt ada@example.org dead")
		if m := p.list()[0]; !strings.HasPrefix(m.Answer, "452 ") {
			t.Errorf("the answer is %q", m.Answer)
		}
		p.server.rcpt, p.server.data = nil, cut
		p.pay(2000)
		p.follow()
		for range 3 { // once it is unknown, it is not sent again by itself
			if err := p.send(); err != nil {
				t.Fatal(err)
			}
			p.Advance(7 * time.Hour)
		}
		if p.want("receipt ada@example.org dead", "receipt ada@example.org unknown"); len(p.server.got()) != 1 {
			t.Errorf("the server has seen the mail %d times", len(p.server.got()))
		}
	})
}

// TestACrashWhileSending: the server has accepted the e-mail, and the process dies before it has recorded that.
func TestACrashWhileSending(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		p.pay(1000)
		p.follow() // and a crash here loses nothing: another process sends it
		store := dbtest.Open(t, p.URL, p.Now)
		dying := apptest.Over(t, p.World, store)
		dying.App.Mails.Transport, dying.App.Mails.Sandboxes = p.server.transport(), true
		ctx, stop := context.WithCancel(t.Context())
		p.server.data = dies(store, stop)
		if _, err := dying.App.Mails.Send(ctx); err == nil {
			t.Fatal("the process has survived")
		}
		p.server.data = nil
		p.want("receipt ada@example.org sending")
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		p.want("receipt ada@example.org sending")
		if _, err := p.App.Mails.Resend(t.Context(), p.Actor, p.list()[0].ID); !errs.Is(err, errs.NotPossible) {
			t.Errorf("it is sent again while it is being sent: %v", err)
		}
		p.Advance(mail.LostAfter)
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		p.want("receipt ada@example.org unknown")
		if len(p.server.got()) != 1 {
			t.Errorf("the server has %d mails", len(p.server.got()))
		}
		// A person decides to send it again.
		if _, err := p.App.Mails.Resend(t.Context(), p.Actor, p.list()[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		if p.want("receipt ada@example.org sent"); len(p.server.got()) != 2 {
			t.Errorf("the server has %d mails", len(p.server.got()))
		}
	})
}

// TestAServerThatIsDown: it costs one round of attempts, and all mails are sent when it is back.
func TestAServerThatIsDown(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		for range 10 {
			p.pay(1000)
		}
		p.follow()
		p.server.from = answer(550)
		if err := p.send(); err == nil {
			t.Error("no one is notified")
		}
		tried := 0
		for _, m := range p.list() {
			tried += int(m.Attempts)
		}
		if tried == 0 || tried > p.App.Mails.Transport.AtOnce {
			t.Errorf("%d attempts were made", tried)
		}
		p.server.from = nil
		p.Advance(time.Minute)
		p.App.Mails.Transport.PerMinute = 7
		for _, want := range []int{7, 7, 10} {
			if err := p.send(); err != nil {
				t.Fatal(err)
			}
			if n := len(p.server.got()); n != want {
				t.Errorf("%d mails were sent, want %d", n, want)
			}
			if want == 7 {
				p.Advance(30 * time.Second)
			}
		}
	})
}

// TestResend: to the booking's current address, with permission, and not when it is too late.
func TestResend(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		b, _ := p.pay(1000)
		p.follow()
		p.server.rcpt = answer(550)
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		p.want("receipt ada@example.org dead")
		p.server.rcpt = nil
		id, mended := p.list()[0].ID, "ada.byron@example.org"
		if _, err := p.App.Bookings.Update(t.Context(), p.Actor, b.ID, booking.BookingFields{Email: &mended}); err != nil {
			t.Fatal(err)
		}
		reader := access.Actor{SiteID: p.Site.ID, Role: access.Finance}
		if _, err := p.App.Mails.Resend(t.Context(), reader, id); !errs.Is(err, errs.Forbidden) {
			t.Errorf("finance sends mails: %v", err)
		}
		if _, err := p.App.Mails.Resend(t.Context(), p.Actor, id+1); !errs.Is(err, errs.SettingNotFound) {
			t.Errorf("a mail that is not there: %v", err)
		}
		if _, err := p.App.Mails.Resend(t.Context(), p.Actor, id); err != nil {
			t.Fatal(err)
		}
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		p.want("receipt ada.byron@example.org sent")
		if got := p.server.got(); len(got) != 1 || !strings.Contains(got[0].data, "<ada.byron@example.org>") {
			t.Errorf("the server has %v", got)
		}
		records, err := p.App.Audit.List(t.Context(), p.Actor, audit.Filter{Actions: []string{"mail.resend"}}, store.Page{Number: 1, Size: 10, Offset: -1})
		if err != nil || len(records.Items) != 1 {
			t.Errorf("the audit has %v, %v", records.Items, err)
		}
		p.App.Mails.Transport = nil
		if _, err := p.App.Mails.Resend(t.Context(), p.Actor, id); !errs.Is(err, errs.NotPossible) {
			t.Errorf("without a server: %v", err)
		}
		p.App.Mails.Transport = p.server.transport()
		p.Advance(mail.Remember)
		if more, err := p.App.Mails.Forget(t.Context()); more || err != nil {
			t.Fatal(more, err)
		}
		p.want("receipt  sent")
		found, text, err := p.App.Mails.Get(t.Context(), p.Actor, id)
		if err != nil || !found.Forgotten || text.Text != "" || found.Answer != "250" {
			t.Errorf("%+v, %q, %v", found, text.Text, err)
		}
		if _, err := p.App.Mails.Resend(t.Context(), p.Actor, id); !errs.Is(err, errs.NotPossible) {
			t.Errorf("what was forgotten is sent: %v", err)
		}
	})
}

// second is a second site in the same database, with its own channel.
func (p *post) second() *post {
	p.t.Helper()
	other := &post{World: apptest.Over(p.t, p.World, p.App.DB.Store), t: p.t, server: p.server}
	dbtest.Write(p.t, p.App.DB.Store, func(tx *store.Tx) (err error) {
		other.Site, err = dbtest.InsertSite(tx, merchant.Site{Path: "beside", Name: "Beside", Sandbox: true, Policy: terms.DefaultPolicy("GBP")})
		return err
	})
	other.App.Config.Keys, other.Actor = p.App.Config.Keys, access.System(other.Site.ID)
	other.channel = other.Channel(merchant.ModeProtectionOnly, "GBP")
	return other
}

// TestOneSiteStopsNoOther: a site whose e-mails cannot be created is reported, and the others continue.
func TestOneSiteStopsNoOther(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		p.pay(1000)
		p.follow()
		other := p.second()
		for range mail.FollowBatch + 1 {
			other.pay(1000)
		}
		// The e-mails of the first site already exist, so they cannot be created again.
		dbtest.Write(t, p.App.DB.Store, func(tx *store.Tx) error {
			_, err := tx.Exec(`UPDATE mail_marks SET position = 0 WHERE site_id = $1`, p.Site.ID)
			return err
		})
		if _, err := p.App.Mails.Follow(t.Context()); err == nil || !strings.Contains(err.Error(), "site 1:") {
			t.Errorf("no error is reported: %v", err)
		}
		if n := len(other.list()); n != mail.FollowBatch+1 {
			t.Errorf("the other site has %d mails", n)
		}
		if n := len(p.list()); n != 1 {
			t.Errorf("the first site has %d mails", n)
		}
	})
}

// TestSitesTakeTurns: a site with many e-mails does not delay the others.
func TestSitesTakeTurns(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		list, copies := "shop@example.org, desk@example.org", true
		p.set(merchant.ChannelFields{PrimaryMail: &list, MailBCC: &copies})
		for range 2 {
			p.pay(1000)
		}
		p.follow()
		other := p.second()
		other.pay(1000)
		other.pay(1000)
		p.follow()
		p.App.Mails.Transport.PerMinute = 3
		sent := func(p *post) (n int) {
			for _, m := range p.list() {
				if m.State == mail.Sent {
					n++
				}
			}
			return n
		}
		for _, want := range [][2]int{{2, 1}, {4, 2}, {6, 2}} {
			if err := p.send(); err != nil {
				t.Fatal(err)
			}
			if got := [2]int{sent(p), sent(other)}; got != want {
				t.Errorf("of the two sites %d mails are sent, want %d", got, want)
			}
			p.Advance(time.Minute)
		}
	})
}

// TestAWriteOfMailsIsBounded: for any number of addresses, and each event is completed.
func TestAWriteOfMailsIsBounded(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		list, copies := "shop@example.org, desk@example.org", true
		p.set(merchant.ChannelFields{PrimaryMail: &list, MailBCC: &copies})
		p.App.Mails.Batch = 4
		for range 3 {
			p.pay(1000)
		}
		for _, want := range []int{6, 9, 9} {
			if err := p.App.Mails.Turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := len(p.list()); n != want {
				t.Errorf("there are %d mails, want %d", n, want)
			}
		}
	})
}

// TestASandboxSendsNothing: neither on request, nor e-mails that were queued under other settings.
func TestASandboxSendsNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		p.pay(1000)
		p.follow()
		p.want("receipt ada@example.org waiting")
		p.App.Mails.Sandboxes = false
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		p.want("receipt ada@example.org outbox")
		id := p.list()[0].ID
		if _, err := p.App.Mails.Resend(t.Context(), p.Actor, id); !errs.Is(err, errs.NotPossible) {
			t.Errorf("a mail of a sandbox is sent: %v", err)
		}
		if _, err := p.App.Mails.Try(t.Context(), p.Actor, "ops@example.org"); err != nil {
			t.Error(err)
		}
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		if got := p.server.got(); len(got) != 1 || got[0].to[0] != "ops@example.org" {
			t.Errorf("the server has %v", got)
		}
		p.App.Mails.Sandboxes = true
		if _, err := p.App.Mails.Resend(t.Context(), p.Actor, id); err != nil {
			t.Error(err)
		}
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		p.want("receipt ada@example.org sent", "test ops@example.org sent")
	})
}

// TestHeadsAreMailed: each head is on a separate line, so that the lines can be passed to verify.
func TestHeadsAreMailed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		p.App.Mails.Sandboxes = false
		line := `{"site":"demo","chain":"facts","count":120000,"hash":"` + strings.Repeat("0123456789abcdef", 4) + `","at":"2026-11-22T18:00:00.123456Z"}`
		made, err := p.App.Mails.SendHeads(t.Context(), p.Actor, "ops@example.org", []string{line})
		if err != nil {
			t.Fatal(err)
		}
		if _, message, err := p.App.Mails.Get(t.Context(), p.Actor, made.ID); err != nil || !strings.Contains(message.Text, "\n"+line+"\n") {
			t.Errorf("the mail says %v\n%s", err, message.Text)
		}
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		p.want("heads ops@example.org sent")
		p.App.Mails.Transport = nil
		if _, err := p.App.Mails.SendHeads(t.Context(), p.Actor, "ops@example.org", []string{line}); !errs.Is(err, errs.NotPossible) {
			t.Errorf("without a server: %v", err)
		}
	})
}

// TestWhatIsNoNews: imported books, old payments, and e-mails that a sandbox only shows.
func TestWhatIsNoNews(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		b := p.Booking(p.channel, 5000, "2024-09-14")
		old, recent := p.Now().Add(-mail.OldNews-time.Second), p.Now().Add(-mail.OldNews)
		for _, at := range []time.Time{old, recent} {
			in := apptest.Report(payment.Purchase, b, 1000)
			in.EffectiveAt = at
			p.Must(in)
		}
		p.follow()
		p.want("receipt ada@example.org waiting")
		p.App.Mails.Sandboxes = false
		p.pay(1000)
		p.follow()
		p.want("receipt ada@example.org waiting", "receipt ada@example.org outbox")
		p.App.Mails.Sandboxes, p.App.Mails.Transport = true, nil
		paid, purchase := p.pay(1000)
		p.follow()
		p.App.Mails.Transport = p.server.transport()
		p.Must(apptest.Linked(payment.Refund, purchase, paid, 400))
		p.follow()
		p.want("receipt ada@example.org waiting", "receipt ada@example.org outbox", "receipt ada@example.org outbox",
			"refund ada@example.org waiting")
		if _, text, err := p.App.Mails.Get(t.Context(), p.Actor, p.list()[3].ID); err != nil || !strings.Contains(text.Text, "£4.00") ||
			!strings.Contains(text.Text, "£6.00") {
			t.Errorf("the refund says\n%s%v", text.Text, err)
		}
		// E-mails about events from days without a running job are shown, not sent.
		p.pay(1000)
		p.Advance(mail.GiveUpAfter + time.Second)
		p.follow()
		if m := p.list()[4]; m.State != mail.Dead {
			t.Errorf("it is %s", m.State)
		}
	})
}

// TestABookIsNoNews: an import sends nothing, but a payment for one of its bookings sends to its traveller.
func TestABookIsNoNews(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		report, failures := p.Imported(apptest.Protect, apptest.ARow(2, "1", func(r *imports.ImportedPayment) { r.Payment.EffectiveAt = p.Now() }))
		if report.Payments.Created != 1 {
			t.Fatalf("%+v, %v", report, failures)
		}
		p.follow()
		p.want()
		p.Must(apptest.Report(payment.Purchase, p.ReadBooking(1), 5000))
		p.follow()
		p.want("receipt ana@example.org waiting")
	})
}

// TestMerchantsAreNotified: about failures if enabled, and about chargebacks and their reversals.
func TestMerchantsAreNotified(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		p := &post{World: w.World, t: t, server: &server{}, channel: w.Channel}
		list, disputes, german := "shop@example.org", "disputes@example.org, law@example.org", "deDE"
		p.set(merchant.ChannelFields{
			PrimaryMail: &list, Language: &german, Profile: merchant.ServerToServerProfile, ProcessorFields: merchant.ProcessorFields{ChargebackMail: &disputes},
		})
		decline := func() {
			w.Gateway.Set(psp.Purchase, apptest.Declined)
			if made := p.Must(apptest.Pay(payment.Purchase, p.Booking(p.channel, 900, "2024-09-14"), 900)); made.Status != payment.StatusFailed {
				t.Fatalf("it is %s", made.Status)
			}
			p.follow()
		}
		decline()
		p.want()
		yes := true
		p.set(merchant.ChannelFields{Profile: merchant.ServerToServerProfile, ProcessorFields: merchant.ProcessorFields{MailFailures: &yes}})
		decline()
		p.want("failure shop@example.org outbox")
		b := p.Booking(p.channel, 1000, "2024-09-14")
		made := p.Must(apptest.Pay(payment.Purchase, b, 1000))
		p.Must(apptest.Linked(payment.Chargeback, made, b, 1000))
		p.follow()
		p.want("failure shop@example.org outbox", "receipt ada@example.org outbox", "chargeback disputes@example.org outbox",
			"chargeback law@example.org outbox")
		reversal := apptest.Linked(payment.ChargebackReversal, made, b, 400)
		reversal.EffectiveAt = p.Now()
		p.Advance(mail.OldNews + time.Minute) // the bank reports it late
		p.Must(reversal)
		p.follow()
		p.want("failure shop@example.org outbox", "receipt ada@example.org outbox", "chargeback disputes@example.org outbox",
			"chargeback law@example.org outbox", "reversal disputes@example.org outbox", "reversal law@example.org outbox")
		if _, text, err := p.App.Mails.Get(t.Context(), p.Actor, p.list()[4].ID); err != nil || !strings.Contains(text.Subject, "4,00") {
			t.Errorf("the reversal is called %q, %v", text.Subject, err)
		}
		for _, m := range p.list() {
			if _, text, err := p.App.Mails.Get(t.Context(), p.Actor, m.ID); err != nil || m.Kind != mail.Receipt && text.Language != "de-DE" {
				t.Errorf("%s in %s: %v", m.Kind, text.Language, err)
			}
		}
	})
}

// TestNewsThatComesLate: a processor reports a dispute, or the outcome of a payment, days later.
func TestNewsThatComesLate(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		p := &post{World: w.World, t: t, server: &server{}, channel: w.Channel}
		disputes := "disputes@example.org"
		p.set(merchant.ChannelFields{
			Profile: merchant.ServerToServerProfile, ProcessorFields: merchant.ProcessorFields{ChargebackMail: &disputes},
		})
		b := p.Booking(p.channel, 1000, "2024-09-14")
		paid := p.Must(apptest.Pay(payment.Purchase, b, 1000))
		p.follow()
		opened := p.Now()
		p.Advance(mail.OldNews + time.Minute)
		w.Dispute(paid, payment.Dispute{ProcessorID: "dp-1", Outcome: payment.DisputePending, Total: 1000, Currency: paid.Currency, OpenedAt: opened})
		w.Events(paid)
		p.follow()
		p.want("receipt ada@example.org outbox", "chargeback disputes@example.org outbox")
		p.Advance(mail.OldNews + time.Minute)
		w.Dispute(paid, payment.Dispute{
			ProcessorID: "dp-1", Outcome: payment.DisputeWon, Total: 1000, Currency: paid.Currency, OpenedAt: opened, ReasonCode: "13.1",
		})
		w.Events(paid)
		p.follow()
		p.want("receipt ada@example.org outbox", "chargeback disputes@example.org outbox", "reversal disputes@example.org outbox")
		w.Gateway.Set(psp.Purchase, apptest.LostAfter)
		b = p.Booking(p.channel, 2000, "2024-09-14")
		if made := p.Must(apptest.Pay(payment.Purchase, b, 2000)); made.Status == payment.StatusComplete {
			t.Fatalf("it is %s", made.Status)
		}
		p.Advance(mail.OldNews + time.Minute)
		w.Jobs()
		p.follow()
		p.want("receipt ada@example.org outbox", "chargeback disputes@example.org outbox", "reversal disputes@example.org outbox",
			"receipt ada@example.org outbox")
	})
}

// TestARestoredDatabase: pending e-mails in a backup may have been sent since.
func TestARestoredDatabase(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		p.pay(1000)
		p.follow()
		p.pay(2000) // it has no mail yet
		dbtest.Write(t, p.App.DB.Store, mail.Restored)
		p.follow()
		p.pay(3000)
		p.follow()
		p.want("receipt ada@example.org unknown", "receipt ada@example.org unknown", "receipt ada@example.org waiting")
	})
}

// dies closes the database of a process while the server has its mail.
func dies(store *store.DB, stop func()) func(*smtpConn) error {
	return func(*smtpConn) error {
		stop()
		return store.Close()
	}
}
