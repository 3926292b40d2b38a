package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// webhookTolerance is the largest accepted age of a webhook. An older one may be a replay attack.
const webhookTolerance = 5 * time.Minute

// VerifyWebhook verifies that a webhook comes from the service: that one of the secrets has signed the body with these
// headers, at most five minutes before or after now. The format is that of Standard Webhooks; secrets start with
// whsec_. While a secret is being rotated, pass both. body is the unmodified body: decode it after this call. If
// VerifyWebhook returns an error, respond with 400. The same webhook may be delivered twice, with the same webhook-id
// header.
func VerifyWebhook(secrets []string, header http.Header, body []byte, now time.Time) error {
	id, stamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	if id == "" || stamp == "" || header.Get("webhook-signature") == "" {
		return errors.New("a webhook needs the headers webhook-id, webhook-timestamp and webhook-signature")
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return errors.New("the header webhook-timestamp is no number of seconds")
	}
	if off := now.Sub(time.Unix(seconds, 0)); off > webhookTolerance || off < -webhookTolerance {
		return errors.New("the webhook was signed more than five minutes ago, or the clocks disagree")
	}
	if len(secrets) == 0 {
		return errors.New("a webhook cannot be verified without a secret")
	}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return errors.New("a secret of a webhook is base64 text after whsec_")
		}
		sum := hmac.New(sha256.New, key)
		sum.Write([]byte(id + "." + strconv.FormatInt(seconds, 10) + "."))
		sum.Write(body)
		right := []byte("v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil)))
		for signature := range strings.FieldsSeq(header.Get("webhook-signature")) {
			if hmac.Equal([]byte(signature), right) {
				return nil
			}
		}
	}
	return errors.New("no signature of the webhook fits a secret")
}
