package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/domain/civil"
)

// Micros is the stored form of an instant: microseconds since 1970 in GMT.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Instant reads back what Micros stored.
func Instant(us int64) time.Time { return time.UnixMicro(us).UTC() }

// Stored is the column of an instant, for Scan and as an argument.
type Stored struct{ Instant *time.Time }

// Value implements driver.Valuer.
func (s Stored) Value() (driver.Value, error) { return Micros(*s.Instant), nil }

// Scan implements sql.Scanner.
func (s Stored) Scan(stored any) error {
	us, ok := stored.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as a %T", stored)
	}
	*s.Instant = Instant(us)
	return nil
}

// MaybeMicros is Micros, but it stores the zero time, which means "never" or "not yet", as NULL.
func MaybeMicros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

// MaybeInstant reads back what MaybeMicros stored.
func MaybeInstant(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return Instant(us.Int64)
}

// MaybeDay is the stored form of a day: days since 1970, or NULL for civil.NoDay.
func MaybeDay(d civil.Day) sql.NullInt64 {
	return sql.NullInt64{Int64: int64(d), Valid: d != civil.NoDay}
}

// DayOr reads back what MaybeDay stored.
func DayOr(d sql.NullInt64) civil.Day {
	if !d.Valid {
		return civil.NoDay
	}
	return civil.Day(d.Int64)
}

// MaybeID stores 0, which is no row's id, as NULL: a foreign key accepts NULL, but not 0.
func MaybeID(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: id != 0} }

// Exists reports whether a query finds a row. The query has no LIMIT. Citus would plan SELECT EXISTS (…) as two
// queries.
func Exists(tx *Tx, query string, args ...any) (bool, error) {
	var one int
	err := tx.QueryRow(query+" LIMIT 1", args, &one)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Ids reads a column of whole numbers, in the order of the query.
func Ids(tx *Tx, query string, args ...any) ([]int64, error) {
	var list []int64
	err := tx.Query(query, args, func(scan func(dest ...any) error) error {
		var id int64
		err := scan(&id)
		list = append(list, id)
		return err
	})
	return list, err
}
