package mail

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// dataTimes is how many times longer than for other answers a server may take for the answer to the text of a mail.
const dataTimes = 3

// TLS says how the way to a mail server is protected.
type TLS string

// The ways to use TLS.
const (
	Automatic TLS = "auto"     // by the scheme: smtps is Implicit, smtp is STARTTLS, and on this machine None
	STARTTLS  TLS = "starttls" // the connection begins in the open and must change to TLS before anything is said
	Implicit  TLS = "implicit" // TLS from the first byte
	None      TLS = "none"     // in the open: on this machine only
)

// SMTP sends mails through a mail server.
type SMTP struct {
	Host      string
	Port      int
	Username  string                 // "" for a server that asks for no name
	Password  func() (string, error) // read at each use, so that a new one needs no restart; nil for none
	TLS       TLS                    // never Automatic
	From      string                 // the address of the sender
	AtOnce    int                    // how many mails are sent at the same time
	PerMinute int                    // how many attempts begin in a minute
	Timeout   time.Duration          // of connecting, and of each answer
	Roots     *x509.CertPool         // nil for the certificates that the machine trusts
}

// ParseSMTP reads the address of a mail server, such as smtp://user:password@mail.example:587 or smtps://mail.example, and
// how TLS is used. It refuses to send in the open to another machine.
func ParseSMTP(address string, way TLS) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must be a URL such as smtp://user@mail.example:587 or smtps://mail.example")
	}
	s := &SMTP{Host: u.Hostname(), Port: 587, Username: u.User.Username(), TLS: way, AtOnce: 4, PerMinute: 120, Timeout: 10 * time.Second}
	near := onThisMachine(s.Host)
	switch {
	case u.Scheme == "smtps" && (way == STARTTLS || way == None):
		return nil, fmt.Errorf("smtps:// means TLS from the first byte, and not %s", way)
	case way == Implicit || u.Scheme == "smtps":
		s.TLS, s.Port = Implicit, 465
	case way == None && !near:
		return nil, errors.New("without TLS, e-mails can only go to a server on this machine")
	case way == Automatic && near:
		s.TLS = None
	case way == Automatic:
		s.TLS = STARTTLS
	}
	if text := u.Port(); text != "" {
		if s.Port, err = strconv.Atoi(text); err != nil || s.Port < 1 || s.Port > 65535 {
			return nil, errors.New("the port must be between 1 and 65535")
		}
	}
	if password, ok := u.User.Password(); ok {
		s.Password = func() (string, error) { return password, nil }
	}
	return s, nil
}

// onThisMachine reports whether a host is this machine.
func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// send makes one attempt. It says whether the server has taken the mail, as far as that can be known. When ctx ends before
// the text is under way, it stops.
func (s *SMTP) send(ctx context.Context, m Mail, text Message) result {
	data, err := s.encode(m, text)
	if err != nil {
		return refused("The e-mail could not be created: " + err.Error())
	}
	conn, err := s.dial(ctx, data.utf8)
	if err != nil { // nothing of this mail was said yet
		return unusable(err)
	}
	// Whatever the server says to QUIT, the outcome stands.
	defer func() { _, _ = conn.UpdateDeadline(s.Timeout), conn.Quit() }()
	for _, step := range []struct {
		do     func() error
		sender bool // it is about the sender, who is the same for all mails
	}{
		{func() error { return conn.Mail("<" + s.From + ">") }, true},
		{func() error { return conn.Rcpt("<" + m.Recipient + ">") }, false},
	} {
		if err := s.within(ctx, conn, step.do); err != nil {
			return judge(err, step.sender)
		}
	}
	var to io.WriteCloser
	err = s.within(ctx, conn, func() (err error) {
		to, err = conn.Data()
		return err
	})
	if err != nil {
		return judge(err, false)
	}
	// A server looks into the mail before it answers, so it gets more time.
	if err := conn.UpdateDeadline(dataTimes * s.Timeout); err != nil {
		return judge(err, false)
	}
	if _, err := to.Write(data.bytes); err != nil {
		return judge(err, false)
	}
	err = to.Close()
	said, ok := errors.AsType[*textproto.Error](err)
	switch {
	case err == nil:
		return result{kind: taken, answer: answerOf(to)}
	case ok && (said.Code/100 == 4 || said.Code/100 == 5):
		return judge(err, false)
	default:
		return result{kind: lost, answer: "The server received the e-mail, but its response was lost: " + err.Error()}
	}
}

// within runs one step of a conversation within the time for an answer.
func (s *SMTP) within(ctx context.Context, conn *smtp.Client, step func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := conn.UpdateDeadline(s.Timeout); err != nil {
		return err
	}
	return step()
}

// judge says what an error before the end of the data means: the server has not taken the mail. Codes from 500 on are for
// good, unless they are about the sender.
func judge(err error, sender bool) result {
	said, ok := errors.AsType[*textproto.Error](err)
	switch {
	case ok && said.Code/100 == 5 && sender:
		return unusable(err)
	case ok && said.Code/100 == 5:
		return refused(err.Error())
	default:
		return result{kind: later, answer: err.Error()}
	}
}

// unusable is the result when the server takes no mails at all now.
func unusable(err error) result {
	err = fmt.Errorf("invalid mail server: %w", err)
	return result{kind: later, answer: err.Error(), down: err}
}

// answerOf is what the server has said about the data.
func answerOf(data io.WriteCloser) string {
	if closer, ok := data.(*smtp.DataCloser); ok {
		return "250 " + closer.ServerResponse()
	}
	return "250"
}

// dial connects to the server, changes to TLS and logs in. wide allows letters outside ASCII in addresses.
func (s *SMTP) dial(ctx context.Context, wide bool) (*smtp.Client, error) {
	options := []gomail.Option{
		gomail.WithPort(s.Port), gomail.WithTimeout(s.Timeout), gomail.WithHELO(domainOf(s.From)),
		gomail.WithTLSConfig(&tls.Config{ServerName: s.Host, MinVersion: tls.VersionTLS12, RootCAs: s.Roots}),
	}
	switch s.TLS {
	case Implicit:
		options = append(options, gomail.WithSSL())
	case None:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if !wide {
		options = append(options, gomail.WithoutSMTPUTF8())
	}
	if s.Username != "" {
		password := ""
		if s.Password != nil {
			var err error
			if password, err = s.Password(); err != nil {
				return nil, err
			}
		}
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.Username),
			gomail.WithPassword(password))
	}
	client, err := gomail.NewClient(s.Host, options...)
	if err != nil {
		return nil, err
	}
	return client.DialToSMTPClientWithContext(ctx)
}

// encoded is a mail as it goes to the server.
type encoded struct {
	bytes []byte
	utf8  bool // an address has letters outside ASCII
}

// encode makes the mail. Its headers are made by the library from single values: it encodes what is not plain, so that no
// name can add a header or an address. clean removes line breaks before, too.
func (s *SMTP) encode(m Mail, text Message) (encoded, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(&mail.Address{Name: clean(m.Letter.Sender, maxName), Address: s.From})
	to := cmp.Or(m.Letter.To, m.Recipient)
	msg.SetAddrHeaderFromMailAddress(gomail.HeaderTo, &mail.Address{Name: clean(m.Letter.Name, maxName), Address: to})
	msg.Subject(clean(text.Subject, maxSubject))
	msg.SetMessageIDWithValue(s.messageID(m))
	msg.SetDateWithValue(m.AskedAt)
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("X-Auto-Response-Suppress", "All")
	msg.SetGenHeader("Content-Language", text.Language)
	msg.SetBodyString(gomail.TypeTextPlain, text.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, text.HTML)
	if text.Code != nil {
		err := msg.EmbedReader(codeName+".png", bytes.NewReader(text.Code), gomail.WithFileContentID(codeName),
			gomail.WithFileContentType("image/png"))
		if err != nil {
			return encoded{}, err
		}
	}
	if text.File != nil {
		err := msg.AttachReader(clean(text.File.Name, maxName), bytes.NewReader(text.File.Content),
			gomail.WithFileContentType(gomail.ContentType(text.File.Type)))
		if err != nil {
			return encoded{}, err
		}
	}
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		return encoded{}, err
	}
	ascii := func(address string) bool {
		return !strings.ContainsFunc(address, func(r rune) bool { return r >= utf8.RuneSelf })
	}
	return encoded{b.Bytes(), !ascii(s.From) || !ascii(to) || !ascii(m.Recipient)}, nil
}

// messageID is the same each time that a mail is sent, so that a mail program can see doubles. It has the time when the mail
// was queued: a database that was restored may give an id out twice.
func (s *SMTP) messageID(m Mail) string {
	return fmt.Sprintf("%d.%d.%d@%s", m.SiteID, m.ID, m.QueuedAt.UnixMicro(), domainOf(s.From))
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// The longest texts in headers and answers, in characters.
const (
	maxName    = 200
	maxSubject = 200
	maxAnswer  = 500
)

// clean makes a text fit for one line: control characters and line breaks become spaces, and what is too long is cut.
// Characters that turn the direction of writing or hide are removed: they make a name look like another one.
func clean(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError:
			return -1
		default:
			return r
		}
	}, text)
	// Some mail programs decode this even where they must not, and what comes out may be line breaks.
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "=?", "= ?")
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit-1]) + "…"
	}
	return text
}
