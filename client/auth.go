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
// always among them; the others are those of the modal's option verify. A value is a string, an integer, or a list,
// which is signed as JSON. The page must pass exactly the same values. In a list, the keys of each object must be in
// the same order as on the page: a Go map is encoded with sorted keys, a struct in the order of its fields.
type Fields map[string]any

// stampForm is the format of the timestamp at the end of an auth string, such as 20190812055213.
const stampForm = "20060102150405"

// AuthString signs the fields with the channel's secret. The string is valid for fifteen minutes from at, so create it
// when you render the page. The secret must never reach the browser.
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

// text formats a value the way the service compares it.
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
	// The same format as browsers use. The service accepts others too.
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
