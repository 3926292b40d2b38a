package psp

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// ParseAddress reads the address of a processor or of a tokenizer's gateway. It must begin with https://, because
// card numbers and secrets go there. Plain http:// is for servers on this machine, such as in tests. The error says
// what is wrong, without the address.
func ParseAddress(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	switch {
	case err != nil:
		// The parser's own error repeats the text, which may hold a password.
		return nil, errors.New("it is not a URL")
	case u.Host == "" || u.Opaque != "":
		return nil, errors.New("it is not a full URL with a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it can only have a host and a path")
	case u.Scheme == "https":
		return u, nil
	case u.Scheme != "http":
		return nil, errors.New("it must start with https://")
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, errors.New("plain http is only allowed on this machine: it must start with https://")
	}
	return u, nil
}
