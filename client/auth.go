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

// Fields are the fields of a payment that an auth string verifies, by their names. channels, currencies and total are
// always among them; the others are those of the modal's option verify. A value is a text, a whole number, or a list,
// which is signed as JSON. The page must give exactly the same values. In a list, the keys of each object must stand in
// the same order as in the page: a Go map is written with its keys sorted, a struct in the order of its fields.
type Fields map[string]any

// stampForm is the form of the time at the end of an auth string, such as 20190812055213.
const stampForm = "20060102150405"

// AuthString signs the fields with the channel's secret. The string is good for fifteen minutes from at, so make it when
// you make the page. The secret must never get to the browser.
func AuthString(channelSecret string, fields Fields, at time.Time) (string, error) {
	if channelSecret == "" {
		return "", errors.New("an auth string needs the secret of the channel")
	}
	for _, name := range []string{"channels", "currencies", "total"} {
		if fields[name] == nil {
			return "", fmt.Errorf("an auth string needs the field %s, which is missing", name)
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

// text is a value in the form that the service compares.
func text(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float32, float64:
		return "", errors.New("it must be a whole number; amounts are in minor units (cents)")
	}
	// The same form as in browsers. The service accepts other forms, too.
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
