package webhooks

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/event"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// keptAnswer is how many bytes of an answer the log keeps.
const keptAnswer = 1024

func system(siteID int64) access.Actor { return access.System(siteID) }

// notDeleted passes over an endpoint that was deleted meanwhile.
func notDeleted(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// attempt sends a delivery once. gone reports that its event or its endpoint was deleted. err is an error of our own.
func (w *Webhooks) attempt(ctx context.Context, e Endpoint, d Delivery) (a Attempt, gone bool, err error) {
	a.At = w.Clock()
	var sent event.Event
	var sealed []sealedOne
	err = w.ReadBy(ctx, sites.Clock{SiteID: d.SiteID}, func(tx *store.Tx) (err error) {
		if sealed, err = validSecrets(tx, e.SiteID, e.ID); err != nil {
			return err
		}
		sent, err = events.WithID(tx, d.SiteID, d.EventID)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		a.Error = "The event was removed before it could be sent."
		return a, true, nil
	}
	if err != nil {
		return a, false, err
	}
	if len(sealed) == 0 { // only an endpoint that was deleted has none: nothing goes out unsigned
		a.Error = "The webhook was deleted before the event could be sent."
		return a, true, nil
	}
	secrets, err := w.openSecrets(e.SiteID, sealed)
	if err != nil {
		return a, false, err
	}
	shown, err := w.Show(ctx, d.SiteID, []event.Event{sent})
	if err != nil {
		return a, false, err
	}
	headers, err := Sign(secrets, MessageID(sent.ID, sent.At), a.At, shown[0])
	if err != nil {
		return a, false, err
	}
	return w.call(ctx, e, headers, shown[0], a), false, nil
}

// MessageID is the header webhook-id of an event: the same in every attempt and in a replay. It contains the time
// because a restored database reuses the numbers after the backup.
func MessageID(id int64, at time.Time) string {
	return "evt_" + strconv.FormatInt(id, 10) + "_" + strconv.FormatInt(at.UnixMicro(), 36)
}

// Sign makes the headers of a webhook as Standard Webhooks has them: one signature by each secret.
func Sign(secrets []string, id string, at time.Time, body []byte) (http.Header, error) {
	var signatures []string
	for _, secret := range secrets {
		hook, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, errors.New("the secret of a webhook cannot be read")
		}
		signature, err := hook.Sign(id, at, body)
		if err != nil {
			return nil, err
		}
		signatures = append(signatures, signature)
	}
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "holdfast-webhooks")
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return h, nil
}

// call posts a body. Errors are recorded in the attempt, for the owner of the receiver.
func (w *Webhooks) call(ctx context.Context, e Endpoint, headers http.Header, body []byte, begun Attempt) (a Attempt) {
	a = begun
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	defer func() { a.Took = w.Clock().Sub(a.At) }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		a.Error = "The address cannot be used."
		return a
	}
	request.Header = headers
	answer, err := w.client(e.sandbox).Do(request)
	if err != nil {
		a.Error = problemOf(err)
		return a
	}
	defer answer.Body.Close()
	a.Status = answer.StatusCode
	// Only the status counts. The body is stored for people, so if it breaks off, its beginning is enough. Longer
	// bodies are not read: closing the body ends the connection.
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	a.Answer = legible(text)
	return a
}

// problemOf describes why there was no response, without details of our own network.
func problemOf(err error) string {
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	var slow net.Error
	switch {
	case errors.Is(err, errPrivate):
		return "The host does not resolve to a public address."
	case errors.As(err, &name):
		return "The host was not found."
	case errors.As(err, &certificate):
		return "The receiver's certificate is not valid for this address."
	case errors.As(err, &slow) && slow.Timeout():
		return "No response within " + callTime.String() + "."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The connection was refused."
	default:
		return "The connection failed before there was a response."
	}
}

// legible is the beginning of an answer as text. The answer of a stranger may hold anything, so one with a card number in
// it is left out.
func legible(answer []byte) string {
	text := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(string(answer), "?"))
	if card.HoldsCardNumber(text) {
		return "(left out: it contains what looks like a card number)"
	}
	if len(text) > keptAnswer {
		text = strings.ToValidUTF8(text[:keptAnswer], "")
	}
	return text
}
