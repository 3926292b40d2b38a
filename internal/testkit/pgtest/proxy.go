package pgtest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy is a proxy on loopback between a program and a PostgreSQL server. It can cut and freeze connections.
type Proxy struct {
	URL string // of the database, through the proxy

	t        testing.TB
	server   string
	listener net.Listener
	all      sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]bool
	thawed chan struct{} // closed unless frozen
	commit Commit
}

// Commit is the fate of the next COMMIT.
type Commit int

// Fates of a COMMIT.
const (
	Answered   Commit = iota // it passes through
	Unanswered               // the server receives it, but the connection is cut before the response
	Lost                     // the connection is cut before the server receives it
)

// Through starts a proxy to the database at an address returned by URL. It stops when the test ends.
func Through(t testing.TB, address string) *Proxy {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{t: t, server: at.Host, open: map[net.Conn]bool{}, thawed: make(chan struct{})}
	close(p.thawed)
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	at.Host = p.listener.Addr().String()
	p.URL = at.String()
	p.all.Go(p.accept)
	t.Cleanup(func() {
		p.Refuse()
		p.Thaw()
		p.Cut()
		p.all.Wait()
	})
	return p
}

// Cut closes all connections, like a restarting server.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		_ = conn.Close() // it may be closed already
	}
	clear(p.open)
}

// Refuse stops accepting new connections.
func (p *Proxy) Refuse() { _ = p.listener.Close() }

// Freeze holds back all bytes in both directions until Thaw. Connections are still accepted.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.thawed = make(chan struct{})
}

// Thaw ends Freeze.
func (p *Proxy) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.thawed:
	default:
		close(p.thawed)
	}
}

// NextCommit sets the fate of the next COMMIT on any connection.
func (p *Proxy) NextCommit(c Commit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commit = c
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			p.t.Error(err)
			return
		}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		muted := make(chan struct{}) // closed when the server's responses are dropped
		p.all.Go(func() { p.requests(client, server, muted) })
		p.all.Go(func() { p.answers(client, server, muted) })
	}
}

// requests forwards bytes from the client.
func (p *Proxy) requests(client, server net.Conn, muted chan struct{}) {
	defer func() { _ = errors.Join(client.Close(), server.Close()) }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		p.wait()
		fate := Answered
		if bytes.Contains(buffer[:n], []byte("commit\x00")) {
			p.mu.Lock()
			fate, p.commit = p.commit, Answered
			p.mu.Unlock()
		}
		switch fate {
		case Lost:
			return
		case Unanswered:
			close(muted)
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
		if fate == Unanswered { // the server ends the session after the commit
			if half, ok := server.(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
			_, _ = io.Copy(io.Discard, server)
			return
		}
	}
}

// answers forwards bytes from the server.
func (p *Proxy) answers(client, server net.Conn, muted chan struct{}) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		select {
		case <-muted:
			return // requests closes the connections
		default:
		}
		if err == nil {
			p.wait()
			_, err = client.Write(buffer[:n])
		}
		if err != nil {
			_ = errors.Join(client.Close(), server.Close())
			return
		}
	}
}

// wait blocks while the proxy is frozen.
func (p *Proxy) wait() {
	p.mu.Lock()
	thawed := p.thawed
	p.mu.Unlock()
	<-thawed
}
