package api

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdfast/internal/app"
)

// running is the address of a server of the API without a database, as the program runs it.
func running(t *testing.T) string {
	t.Helper()
	h, _ := bare(t, Config{})
	return serving(t, h)
}

// serving is the address of a server with a handler.
func serving(t *testing.T, h http.Handler) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a := &app.App{Config: app.Config{Random: strings.NewReader(strings.Repeat("random bytes", 100)), Log: slog.New(slog.DiscardHandler)}}
	server := &http.Server{
		Handler: h, MaxHeaderBytes: MaxHeaderBytes, DisableGeneralOptionsHandler: true, ReadHeaderTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() { _ = server.Serve(Listen(l, a)) }()
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

// speak sends raw bytes and reads the response.
func speak(t *testing.T, address, text string) (*http.Response, string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { _, _ = io.WriteString(conn, text) }() // the server may answer before it has read everything
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.40q: %v", text, err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%.40q: %v", text, err)
	}
	return response, string(body)
}

func TestEveryRefusalHasTheShapeOfTheAPI(t *testing.T) {
	t.Parallel()
	address := running(t)
	const host = "Host: x\r\nConnection: close\r\n"
	long := strings.Repeat("a", maxAddress)
	for _, c := range []struct {
		what, text, code string
		status           int
	}{
		{"a long address", "GET /x?" + long + " HTTP/1.1\r\n" + host + "\r\n", "rest_uri_too_long", 414},
		{"a very long address", "GET /x?" + strings.Repeat(long, 8) + " HTTP/1.1\r\n" + host + "\r\n", "rest_headers_too_large", 431},
		{"a long header", "GET /x HTTP/1.1\r\n" + host + "A: " + long + "\r\n\r\n", "rest_headers_too_large", 431},
		{"a very long header", "GET /x HTTP/1.1\r\n" + host + "A: " + strings.Repeat(long, 8) + "\r\n\r\n", "rest_headers_too_large", 431},
		{"many headers", "GET /x HTTP/1.1\r\n" + host + strings.Repeat("A: bbbbbbbb\r\n", 3000) + "\r\n", "rest_headers_too_large", 431},
		{"an escape that is none", "GET /%zz HTTP/1.1\r\n" + host + "\r\n", "rest_bad_request", 400},
		{"no host", "GET /x HTTP/1.1\r\n\r\n", "rest_bad_request", 400},
		{"nonsense", "nonsense\r\n\r\n", "rest_bad_request", 400},
		{"another version", "GET /x HTTP/3.0\r\n" + host + "\r\n", "rest_bad_request", 400},
		{"another encoding", "POST /x HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", "rest_bad_request", 400},
		{"an expectation", "POST /x HTTP/1.1\r\n" + host + "Expect: more\r\nContent-Length: 0\r\n\r\n", "rest_bad_request", 400},
		{"a method for a tunnel", "CONNECT x:80 HTTP/1.1\r\n" + host + "\r\n", "rest_no_route", 404},
		{"no path", "GET * HTTP/1.1\r\n" + host + "\r\n", "rest_no_route", 404},
		{"a method that is not there", "PATCH /healthz HTTP/1.1\r\n" + host + "\r\n", "rest_no_route", 405},
		{"a chunk that is none", "POST /auth/rest/jwt-auth/v1/token HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "rest_invalid_json", 400},
		{"no address", "GET /nothing HTTP/1.1\r\n" + host + "\r\n", "rest_no_route", 404},
	} {
		response, text := speak(t, address, c.text)
		var body errorBody
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Errorf("%s: answered %q", c.what, text)
			continue
		}
		if response.StatusCode != c.status || body.Code != c.code || body.Data.Status != c.status || body.Message == "" ||
			body.Data.RequestID == "" || body.Data.RequestID != response.Header.Get("X-Request-Id") ||
			response.Header.Get("Content-Type") != jsonType || response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: answered %d %v %s, want %d %s", c.what, response.StatusCode, response.Header, text, c.status, c.code)
		}
	}
	if response, text := speak(t, address, "GET /healthz?"+long[:maxAddress-20]+" HTTP/1.1\r\n"+host+"\r\n"); response.StatusCode != 200 {
		t.Errorf("the longest address: %d %s", response.StatusCode, text)
	}
}

func TestOptionsNamesTheMethods(t *testing.T) {
	t.Parallel()
	address := running(t)
	for target, allow := range map[string]string{
		"/healthz": "GET, HEAD, OPTIONS", "/auth/rest/jwt-auth/v1/token/refresh/": "DELETE, OPTIONS, POST",
		"/anything/rest/svc/v2/channels/1": "DELETE, GET, HEAD, OPTIONS, PUT", "*": "DELETE, GET, HEAD, OPTIONS, POST, PUT",
	} {
		response, text := speak(t, address, "OPTIONS "+target+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if response.StatusCode != http.StatusNoContent || text != "" || response.Header.Get("Allow") != allow {
			t.Errorf("%s: answered %d %q with Allow: %s", target, response.StatusCode, text, response.Header.Get("Allow"))
		}
	}
	if response, _ := speak(t, address, "OPTIONS /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); response.StatusCode != 404 {
		t.Errorf("an address that does not exist: answered %d", response.StatusCode)
	}
}

func TestWhatHandlersWriteIsLeftAlone(t *testing.T) {
	for text, refused := range map[string]bool{
		"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n431": true,
		"HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\n\r\n":                                                            true,
		"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nDate: today\r\n\r\n400":                           false,
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n":                                                                            false,
		"the rest of a body": false, "": false,
	} {
		if got := refusalOf([]byte(text)); (got != nil) != refused {
			t.Errorf("%q: %v", text, got)
		}
	}
}
