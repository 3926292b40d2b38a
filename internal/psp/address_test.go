package psp_test

import (
	"strings"
	"testing"

	"holdfast/internal/psp"
)

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]string{
		"https://api.example.com":        "https://api.example.com",
		"https://api.example.com/":       "https://api.example.com",
		"https://example.com:8443/gate/": "https://example.com:8443/gate",
		"http://127.0.0.1:12111":         "http://127.0.0.1:12111",
		"http://[::1]:12111":             "http://[::1]:12111",
		"http://localhost:12111":         "http://localhost:12111",
	} {
		if u, err := psp.ParseAddress(text); err != nil || u.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, u, err, want)
		}
	}
	for _, text := range []string{
		"", "api.example.com", "ftp://api.example.com", "http://api.example.com", "http://10.0.0.1", "https://",
		"https://api.example.com?key=1", "https://api.example.com#a", "mailto:a@example.com", "https:/api.example.com",
		"file:///etc/passwd", "http://localhost.example.com",
	} {
		if u, err := psp.ParseAddress(text); err == nil {
			t.Errorf("%q is taken as %v", text, u)
		}
	}
	for _, text := range []string{"https://user:s3cret@example.com", "https://user:s3cret@exa mple.com"} {
		if _, err := psp.ParseAddress(text); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
}
