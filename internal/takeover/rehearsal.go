package takeover

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"holdfast/internal/travel"
)

// rehearse is an import that keeps nothing. Every write of it is taken back, so that rows which build on each other (a
// booking's payments, a refund and its purchase, two rows with the same key) have to share one. It reads the whole
// file first and puts such rows together; everything else about it is the import itself.
func (r *importRun) rehearse(ctx context.Context, rows iter.Seq2[travel.ImportedPayment, error]) error {
	refused := r.opts.Refused
	var refusals []Refusal
	r.opts.Refused = func(refusal Refusal) { refusals = append(refusals, refusal) }

	groups, err := kin(rows)
	if err != nil {
		return err
	}
	var chunk [][]travel.ImportedPayment
	held := 0
	for _, group := range groups {
		if held > 0 && held+len(group) > rowsPerWrite {
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

// kin groups rows that share a booking or a payment, by their keys, directly or through others. Groups stand in the
// order of their first rows, rows in the order of the file.
func kin(rows iter.Seq2[travel.ImportedPayment, error]) ([][]travel.ImportedPayment, error) {
	var all []travel.ImportedPayment
	var parent []int             // of each row: an earlier row of its group, or itself
	first := map[[3]string]int{} // the first row with a key
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]] // halves the way of the next one
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
	at := map[int]int{} // root to the place of its group
	var groups [][]travel.ImportedPayment
	for i, row := range all {
		g, met := at[root(i)]
		if !met {
			g = len(groups)
			at[root(i)], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], row)
	}
	return groups, nil
}

func keysOf(row travel.ImportedPayment) [][3]string {
	if row.Refused != nil {
		return nil
	}
	keys := [][3]string{{"booking", row.Channel, row.Booking.ImportKey}, {"payment", row.Channel, row.Payment.ImportKey}}
	if row.Linked != "" {
		keys = append(keys, [3]string{"payment", row.Channel, row.Linked})
	}
	return keys
}
