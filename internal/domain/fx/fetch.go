package fx

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"holdfast/internal/errs"
)

// DailyURL is where the ECB publishes the day's reference rates, on working days about 16:00 CET.
const DailyURL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"

// fetchTimeout is the timeout of a whole fetch, in addition to those of the client.
const fetchTimeout = 30 * time.Second

// Fetch downloads the daily file from a URL, normally DailyURL. The error has the kind Unavailable if a retry may help
// (network, timeout, server error), and Invalid if a person has to act (wrong URL, wrong file).
func Fetch(ctx context.Context, client *http.Client, address string) ([]Fixing, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, broken("The exchange rate URL must start with https:// or http:// and include a host.")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	body, err := get(ctx, client, u)
	if err != nil {
		return nil, err
	}
	fixings, err := ReadDaily(bytes.NewReader(body))
	if err != nil {
		return nil, broken("The response from %s is not an exchange rate file: %v", u.Redacted(), err)
	}
	return fixings, nil
}

// get reads the whole response before it is parsed, so that a broken connection never looks like a broken file.
func get(ctx context.Context, client *http.Client, u *url.URL) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, broken("The exchange rate URL cannot be requested: %v.", err)
	}
	request.Header.Set("Accept", "application/xml, text/xml")
	response, err := client.Do(request)
	if err != nil {
		return nil, unavailable(err, "%s cannot be reached", u.Redacted())
	}
	defer response.Body.Close()

	switch status := response.StatusCode; {
	case status == http.StatusOK:
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return nil, unavailable(nil, "%s responded with %s.", u.Redacted(), response.Status)
	default:
		return nil, broken("%s responded with %s.", u.Redacted(), response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDaily+1))
	if err != nil {
		return nil, unavailable(err, "The response from %s was cut off", u.Redacted())
	}
	if len(body) > maxDaily {
		return nil, broken("The response from %s is not an exchange rate file: %v.", u.Redacted(), errTooLarge)
	}
	return body, nil
}

func unavailable(err error, format string, args ...any) error {
	f := errs.New(errs.Unavailable, format, args...)
	f.Err = err
	return f
}
