package input

import (
	"encoding/base64"
	"encoding/json"
	"errors"

	"holdfast/internal/store"
)

// cursor is an anchor as the address of a page has it.
type cursor struct {
	ID     int64   `json:"i"`
	Number *int64  `json:"n,omitempty"` // the key, if it is a number
	Text   *string `json:"t,omitempty"` // the key, if it is a text
}

var errCursor = errors.New("not a cursor")

// Cursor writes the anchor of a page. Callers send it back unread.
func Cursor(a store.Anchor) string {
	c := cursor{ID: a.ID}
	switch key := a.Key.(type) {
	case int64:
		c.Number = &key
	case string:
		c.Text = &key
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // two numbers and a text can always be written
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// ParseCursor reads an anchor that Cursor wrote.
func ParseCursor(text string) (store.Anchor, error) {
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return store.Anchor{}, errCursor
	}
	var c cursor
	if err := json.Unmarshal(plain, &c); err != nil || c.ID < 1 || c.Number != nil && c.Text != nil || c.Text != nil && !Storable(*c.Text) {
		return store.Anchor{}, errCursor
	}
	a := store.Anchor{ID: c.ID}
	switch {
	case c.Number != nil:
		a.Key = *c.Number
	case c.Text != nil:
		a.Key = *c.Text
	}
	return a, nil
}
