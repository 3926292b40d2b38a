package mail_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"holdfast/internal/notify/mail"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// smtpConn is a connection to the server.
type smtpConn = smtp.Conn

// arrived is an e-mail that the server has accepted.
type arrived struct {
	from string
	to   []string
	data string
}

// server is a real SMTP server on this machine. Each hook may reject its step, or cut the connection.
type server struct {
	mu      sync.Mutex
	mails   []arrived
	from    func(*smtp.Conn) error
	rcpt    func(*smtp.Conn) error
	data    func(*smtp.Conn) error // after the whole mail has come
	logins  int
	ascii   bool // without SMTPUTF8
	address *net.TCPAddr
}

// The login that the server accepts.
const (
	loginName     = "holdfast"
	loginPassword = "a secret of the server"
)

// serve starts the server. Without a certificate it offers no TLS; implicit means TLS from the first byte.
func serve(t *testing.T, s *server, cert *tls.Certificate, implicit bool) *server {
	t.Helper()
	backend := smtp.NewServer(s)
	backend.Domain, backend.AllowInsecureAuth, backend.ErrorLog = "mail.example", true, silent{}
	backend.ReadTimeout, backend.WriteTimeout, backend.EnableSMTPUTF8 = 10*time.Second, 10*time.Second, !s.ascii
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().(*net.TCPAddr)
	if cert != nil {
		config := &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12}
		if backend.TLSConfig = config; implicit {
			listener = tls.NewListener(listener, config)
		}
	}
	var running sync.WaitGroup
	running.Go(func() { _ = backend.Serve(listener) })
	t.Cleanup(func() {
		_ = backend.Close()
		running.Wait()
	})
	return s
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func (silent) Println(...any) {}

// NewSession implements smtp.Backend.
func (s *server) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &session{server: s, conn: c}, nil
}

func (s *server) got() []arrived {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]arrived(nil), s.mails...)
}

// transport sends to the server.
func (s *server) transport() *mail.SMTP {
	return &mail.SMTP{
		Host: "127.0.0.1", Port: s.address.Port, TLS: mail.None, From: "receipts@service.example", AtOnce: 4, PerMinute: 1000,
		Timeout: 5 * time.Second,
	}
}

type session struct {
	*server
	conn *smtp.Conn
	mail arrived
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.logins++
		if username != loginName || password != loginPassword {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.mail = arrived{from: from}
	return s.run(s.from)
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.to = append(s.mail.to, to)
	return s.run(s.rcpt)
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mail.data = string(text)
	s.mu.Lock()
	s.mails = append(s.mails, s.mail)
	s.mu.Unlock()
	return s.run(s.data)
}

func (s *session) run(hook func(*smtp.Conn) error) error {
	if hook == nil {
		return nil
	}
	return hook(s.conn)
}

func (*session) Reset() {}

func (*session) Logout() error { return nil }

// answer rejects with a code.
func answer(code int) func(*smtp.Conn) error {
	return func(*smtp.Conn) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 7, 1}, Message: "not today"}
	}
}

// cut ends the connection without a response.
func cut(c *smtp.Conn) error {
	_ = c.Conn().Close()
	return errors.New("cut")
}

// certificate is for this machine, and only known to the pool.
func certificate(t *testing.T) (*tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}
