package merchant

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

func TestShoppersReturnToPermittedOriginsAlone(t *testing.T) {
	site := Site{PermittedURLs: []string{"https://shop.example", "https://pay.shop.example:8443"}}
	for address, want := range map[string]bool{
		"https://shop.example/done?order=7": true, "https://SHOP.example:443/": true, "https://pay.shop.example:8443/x": true,
		"http://shop.example/done": false, "https://shop.example:444/": false, "https://shop.example.evil.example/": false,
		"https://shop.example@evil.example/": false, "https://user:pass@shop.example/": false, "https://evil.example/?https://shop.example": false,
		"//shop.example/": false, "javascript:alert(1)": false, "": false, "https://evil.example\\@shop.example/": false,
	} {
		if got := site.MayReturnTo(address, false); got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
	for _, address := range []string{"http://localhost:3000/done", "http://127.0.0.1/", "http://[::1]:8080/"} {
		if site.MayReturnTo(address, false) || !site.MayReturnTo(address, true) {
			t.Errorf("%q is for tests alone", address)
		}
	}
}
