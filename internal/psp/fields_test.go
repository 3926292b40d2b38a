package psp_test

import (
	"testing"
	"time"

	"holdfast/internal/psp"
)

// The expected key is by `printf %s … | openssl dgst -sha256 -hmac … -binary | base64`.
func TestHostedFieldsAreSigned(t *testing.T) {
	tokenizer := psp.Tokenizer{ID: "123456789", FieldsSecret: "a-secret-of-the-fields"}
	at := time.Date(2018, 1, 9, 17, 14, 37, 0, time.FixedZone("CET", 3600))
	got := tokenizer.Fields([]string{"https://pay.example", "https://shop.example"}, at)
	want := psp.HostedFields{
		ID: "123456789", Origin: "https://pay.example,https://shop.example", Timestamp: "20180109161437", Scheme: "PCI",
		Key: "MWjWHL9fdU5VQrCVxsdDV712QH9LNjqcTx1UOKXbjzI=",
	}
	if got != want {
		t.Errorf("got %+v", got)
	}
}
