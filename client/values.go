package client

import (
	"encoding/json"
	"fmt"
	"time"
)

// Day is a day, such as 2026-06-30. It is empty if the API has none. Days compare like strings.
type Day string

// DayOf is the day of a time in UTC, which the service uses.
func DayOf(t time.Time) Day { return Day(t.UTC().Format(time.DateOnly)) }

// Time is the beginning of the day in UTC. It returns an error if the text is not a day.
func (d Day) Time() (time.Time, error) { return moment("day", time.DateOnly, string(d)) }

// Instant is a time in GMT in whole seconds, such as 2026-03-02 10:20:30. Instants compare like strings.
type Instant string

// InstantOf is a time in the format of the API. Fractions of a second are dropped.
func InstantOf(t time.Time) Instant { return Instant(t.UTC().Format(time.DateTime)) }

// Time is the instant in UTC. It returns an error if the text is not an instant.
func (i Instant) Time() (time.Time, error) { return moment("time", time.DateTime, string(i)) }

func moment(what, form, text string) (time.Time, error) {
	t, err := time.Parse(form, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no %s of the form %s", text, what, form)
	}
	return t, nil
}

// Nullable is a field that a change can leave unchanged (the zero value), set (Set) or remove (Null).
type Nullable[T any] struct {
	named bool
	value *T
}

// Set sets the field to a value.
func Set[T any](value T) Nullable[T] { return Nullable[T]{named: true, value: &value} }

// Null removes the value of the field.
func Null[T any]() Nullable[T] { return Nullable[T]{named: true} }

// IsZero reports whether the field is left unchanged; encoding/json then omits it.
func (n Nullable[T]) IsZero() bool { return !n.named }

// MarshalJSON implements json.Marshaler.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }
