// Package digest computes the digest of a row, which later shows whether the row has changed. Start at Of.
package digest

import (
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"strconv"
)

// Of is the SHA-256 of values in their order. Values that are stored the same way have the same digest, on both
// engines, also after they are read back. Each value is written with its kind and its length, so that no two lists have
// the same text: "i-5;" is a number, "t3:abc;" a text, "n;" NULL. Bytes are a text. An amount, an instant or a day is a
// number, and so is true: 1. Any other kind of value is an error.
func Of(values ...any) ([]byte, error) {
	text := make([]byte, 0, 512)
	for i, v := range values {
		stored, err := driver.DefaultParameterConverter.ConvertValue(v)
		if err != nil {
			return nil, fmt.Errorf("value %d of a digest: %w", i+1, err)
		}
		switch v := stored.(type) {
		case nil:
			text = append(text, 'n')
		case int64:
			text = strconv.AppendInt(append(text, 'i'), v, 10)
		case bool:
			text = append(text, 'i', '0') // as SQLite stores it
			if v {
				text[len(text)-1] = '1'
			}
		case string:
			text = appendText(text, v)
		case []byte:
			text = appendText(text, string(v))
		default:
			return nil, fmt.Errorf("value %d of a digest is a %T", i+1, stored)
		}
		text = append(text, ';')
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}

func appendText(to []byte, s string) []byte {
	to = strconv.AppendInt(append(to, 't'), int64(len(s)), 10)
	return append(append(to, ':'), s...)
}
