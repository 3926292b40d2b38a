package client

import (
	"encoding/json"
	"fmt"
	"time"
)

// Day is a day, such as 2026-06-30. It is empty where the API has none. Days compare like texts.
type Day string

// DayOf is the day of a time in UTC, in which the service counts.
func DayOf(t time.Time) Day { return Day(t.UTC().Format(time.DateOnly)) }

// Time is the beginning of the day in UTC. The error says that the text is no day.
func (d Day) Time() (time.Time, error) { return moment("day", time.DateOnly, string(d)) }

// Instant is a time in GMT in whole seconds, such as 2026-03-02 10:20:30. Instants compare like texts.
type Instant string

// InstantOf is a time in the form of the API. What is shorter than a second is cut off.
func InstantOf(t time.Time) Instant { return Instant(t.UTC().Format(time.DateTime)) }

// Time is the instant in UTC. The error says that the text is none.
func (i Instant) Time() (time.Time, error) { return moment("time", time.DateTime, string(i)) }

func moment(what, form, text string) (time.Time, error) {
	t, err := time.Parse(form, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no %s of the form %s", text, what, form)
	}
	return t, nil
}

// Nullable is a field that a change can leave as it is (the zero value), set (Set) or remove (Null).
type Nullable[T any] struct {
	named bool
	value *T
}

// Set gives the field a value.
func Set[T any](value T) Nullable[T] { return Nullable[T]{named: true, value: &value} }

// Null removes the value of the field.
func Null[T any]() Nullable[T] { return Nullable[T]{named: true} }

// IsZero says whether the field is left as it is. Then encoding/json leaves it out.
func (n Nullable[T]) IsZero() bool { return !n.named }

// MarshalJSON implements json.Marshaler.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }
