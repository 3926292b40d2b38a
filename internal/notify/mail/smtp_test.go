package mail_test

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/notify/mail"
)

// aMail is a receipt for Ada.
func aMail() mail.Mail {
	return mail.Mail{
		SiteID: 1, ID: 7, Kind: mail.Receipt, Recipient: "ada@example.org", QueuedAt: time.Unix(1_700_000_000, 0), AskedAt: time.Unix(1_700_000_000, 0),
		Letter: mail.Letter{
			Language: "enGB", Sender: "Harbour Travel", To: "ada@example.org", Name: "Ada Byron", Booking: "1-3", Reference: "HT-1",
			Number: "1-9", Currency: "GBP", Amount: 45000, Country: "PT", Protected: 45000,
		},
	}
}

func textOf(t *testing.T, m mail.Mail) mail.Message {
	t.Helper()
	text, err := mail.Write(m.Letter, m.Kind, "https://service.example/certificate/abc")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestOneAttempt: the meaning of each response of a server. Only a lost response to the complete text is unknown.
func TestOneAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server *server
		kind   string
		down   bool
	}{
		"taken":                         {&server{}, mail.Taken, false},
		"the address is wrong":          {&server{rcpt: answer(550)}, mail.Refused, false},
		"the mailbox is full":           {&server{rcpt: answer(452)}, mail.Later, false},
		"the sender is refused":         {&server{from: answer(550)}, mail.Later, true},
		"the sender is slowed down":     {&server{from: answer(450)}, mail.Later, false},
		"the text is refused":           {&server{data: answer(554)}, mail.Refused, false},
		"the text is refused for now":   {&server{data: answer(451)}, mail.Later, false},
		"cut before the text":           {&server{rcpt: cut}, mail.Later, false},
		"the answer to the text is cut": {&server{data: cut}, mail.Lost, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.server, nil, false)
			m := aMail()
			kind, said, down := s.transport().Attempt(t.Context(), m, textOf(t, m))
			if kind != c.kind || down != c.down {
				t.Errorf("%s, down %t: %s", kind, down, said)
			}
			if said == "" || strings.Contains(said, "ada@") {
				t.Errorf("the answer is %q", said)
			}
		})
	}
	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		transport := &mail.SMTP{Host: "127.0.0.1", Port: 1, TLS: mail.None, From: "a@service.example", Timeout: time.Second}
		if kind, said, down := transport.Attempt(t.Context(), aMail(), textOf(t, aMail())); kind != mail.Later || !down {
			t.Errorf("%s, down %t: %s", kind, down, said)
		}
	})
}

// TestNothingIsSentInTheOpen: without the required TLS, neither password nor e-mail is sent.
func TestNothingIsSentInTheOpen(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	password := func() (string, error) { return loginPassword, nil }
	for name, c := range map[string]struct {
		tls      mail.TLS
		offers   bool
		implicit bool
		trusted  bool
		password string
		taken    bool
		logins   int
	}{
		"starttls":                      {mail.STARTTLS, true, false, true, loginPassword, true, 1},
		"starttls is not offered":       {mail.STARTTLS, false, false, true, loginPassword, false, 0},
		"the certificate is unknown":    {mail.STARTTLS, true, false, false, loginPassword, false, 0},
		"implicit":                      {mail.Implicit, true, true, true, loginPassword, true, 1},
		"implicit, unknown certificate": {mail.Implicit, true, true, false, loginPassword, false, 0},
		"a wrong password":              {mail.STARTTLS, true, false, true, "another", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := cert
			if !c.offers {
				given = nil
			}
			s := serve(t, &server{}, given, c.implicit)
			transport := s.transport()
			transport.TLS, transport.Username, transport.Password = c.tls, loginName, password
			transport.Password = func() (string, error) { return c.password, nil }
			if transport.Roots = pool; !c.trusted {
				transport.Roots = nil
			}
			kind, said, down := transport.Attempt(t.Context(), aMail(), textOf(t, aMail()))
			if (kind == mail.Taken) != c.taken || down == c.taken || s.logins != c.logins || (len(s.got()) == 1) != c.taken {
				t.Errorf("%s, down %t, %d logins, %d mails: %s", kind, down, s.logins, len(s.got()), said)
			}
			if strings.Contains(said, c.password) {
				t.Errorf("the password is in %q", said)
			}
		})
	}
}

func TestParseSMTP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address string
		way     mail.TLS
		want    string // "" for an error
	}{
		{"smtp://mail.example", mail.Automatic, "mail.example 587 starttls "},
		{"smtp://ada:p%40ss@mail.example:2525", mail.Automatic, "mail.example 2525 starttls ada"},
		{"smtps://ada@mail.example", mail.Automatic, "mail.example 465 implicit ada"},
		{"smtp://mail.example:465", mail.Implicit, "mail.example 465 implicit "},
		{"smtp://localhost:1025", mail.Automatic, "localhost 1025 none "},
		{"smtp://127.0.0.1:1025", mail.STARTTLS, "127.0.0.1 1025 starttls "},
		{"smtp://[::1]", mail.None, "::1 587 none "},
		{"smtp://mail.example", mail.None, ""},
		{"smtps://localhost", mail.None, ""},
		{"http://mail.example", mail.Automatic, ""},
		{"mail.example:587", mail.Automatic, ""},
		{"smtp://", mail.Automatic, ""},
		{"smtp://mail.example:0", mail.Automatic, ""},
		{"smtp://mail.example/?tls=none", mail.Automatic, ""},
	} {
		s, err := mail.ParseSMTP(c.address, c.way)
		got := ""
		if err == nil {
			got = fmt.Sprintf("%s %d %s %s", s.Host, s.Port, s.TLS, s.Username)
		}
		if got != c.want {
			t.Errorf("%s %s: %q, %v, want %q", c.address, c.way, got, err, c.want)
		}
	}
}

// headers are all that a mail may have.
var headers = []string{
	"Auto-Submitted", "Content-Language", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Subject", "To",
	"X-Auto-Response-Suppress",
}

// nasty are injection attempts in names.
var nasty = []string{
	"Ada\r\nBcc: eve@evil.example", "Ada\nBcc: eve@evil.example\n\nhello", "Ada\r\n\r\n<script>", "=?utf-8?q?Eve=0D=0ABcc:_eve@evil.example?=",
	"Byron, Ada <eve@evil.example>", `Ada" <eve@evil.example>, "x`, "Ada\x00\x0b\x0c\u0085\u2028Bcc: eve@evil.example", "Zoë Ångström 渡辺 Ада",
	"\u202egro.live@eve", strings.Repeat("ü", 5000), strings.Repeat("a ", 3000), "\xff\xfe broken", "", " ", "<eve@evil.example>", "a@b.example",
	`\`, `"`, "(comment)", "Ada;Byron:group,", "=?x?b?",
}

// TestNoTextBecomesAHeader: whatever the names, labels and references, the e-mail has the same headers, one sender, one
// recipient, and a one-line subject.
func TestNoTextBecomesAHeader(t *testing.T) {
	t.Parallel()
	s := serve(t, &server{}, nil, false)
	for i, text := range nasty {
		m := aMail()
		m.Letter.Sender, m.Letter.Name, m.Letter.Reference, m.Letter.Descriptor = text, text, text, text
		made, err := mail.Write(m.Letter, m.Kind, "https://service.example/certificate/abc")
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if kind, said, _ := s.transport().Attempt(t.Context(), m, made); kind != mail.Taken {
			t.Fatalf("%q: %s", text, said)
		}
		checkHeaders(t, text, s.got()[i])
	}
}

func checkHeaders(t *testing.T, text string, got arrived) {
	t.Helper()
	if got.from != "receipts@service.example" || !slices.Equal(got.to, []string{"ada@example.org"}) {
		t.Errorf("%q: from %s to %v", text, got.from, got.to)
	}
	parsed, err := netmail.ReadMessage(strings.NewReader(got.data))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var names []string
	for name, values := range parsed.Header {
		if names = append(names, name); len(values) != 1 {
			t.Errorf("%q: %d times %s", text, len(values), name)
		}
		if decoded, err := new(mime.WordDecoder).DecodeHeader(values[0]); err != nil || strings.ContainsAny(decoded, "\r\n\x00") {
			t.Errorf("%q: %s is %q, %v", text, name, decoded, err)
		}
	}
	if slices.Sort(names); !slices.Equal(names, headers) {
		t.Errorf("%q: the headers are %v", text, names)
	}
	for field, want := range map[string]string{"From": "receipts@service.example", "To": "ada@example.org"} {
		list, err := parsed.Header.AddressList(field)
		if err != nil || len(list) != 1 || list[0].Address != want {
			t.Errorf("%q: %s is %v, %v", text, field, list, err)
		}
	}
	for line := range strings.SplitSeq(got.data, "\n") {
		if len(line) > 998 {
			t.Errorf("%q: a line has %d bytes", text, len(line))
		}
	}
}

// TestPartsOfAMail: a text, the HTML, and the code as an image that the HTML names.
func TestPartsOfAMail(t *testing.T) {
	t.Parallel()
	s := serve(t, &server{}, nil, false)
	m := aMail()
	if kind, said, _ := s.transport().Attempt(t.Context(), m, textOf(t, m)); kind != mail.Taken {
		t.Fatal(said)
	}
	again := s.transport()
	_, _, _ = again.Attempt(t.Context(), m, textOf(t, m))
	first, second := s.got()[0], s.got()[1]
	parsed, err := netmail.ReadMessage(strings.NewReader(first.data))
	if err != nil {
		t.Fatal(err)
	}
	other, err := netmail.ReadMessage(strings.NewReader(second.data))
	if id := parsed.Header.Get("Message-Id"); err != nil || id != other.Header.Get("Message-Id") || !strings.HasSuffix(id, "@service.example>") {
		t.Errorf("the Message-IDs are %q and %q, %v", id, other.Header.Get("Message-Id"), err)
	}
	found := map[string]string{}
	readParts(t, parsed.Header.Get("Content-Type"), parsed.Body, found)
	if text := found["text/plain"]; !strings.Contains(text, "£450.00") || !strings.Contains(text, "https://service.example/certificate/abc") {
		t.Errorf("the text is\n%s", text)
	}
	if html := found["text/html"]; !strings.Contains(html, "£450.00") || !strings.Contains(html, `src="cid:code"`) {
		t.Errorf("the HTML is\n%s", html)
	}
	if found["image/png"] == "" {
		t.Errorf("the parts are %v", found)
	}
}

func readParts(t *testing.T, kind string, body io.Reader, found map[string]string) {
	t.Helper()
	media, params, err := mime.ParseMediaType(kind)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(media, "multipart/") {
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		found[media] = string(text)
		return
	}
	for parts := multipart.NewReader(body, params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var inside io.Reader = part
		if part.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
			inside = quotedprintable.NewReader(part)
		}
		readParts(t, part.Header.Get("Content-Type"), inside, found)
	}
}

// TestAddressesInOtherLetters: domains are sent to any server in ASCII. Letters before the @ need SMTPUTF8; if the server lacks it, the
// mail does not count as dead.
func TestAddressesInOtherLetters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address string
		ascii   bool
		kind    string
		want    string // the recipient that the server got
	}{
		{"mueller@exämple.de", true, mail.Taken, "mueller@xn--exmple-cua.de"},
		{"mueller@exämple.de", false, mail.Taken, "mueller@xn--exmple-cua.de"},
		{"müller@exämple.de", false, mail.Taken, "müller@xn--exmple-cua.de"},
		{"müller@exämple.de", true, mail.Shown, ""},
		{"ada@-exämple-.de", false, mail.Refused, ""},
	} {
		s := serve(t, &server{ascii: c.ascii}, nil, false)
		m := aMail()
		m.Recipient, m.Letter.To = c.address, c.address
		kind, said, down := s.transport().Attempt(t.Context(), m, textOf(t, m))
		if kind != c.kind || down || c.kind == mail.Shown && !strings.Contains(said, "SMTPUTF8") {
			t.Errorf("%s, ASCII only %t: %s, %s", c.address, c.ascii, kind, said)
		}
		switch got := s.got(); {
		case c.want == "" && len(got) != 0, c.want != "" && (len(got) != 1 || !slices.Equal(got[0].to, []string{c.want})):
			t.Errorf("%s, ASCII only %t: the server got %+v, want one for %s", c.address, c.ascii, got, c.want)
		}
	}
}
