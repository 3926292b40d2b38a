package cli

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"os"
	"strings"
	"time"

	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	mails "holdfast/internal/notify/mail"
	"holdfast/internal/store"
)

// mailCmd groups the mail commands.
type mailCmd struct {
	List   mailListCmd   `cmd:"" help:"List e-mails and their delivery state."`
	Show   mailShowCmd   `cmd:"" help:"Show an e-mail and its text."`
	Resend mailResendCmd `cmd:"" help:"Resend an e-mail."`
	Test   mailTestCmd   `cmd:"" help:"Send a test e-mail to check the settings."`
}

// mailListCmd lists mails.
type mailListCmd struct {
	listFlags
	State        []string `placeholder:"STATE" help:"Only these states: outbox, waiting, sending, sent, dead, unknown."`
	Kind         []string `placeholder:"KIND" help:"Only these kinds: receipt, refund, failure, chargeback, reversal, webhook, insolvency, report and others."`
	Bookings     []int64  `placeholder:"ID" help:"Only e-mails about these bookings, by id."`
	Transactions []int64  `placeholder:"ID" help:"Only e-mails about these transactions, by id."`
}

// Run prints a line for each mail.
func (c mailListCmd) Run(ctx context.Context, p *program) error {
	filter := mails.Filter{Bookings: c.Bookings, Transactions: c.Transactions}
	var err error
	if filter.States, err = oneOf("state", c.State, mails.States); err != nil {
		return err
	}
	if filter.Kinds, err = oneOf("kind", c.Kind, mails.Kinds); err != nil {
		return err
	}
	return printList(ctx, p, c.listFlags, listing[mails.Mail]{
		read: func(actor access.Actor, page store.Page) (store.List[mails.Mail], error) {
			return p.app.Mails.List(ctx, actor, filter, page)
		},
		shape:   func(m mails.Mail) any { return view.ShowMail(m) },
		columns: columnsOf("id queued kind state recipient copy booking transaction attempts answer"),
		row: func(m mails.Mail) []cell {
			return []cell{
				ident(m.ID), instant(m.QueuedAt), words(string(m.Kind)), words(string(m.State)), words(m.Recipient), yesNo(m.Copy),
				maybeIdent(m.BookingID), maybeIdent(m.TransactionID), count(m.Attempts), words(m.Answer),
			}
		},
		none: "No e-mails.",
	})
}

// maybeIdent is an id, or empty.
func maybeIdent(id int64) cell {
	if id == 0 {
		return cell{}
	}
	return ident(id)
}

// mailShowCmd shows one mail.
type mailShowCmd struct {
	siteFlag
	ID     int64  `arg:"" help:"E-mail id."`
	JSON   bool   `name:"json" help:"Print JSON, as returned by the API."`
	Output string `short:"o" placeholder:"FILE" help:"Write the HTML version to this file, to view in a browser."`
}

// Run prints it.
func (c mailShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, text, err := p.app.Mails.Get(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(view.ShowMailText(found, text))
	}
	p.printf("Mail %d, %s, queued %s GMT: %s\n", found.ID, found.Kind, civil.FormatInstant(found.QueuedAt), found.State)
	if found.Answer != "" {
		p.printf("Response: %s\n", found.Answer)
	}
	if found.Forgotten {
		p.printf("Its recipient and text have been deleted.\n")
		return nil
	}
	if c.Output != "" {
		if err := os.WriteFile(c.Output, []byte(text.Page()), 0o600); err != nil {
			return fmt.Errorf("cannot write the HTML: %w", err)
		}
		p.printf("HTML written to %s.\n", c.Output)
	}
	p.printf("To: %s\nSubject: %s\n\n%s", found.Recipient, text.Subject, text.Text)
	return nil
}

// mailResendCmd sends a mail again.
type mailResendCmd struct {
	siteFlag
	ID int64 `arg:"" help:"E-mail id."`
}

// Help explains when this is needed.
func (mailResendCmd) Help() string {
	return "An e-mail in state dead was rejected permanently, or for three days. One in state unknown may have been sent: holdfast " +
		"never sends it twice automatically, but you can. An e-mail to a traveller goes to the booking's current address. This " +
		"command only queues it; the service sends it."
}

// Run queues it.
func (c mailResendCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Mails.Resend(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	p.printf("Queued e-mail %d to %s\n", made.ID, made.Recipient)
	return nil
}

// mailTestCmd sends a test mail.
type mailTestCmd struct {
	siteFlag
	To string `arg:"" help:"Recipient's e-mail address."`
}

// errNotSent is the error of a test mail that was not accepted. The reason has been printed already.
var errNotSent = errors.New("the test mail was not sent")

// Run queues the mail, tries once to send due mails, and prints the outcome.
func (c mailTestCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Mails.Try(ctx, actor, c.To)
	if err != nil {
		return err
	}
	_, err = p.app.Mails.Send(ctx)
	found, _, reading := p.app.Mails.Get(ctx, actor, made.ID)
	if reading != nil {
		return reading
	}
	if err != nil && found.State == mails.Waiting && found.Attempts == 0 {
		return err
	}
	p.printf("E-mail %d to %s: %s, %s\n", found.ID, found.Recipient, found.State, found.Answer)
	if found.State != mails.Sent {
		return errNotSent
	}
	return nil
}

// transport returns the transport to the configured mail server, or nil if none is set.
func (c Config) transport() (*mails.SMTP, error) {
	if c.SMTPURL == "" {
		return nil, nil
	}
	s, err := mails.ParseSMTP(c.SMTPURL, mails.TLS(c.SMTPTLS))
	if err != nil {
		return nil, fmt.Errorf("--smtp-url: %w", err)
	}
	if parsed, err := mail.ParseAddress(c.MailFrom); err != nil || parsed.Address != c.MailFrom {
		return nil, errors.New("--mail-from must be the e-mail address of the sender, such as receipts@protection.example")
	}
	if c.SMTPTimeout <= 0 || c.SMTPTimeout > 20*time.Second {
		return nil, errors.New("--smtp-timeout must be greater than 0 and at most 20s")
	}
	if c.MailsAtOnce <= 0 || c.MailsPerMinute <= 0 {
		return nil, errors.New("--mails-at-once and --mails-per-minute must be greater than 0")
	}
	s.From, s.Timeout, s.AtOnce, s.PerMinute = c.MailFrom, c.SMTPTimeout, c.MailsAtOnce, c.MailsPerMinute
	if c.SMTPPasswordFile != "" {
		s.Password = func() (string, error) {
			text, err := os.ReadFile(c.SMTPPasswordFile)
			if err != nil {
				return "", fmt.Errorf("--smtp-password-file: %w", err)
			}
			return strings.TrimRight(string(text), "\r\n"), nil
		}
	}
	return s, nil
}
