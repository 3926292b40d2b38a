package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"holdfast/internal/psp"
)

// largest is the most bytes that are read of a body. No request and no error of the gateway is so large.
const largest = 1 << 20

type transport struct {
	gateway *url.URL
	account psp.Tokenizer
	fields  []string
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	// A card number goes in a body only: the address of a request may get into logs.
	if r.Body == nil || r.Method != http.MethodPost {
		return t.next.RoundTrip(r)
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, largest))
	_ = r.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("the request body: %w", err)
	}
	revealed, found, err := reveal(string(body), t.fields)
	if err != nil {
		return nil, &psp.Error{
			Source: psp.AtTokenizer, Kind: psp.Invalid, Message: "the request cannot be sent through the tokenizer", Err: err,
		}
	}
	if !found {
		return t.next.RoundTrip(withBody(r.Clone(r.Context()), body))
	}
	response, err := t.next.RoundTrip(t.redirect(r, []byte(revealed)))
	if err != nil {
		return nil, err
	}
	return processorResponse(response)
}

// redirect makes the request to the gateway. All headers of the request to the processor stay: the gateway sends them
// on, without its own.
func (t transport) redirect(r *http.Request, body []byte) *http.Request {
	to := withBody(r.Clone(r.Context()), body)
	to.Header.Set("Tx-Url", r.URL.String())
	to.Header.Set("Tx-Tokenex-Id", t.account.ID)
	to.Header.Set("Tx-Apikey", t.account.Key)
	gateway := *t.gateway
	gateway.Path, gateway.RawPath = gateway.Path+"/Detokenize", ""
	to.URL = &gateway
	to.Host = ""
	return to
}

func withBody(r *http.Request, body []byte) *http.Request {
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	r.ContentLength = int64(len(body))
	return r
}

// processorResponse returns the response of the processor, or the error of the gateway. Only a response of the
// processor has the header with the processor's status.
func processorResponse(response *http.Response) (*http.Response, error) {
	status, err := strconv.Atoi(response.Header.Get("Tx-Thirdpartystatuscode"))
	if err == nil && status >= 100 && status <= 599 {
		response.StatusCode, response.Status = status, strconv.Itoa(status)+" "+http.StatusText(status)
		return response, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, largest))
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("the gateway's response: %w", err)
	}
	return nil, failure(response.StatusCode, body)
}

// NoSecurityCode is the Code of the *psp.Error when the tokenizer has no security code for the token, or no longer.
const NoSecurityCode = "2012"

// failure reads an error of the gateway: {"success": false, "error": "3000:Token does not exist", "referenceNumber":
// …}. Its text is left out, because it may repeat the request.
func failure(status int, body []byte) *psp.Error {
	var answer struct {
		Error           string
		ReferenceNumber string
	}
	// A body that is not JSON leaves both fields empty: then the error has no code.
	_ = json.Unmarshal(body, &answer)
	code, _, _ := strings.Cut(answer.Error, ":")
	number, err := strconv.Atoi(strings.TrimSpace(code))
	if err != nil {
		number = 0
	}
	e := &psp.Error{Source: psp.AtTokenizer}
	e.Kind, e.Message = meaning(status, number)
	if number != 0 {
		e.Code = strconv.Itoa(number)
	}
	if reference, err := strconv.ParseUint(answer.ReferenceNumber, 10, 64); err == nil {
		e.Err = fmt.Errorf("HTTP status %d, the tokenizer's reference number is %d", status, reference)
	} else {
		e.Err = errors.New("HTTP status " + strconv.Itoa(status))
	}
	return e
}

// meaning interprets a code of the gateway, from the published list. An unknown code counts as a fault that may
// pass.
func meaning(status, code int) (psp.ErrorKind, string) {
	switch {
	case code == 2433:
		return psp.Refused, "the tokenizer does not send requests to this processor's host"
	case code >= 1000 && code < 2000, code == 2404, code >= 2434 && code <= 2438, code == 0 && status == http.StatusUnauthorized:
		return psp.Refused, "the tokenizer rejected the credentials"
	case code == 2012:
		return psp.Invalid, "the tokenizer has no security code for the token"
	case code == 2423, code == 3000, code == 3003:
		return psp.Invalid, "the tokenizer does not know the token"
	case code >= 2000 && code < 5000:
		return psp.Invalid, "the tokenizer rejected the request"
	case code == 5001:
		return psp.Invalid, "the tokenizer does not support this for the token"
	case code >= 5002 && code <= 5004:
		return psp.Unreachable, "the tokenizer could not reach the processor"
	default:
		return psp.Unreachable, "the tokenizer failed"
	}
}
