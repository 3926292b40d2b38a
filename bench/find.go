package main

import (
	"context"
	"errors"
	"strings"

	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/store"
)

// reading is a statement with its arguments. args[at] is the id of the booking.
type reading struct {
	query   string
	args    []any
	at      int
	columns int
}

// findStatement has the product read one booking and returns the statement that reads its row.
func findStatement(ctx context.Context, store *store.DB, service *app.App, actor access.Actor, id int64) (s reading, err error) {
	var list []reading
	store.Watch(func(query string, args []any) {
		if strings.Contains(query, "FROM bookings") {
			list = append(list, reading{query: query, args: append([]any(nil), args...)})
		}
	})
	_, err = service.Bookings.Get(ctx, actor, id)
	store.Watch(nil)
	if err != nil {
		return s, err
	}
	for _, s := range list {
		for at, arg := range s.args {
			if arg == any(id) {
				s.at = at
				s.columns, err = columnsOf(ctx, store, s)
				return s, err
			}
		}
	}
	return s, errors.New("no statement reads a booking by its id")
}

// columnsOf finds the number of columns that a statement returns by trial.
func columnsOf(ctx context.Context, db *store.DB, s reading) (n int, err error) {
	for n = 1; n < 100; n++ {
		s.columns = n
		if err = db.Read(ctx, store.Deployment, func(tx *store.Tx) error { return s.run(tx, s.args[s.at].(int64)) }); err == nil {
			return n, nil
		}
	}
	return 0, err
}

// run reads the row of one booking.
func (s reading) run(tx *store.Tx, id int64) error {
	args := append([]any(nil), s.args...)
	args[s.at] = id
	values, dest := make([]any, s.columns), make([]any, s.columns)
	for i := range values {
		dest[i] = &values[i]
	}
	return tx.QueryRow(s.query, args, dest...)
}
