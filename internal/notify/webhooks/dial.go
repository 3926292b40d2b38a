package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of a call.
const (
	callTime   = 10 * time.Second
	dialTime   = 5 * time.Second
	maxAnswer  = 64 << 10 // read of an answer
	maxHeaders = 16 << 10
	urlLength  = 512
)

// forbidden are the networks of special purpose that netip has no word for. A public address of IPv4 inside an IPv6
// address of translation could be any of them, so these networks are refused as a whole.
var forbidden = networks(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16",
	"fec0::/10",
)

func networks(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// isPublic reports whether an address is on the public internet. Addresses of the local network are not, including the
// metadata services of cloud providers.
func isPublic(address netip.Addr) bool {
	if address.Zone() != "" {
		return false
	}
	address = address.Unmap()
	if !address.IsGlobalUnicast() || address.IsPrivate() || address.IsLoopback() || address.IsLinkLocalUnicast() {
		return false
	}
	for _, network := range forbidden {
		if network.Contains(address) {
			return false
		}
	}
	return true
}

// errPrivate is the error for an address that is refused.
var errPrivate = errors.New("the address is not a public one")

// publicOnly refuses to dial an address that is not public. It checks the address that is actually dialled, whatever
// the host name resolved to before.
func publicOnly(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(to.Addr()) || !portAllowed(int(to.Port())) {
		return errPrivate
	}
	return nil
}

// portAllowed keeps webhooks away from the services of a host that speak something else than HTTP.
func portAllowed(port int) bool { return port == 443 || port == 80 || port >= 1024 && port <= 65535 }

// newClient makes a client that follows no redirect, uses no proxy, and dials public addresses alone, or all.
func newClient(private bool) *http.Client {
	dialer := &net.Dialer{Timeout: dialTime, Control: publicOnly}
	if private {
		dialer.Control = nil
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: callTime, MaxResponseHeaderBytes: maxHeaders,
			MaxIdleConns: 64, MaxIdleConnsPerHost: perEndpoint, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// opens reports whether the endpoints of a site may have private addresses.
func (w *Webhooks) opens(sandbox bool) bool { return w.Private && sandbox }

func (w *Webhooks) client(sandbox bool) *http.Client {
	if w.opens(sandbox) {
		return w.clients[1]
	}
	return w.clients[0]
}

// checkURL returns the problem with the URL of an endpoint, or "".
func (w *Webhooks) checkURL(ctx context.Context, text string, sandbox bool) (problem string) {
	u, err := url.Parse(text)
	switch {
	case len(text) > urlLength:
		return fmt.Sprintf("The URL is longer than %d characters.", urlLength)
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return "Must be a URL such as https://shop.example/webhooks."
	case u.Scheme != "https" && !(u.Scheme == "http" && sandbox):
		return "The URL must start with https://. A sandbox also accepts http://."
	case u.User != nil:
		return "The URL must not contain a user name or password."
	case u.Fragment != "" || strings.Contains(text, "#"):
		return "The URL must not contain a fragment (#)."
	}
	if u.Port() != "" {
		if port, err := strconv.Atoi(u.Port()); err != nil || !portAllowed(port) {
			return "The port must be 443, 80, or 1024 or higher."
		}
	}
	if w.opens(sandbox) {
		return ""
	}
	return w.checkHost(ctx, strings.TrimSuffix(u.Hostname(), "."))
}

// lookupTime is how long a name may take to be found when an endpoint is saved.
const lookupTime = 2 * time.Second

// checkHost rejects a host with a private address. A name that does not resolve is accepted, because it may resolve
// later.
func (w *Webhooks) checkHost(ctx context.Context, host string) (problem string) {
	const refused = "The address belongs to a private, local or reserved network. Webhooks only go to public addresses."
	if address, err := netip.ParseAddr(host); err == nil {
		if !isPublic(address) {
			return refused
		}
		return ""
	}
	name := strings.ToLower(host)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".internal") ||
		strings.HasSuffix(name, ".local") || !strings.Contains(name, ".") {
		return refused
	}
	if w.Lookup == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, _ := w.Lookup(ctx, name)
	for _, address := range found {
		if !isPublic(address) {
			return refused
		}
	}
	return ""
}
