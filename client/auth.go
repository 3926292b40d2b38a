// Package client is for merchants' servers written in Go. It makes the auth string with which a checkout page opens the
// payment modal: the server vouches for the fields of one payment, so that nobody can change them in the browser.
//
//	auth, err := client.AuthString(secret, client.Fields{
//		"channels": 2, "currencies": "USD", "total": 9999, "email": "ada@example.com",
//	}, time.Now())
//
// Other languages: docs/modal.md has the same in PHP, Python and Node.
package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fields are the fields of a payment that an auth string verifies, by their names: channels, currencies and total always,
// and those that the modal's option verify lists. A text stands for itself, a whole number for its digits, and a list for
// its JSON. The page has to give the very same values.
type Fields map[string]any

// stampForm is YmdHis.
const stampForm = "20060102150405"

// AuthString vouches for the fields with the channel's secret. It is good for fifteen minutes from at: make it when the
// page is made. The secret must never get to the browser.
func AuthString(channelSecret string, fields Fields, at time.Time) (string, error) {
	if channelSecret == "" {
		return "", errors.New("an auth string needs the secret of the channel")
	}
	for _, name := range []string{"channels", "currencies", "total"} {
		if fields[name] == nil {
			return "", fmt.Errorf("an auth string vouches for %s: the field is missing", name)
		}
	}
	values := make([]string, 0, len(fields)+1)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, err := text(fields[name])
		if err != nil {
			return "", fmt.Errorf("the field %s of an auth string: %w", name, err)
		}
		values = append(values, value)
	}
	stamp := at.UTC().Format(stampForm)
	return digest(digest(strings.Join(append(values, stamp), "&"))+channelSecret) + stamp, nil
}

// text is a value as the service sees it.
func text(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float32, float64:
		return "", errors.New("amounts are whole numbers of minor units")
	}
	// As browsers write it: without spaces, and with <, > and & as they are.
	var written bytes.Buffer
	list := json.NewEncoder(&written)
	list.SetEscapeHTML(false)
	if err := list.Encode(value); err != nil {
		return "", err
	}
	return strings.TrimSuffix(written.String(), "\n"), nil
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
