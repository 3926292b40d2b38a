package travel

import "testing"

func TestOrigins(t *testing.T) {
	for text, want := range map[string]string{
		"https://shop.example":       "https://shop.example",
		"HTTPS://Shop.Example/":      "https://shop.example",
		"https://shop.example:443":   "https://shop.example",
		"https://shop.example:8443":  "https://shop.example:8443",
		"https://shop.example:08443": "https://shop.example:8443",
		"http://localhost:3000":      "http://localhost:3000",
		"http://localhost:80":        "http://localhost",
		"http://[::1]:8080":          "http://[::1]:8080",
		"https://xn--bcher-kva.de":   "https://xn--bcher-kva.de",
		"https://shop.example:":      "",
		"https://shop.example:0":     "",
		"https://shop.example:99999": "",
		"https://shop.example:x":     "",
		"https://*.example":          "",
		"https://*":                  "",
		"https://'unsafe":            "",
		"https://a b.example":        "",
		"https://shop..example":      "",
		"https://bücher.de":          "",
		"http://shop.example":        "",
		"https://shop.example/pay":   "",
		"https://shop.example?x":     "",
		"https://ada@shop.example":   "",
		"https://:443":               "",
		"https://":                   "",
		"shop.example":               "",
		"null":                       "",
	} {
		if got, ok := originOf(text); ok != (want != "") || ok && got != want {
			t.Errorf("%s is read as %q, %v; want %q", text, got, ok, want)
		}
	}
}
