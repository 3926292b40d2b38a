package view

import (
	"encoding/json"
	"io"
	"time"
)

// Encode writes a body of an answer.
func Encode(w io.Writer, body any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(body)
}

// Links are the URLs of an object and of its collection.
type Links struct {
	Self       [1]Link `json:"self"`
	Collection [1]Link `json:"collection"`
}

// Link is the address of one thing.
type Link struct {
	HREF string `json:"href"`
}

// Write appends the links as JSON.
func (l Links) Write(to []byte) []byte {
	f := Fields{append(to, '{')}
	f.link("self", l.Self[0])
	f.link("collection", l.Collection[0])
	return append(f.Text, '}')
}

// link writes a field with a list of one link.
func (f *Fields) link(name string, l Link) {
	f.Name(name)
	f.Text = append(f.Text, `[{"href":`...)
	f.Text = append(appendText(f.Text, l.HREF), "}]"...)
}

// Deleted is the answer to a DELETE.
type Deleted struct {
	Deleted bool `json:"deleted"`
}

// ISOMicros is the format for instants with microseconds. civil.FormatInstant is the format for all other instants.
const ISOMicros = "2006-01-02T15:04:05.000000Z"

// MaybeISO writes an instant with microseconds. The zero time becomes null.
func MaybeISO(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(ISOMicros)
	return &text
}

// NeverNull turns a list that is nil into an empty one, which is [] in JSON.
func NeverNull[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// OrNull turns a zero value into null.
func OrNull[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}
