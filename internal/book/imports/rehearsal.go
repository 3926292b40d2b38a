package imports

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"holdfast/internal/store"
)

// rehearse is the dry run of an import. Every write is rolled back, so rows that depend on each other (the payments of
// a booking, a refund and its purchase, two rows with the same key) must share a write. It reads the whole file
// first and groups such rows. Everything else is as in a real import.
func (r *importRun) rehearse(ctx context.Context, rows iter.Seq2[ImportedPayment, error]) error {
	refused := r.opts.Refused
	var refusals []Refusal
	r.opts.Refused = func(refusal Refusal) { refusals = append(refusals, refusal) }

	if err := r.recall(ctx); err != nil {
		return err
	}
	// Each group shares a write, so earlier runs have processed all of it or none.
	groups, err := groupByKey(without(rows, true, r.opts.Done))
	if err != nil {
		return err
	}
	var chunk [][]ImportedPayment
	held := 0
	for _, group := range groups {
		if held > 0 && held+len(group) > r.rows {
			if err := r.take(ctx, chunk); err != nil {
				return err
			}
			chunk, held = chunk[:0], 0
		}
		chunk, held = append(chunk, group), held+len(group)
	}
	if err := r.take(ctx, chunk); err != nil {
		return err
	}
	if refused != nil {
		slices.SortFunc(refusals, func(a, b Refusal) int { return cmp.Compare(a.Line, b.Line) })
		for _, refusal := range refusals {
			refused(refusal)
		}
	}
	return nil
}

// recall reads the currencies of the channels that earlier runs would have created.
func (r *importRun) recall(ctx context.Context) error {
	if r.opts.Tried == nil {
		return nil
	}
	return r.Store.Read(ctx, r.actor.SiteID, func(tx *store.Tx) error {
		before, err := r.opts.Tried(tx)
		for _, share := range before.Channels {
			if share.Created {
				r.channels[share.Channel] = share.Currency
			}
		}
		return err
	})
}

// groupByKey groups rows that name the same booking or payment, directly or through other rows. The groups are in the
// order of their first rows, and the rows of a group in the order in which they are imported.
func groupByKey(rows iter.Seq2[ImportedPayment, error]) ([][]ImportedPayment, error) {
	var all []ImportedPayment
	var parent []int             // of each row: an earlier row of its group, or itself
	first := map[[3]string]int{} // the first row with a key
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]] // path halving: shortens later searches
			i = parent[i]
		}
		return i
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		i := len(all)
		all, parent = append(all, row), append(parent, i)
		for _, key := range keysOf(row) {
			j, met := first[key]
			if !met {
				first[key] = i
				continue
			}
			a, b := root(i), root(j)
			parent[max(a, b)] = min(a, b)
		}
	}
	at := map[int]int{} // from a root to the index of its group
	var groups [][]ImportedPayment
	for i, row := range all {
		g, met := at[root(i)]
		if !met {
			g = len(groups)
			at[root(i)], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], row)
	}
	for i := range groups {
		groups[i] = inOrder(groups[i])
	}
	return groups, nil
}

func keysOf(row ImportedPayment) [][3]string {
	if row.Refused != nil {
		return nil
	}
	channel := channelText(row)
	keys := [][3]string{{"booking", channel, row.Booking.ImportKey}, {"payment", channel, row.Payment.ImportKey}}
	if row.Linked != "" {
		keys = append(keys, [3]string{"payment", channel, row.Linked})
	}
	return keys
}
