package insolvencies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Work makes the snapshots of confirmed insolvencies, ten seconds after they were confirmed: all payments recorded by then are
// visible (R0). Then it returns the premium of the payments recorded after the trigger (R13). It goes through the allocations a
// piece at a time, so its memory does not grow with their number, and it resumes where it was stopped. It returns more if it
// has done something.
func (r *Insolvencies) Work(ctx context.Context) (more bool, err error) {
	var due []sites.Clock
	err = r.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		due, err = sitesToWork(tx)
		return err
	})
	for _, clock := range due {
		if err != nil {
			return false, err
		}
		var did bool
		did, err = r.workOn(ctx, clock)
		more = more || did
	}
	return more, err
}

// workOn does the next piece of work of a site.
func (r *Insolvencies) workOn(ctx context.Context, clock sites.Clock) (did bool, err error) {
	var finished Insolvency // its lines are all written
	err = r.WriteLongBy(ctx, clock, func(tx *store.Tx) error {
		finished = Insolvency{}
		w, err := nextWork(tx, clock.SiteID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		did = true
		if w.State != Confirmed {
			return r.returnPremium(tx, w)
		}
		page, err := ledger.HistoriesAfter(tx, r.Batch, w.SiteID, w.readTo, w.Failure().Day(), w.ConfirmedAt, []int64{w.ChannelID})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			finished = w.Insolvency
			return nil
		}
		return r.addLines(tx, w, page)
	})
	if err != nil || finished.ID == 0 {
		return did, err
	}
	sum, lines, err := r.sum(ctx, clock, finished)
	if err != nil {
		return did, err
	}
	return did, r.WriteBy(ctx, clock, func(tx *store.Tx) error { return r.finish(tx, finished, lines, sum) })
}

// addLines adds the next allocations to the snapshot.
func (r *Insolvencies) addLines(tx *store.Tx, w work, page []protection.History) error {
	policy, err := merchants.PolicyKnown(tx, w.SiteID, w.Failure().Day(), w.ConfirmedAt)
	if err != nil {
		return err
	}
	var lines []claim.SnapshotLine
	for _, h := range page {
		if line, ok := claim.Snapshot(h, w.Failure(), policy.Recognition); ok {
			lines = append(lines, line)
		}
	}
	if err := insertLines(tx, w.Insolvency, lines); err != nil {
		return err
	}
	w.readTo = page[len(page)-1].ID
	return saveWork(tx, w)
}

// sum computes the SHA-256 of all lines. They no longer change, so it reads them in several transactions.
func (r *Insolvencies) sum(ctx context.Context, clock sites.Clock, i Insolvency) (sum string, lines int64, err error) {
	hash := sha256.New()
	lines, err = r.writeSnapshot(ctx, clock, i, hash)
	return hex.EncodeToString(hash.Sum(nil)), lines, err
}

func (r *Insolvencies) writeSnapshot(ctx context.Context, clock sites.Clock, i Insolvency, w io.Writer) (n int64, err error) {
	if err := i.Failure().WriteHead(w, i.SiteID, i.ChannelID); err != nil {
		return 0, err
	}
	for after := int64(0); ; {
		var page []claim.SnapshotLine
		err := r.ReadBy(ctx, clock, func(tx *store.Tx) (err error) {
			page, err = LinesAfter(tx, i.SiteID, i.ID, after, r.Batch)
			return err
		})
		if err != nil {
			return n, err
		}
		for _, line := range page {
			if _, err := io.WriteString(w, line.Text()); err != nil {
				return n, err
			}
			after = line.AllocationID
		}
		if n += int64(len(page)); len(page) < r.Batch {
			return n, nil
		}
	}
}

// finish opens the insolvency: its snapshot exists. Another process may have done it, or a person may have withdrawn it.
func (r *Insolvencies) finish(tx *store.Tx, was Insolvency, lines int64, sum string) error {
	i, err := lockInsolvency(tx, was.SiteID, was.ID)
	if err != nil || i.State != Confirmed {
		return err
	}
	before := audited(i)
	i.State, i.Snapshot = Open, Snapshot{MadeAt: tx.Now, Lines: lines, SHA256: sum}
	if err := insertSnapshot(tx, i); err != nil {
		return err
	}
	if err := saveInsolvency(tx, &i); err != nil {
		return err
	}
	if err := beginPremium(tx, i); err != nil {
		return err
	}
	return r.note(tx, access.System(i.SiteID), "insolvency.open", before, i, "")
}

// premiumsAtOnce is how many allocations the job prices again in one write.
const premiumsAtOnce = 200

// returnPremium books the premium of the next payments that were recorded after the trigger: it goes back, or, after the
// insolvency was withdrawn, is booked again.
func (r *Insolvencies) returnPremium(tx *store.Tx, w work) error {
	last, err := ledger.RepriceAfter(tx, w.SiteID, w.ChannelID, w.TriggerAt, w.premiumTo, premiumsAtOnce)
	if err != nil {
		return err
	}
	w.premiumTo, w.premiumDue = last, last != 0
	return saveWork(tx, w)
}

// WriteSnapshot writes the snapshot of an insolvency as text, whose SHA-256 is that of the snapshot. The error is
// ActionNotPossible before the job has made it.
func (r *Insolvencies) WriteSnapshot(ctx context.Context, actor access.Actor, id int64, w io.Writer) error {
	i, err := r.Opened(ctx, actor, id)
	if err != nil {
		return err
	}
	_, err = r.writeSnapshot(ctx, sites.ClockFor(actor), i, w)
	return err
}

// Opened reads an insolvency that has a snapshot. The error is ActionNotPossible before the job has made it.
func (r *Insolvencies) Opened(ctx context.Context, actor access.Actor, id int64) (Insolvency, error) {
	i, err := r.Get(ctx, actor, id)
	if err == nil && i.Snapshot.MadeAt.IsZero() {
		err = NotPossible(i, "no_snapshot", "Insolvency %d has no snapshot yet. It is made seconds after confirmation.", id)
	}
	return i, err
}
