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
	"golang.org/x/net/idna"
)

// dataTimes is how many times the normal timeout a server gets to respond to an e-mail's text.
const dataTimes = 3

// TLS is how the connection to a mail server is secured.
type TLS string

// The ways to use TLS.
const (
	Automatic TLS = "auto"     // by scheme: smtps is Implicit, smtp is STARTTLS, or None on this machine
	STARTTLS  TLS = "starttls" // the connection starts in plain text and must switch to TLS first
	Implicit  TLS = "implicit" // TLS from the first byte
	None      TLS = "none"     // plain text: on this machine only
)

// SMTP sends e-mails through a mail server.
type SMTP struct {
	Host      string
	Port      int
	Username  string                 // "" for a server without authentication
	Password  func() (string, error) // read on each use, so that a rotated one needs no restart; nil for none
	TLS       TLS                    // never Automatic
	From      string                 // sender address
	AtOnce    int                    // concurrent e-mails
	PerMinute int                    // attempts per minute
	Timeout   time.Duration          // for connecting, and for each response
	Roots     *x509.CertPool         // nil for the system's root certificates
}

// ParseSMTP parses the URL of a mail server, such as smtp://user:password@mail.example:587 or smtps://mail.example, and its
// TLS mode. It rejects plain text to another machine.
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

// send makes one attempt. It reports whether the server has accepted the e-mail, as far as that can be known. If ctx ends
// before the text is sent, it stops.
func (s *SMTP) send(ctx context.Context, m Mail, text Message) result {
	recipient, err := onTheWire(m.Recipient)
	if err != nil {
		return refused("The domain of the e-mail address is invalid.")
	}
	data, err := s.encode(m, text)
	if err != nil {
		return refused("The e-mail could not be created: " + err.Error())
	}
	conn, err := s.dial(ctx, data.utf8)
	if err != nil { // nothing of this e-mail was sent yet
		return unusable(err)
	}
	// The response to QUIT does not change the outcome.
	defer func() { _, _ = conn.UpdateDeadline(s.Timeout), conn.Quit() }()
	if able, _ := conn.Extension("SMTPUTF8"); data.utf8 && !able {
		return result{kind: shown, answer: noUTF8}
	}
	for _, step := range []struct {
		do     func() error
		sender bool // it is about the sender, so it affects all e-mails
	}{
		{func() error { return conn.Mail("<" + s.From + ">") }, true},
		{func() error { return conn.Rcpt("<" + recipient + ">") }, false},
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
	// Servers scan the e-mail before they respond, so they get more time.
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

// noUTF8 is the answer for an address that the server does not support.
const noUTF8 = "Not sent: the mail server does not support non-ASCII characters before the @ of an address (SMTPUTF8)."

// onTheWire writes the domain of an address in ASCII, such as xn--exmple-cua.de, which every mail server accepts.
func onTheWire(address string) (string, error) {
	at := strings.LastIndexByte(address, '@') + 1
	if isASCII(address[at:]) {
		return address, nil
	}
	domain, err := idna.Lookup.ToASCII(address[at:])
	return address[:at] + domain, err
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// within runs one step of the conversation with the response timeout.
func (s *SMTP) within(ctx context.Context, conn *smtp.Client, step func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := conn.UpdateDeadline(s.Timeout); err != nil {
		return err
	}
	return step()
}

// judge interprets an error before the end of the data: the server has not accepted the e-mail. Codes from 500 are
// permanent, unless they are about the sender.
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

// unusable is the result if the server accepts no e-mails at all right now.
func unusable(err error) result {
	err = fmt.Errorf("invalid mail server: %w", err)
	return result{kind: later, answer: err.Error(), down: err}
}

// answerOf is the server's response to the data.
func answerOf(data io.WriteCloser) string {
	if closer, ok := data.(*smtp.DataCloser); ok {
		return "250 " + closer.ServerResponse()
	}
	return "250"
}

// dial connects to the server, switches to TLS and authenticates. wide allows non-ASCII addresses.
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

// encoded is an e-mail as sent to the server.
type encoded struct {
	bytes []byte
	utf8  bool // an address has non-ASCII characters before its @
}

// encode builds the e-mail. The library builds the headers from single values and encodes special characters, so that no
// name can inject a header or an address. clean also removes line breaks first.
func (s *SMTP) encode(m Mail, text Message) (encoded, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(&mail.Address{Name: clean(m.Letter.Sender, maxName), Address: s.From})
	to, err := onTheWire(cmp.Or(m.Letter.To, m.Recipient))
	if err != nil {
		return encoded{}, err
	}
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
	local, _, _ := strings.Cut(m.Recipient, "@")
	return encoded{b.Bytes(), !isASCII(s.From) || !isASCII(to) || !isASCII(local)}, nil
}

// messageID is the same each time an e-mail is sent, so that mail programs can detect duplicates. It contains the time when
// the e-mail was queued, because a restored database may assign an ID twice.
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

// clean makes a text safe for one line: control characters and line breaks become spaces, and long texts are truncated.
// Bidirectional controls and invisible characters are removed: they can make a name look like another.
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
	// Some mail programs decode this where they must not, which may produce line breaks.
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "=?", "= ?")
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit-1]) + "…"
	}
	return text
}
