package mail

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Limits of sending. An attempt takes at most ten times SMTP.Timeout, which is at most 20 seconds: connecting, five
// responses, and the longer one to the text. So an attempt older than lostAfter will never report its outcome.
const (
	lostAfter   = 5 * time.Minute
	sendBatch   = 50
	forgetBatch = 500
	firstPause  = time.Minute
	longestWait = 6 * time.Hour
	giveUpAfter = 3 * 24 * time.Hour // since it was queued
)

// lostAnswer is the note on an attempt whose process died before recording the outcome.
const lostAnswer = "The program stopped before the server responded. The e-mail may have been sent."

// outcome is the outcome of an attempt.
type outcome struct {
	state    State
	answer   string
	nextAt   time.Time
	forgetAt time.Time
}

// Send sends due e-mails, a bounded number per call. It returns more if there may be some left. For each e-mail it first
// stores that an attempt starts, then talks to the server, then stores the outcome: so no e-mail is automatically sent
// twice, and if a crash loses the outcome, the e-mail's state shows it.
func (m *Mails) Send(ctx context.Context) (more bool, err error) {
	var waiting, sending []int64
	err = m.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		waiting, sending, err = sitesDue(tx)
		return err
	})
	for _, site := range sending {
		if err == nil {
			err = m.Store.Write(ctx, site, func(tx *store.Tx) error { return giveUpLost(tx, site) })
		}
	}
	if err != nil || m.Transport == nil || len(waiting) == 0 {
		return false, err
	}
	var due []store.Key
	var room int
	err = m.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		tried, err := triedSince(tx, sites.RealNow(tx).Add(-time.Minute))
		if room = min(m.Transport.PerMinute-tried, sendBatch); err != nil || room <= 0 {
			return err
		}
		due, err = m.inTurns(tx, waiting, room)
		return err
	})
	if err != nil || len(due) == 0 {
		return false, err
	}
	var down atomic.Pointer[error] // the server is unreachable: pause before trying other e-mails
	m.last.Store(due[len(due)-1].SiteID)
	leases.AtOnce(due, m.Transport.AtOnce, func(key store.Key) {
		if ctx.Err() != nil || down.Load() != nil {
			return
		}
		if err := m.sendOne(ctx, key); err != nil {
			down.Store(&err)
		}
	})
	if failed := down.Load(); failed != nil {
		return false, *failed
	}
	return len(due) == room && ctx.Err() == nil, nil
}

// inTurns picks up to limit due e-mails of some sites round-robin: the first of each site, then the second of each, and so on. It starts
// after the site served last, so that a site with very many e-mails does not delay the others.
func (m *Mails) inTurns(tx *store.Tx, sites []int64, limit int) (picked []store.Key, err error) {
	next, found := slices.BinarySearch(sites, m.last.Load())
	if found {
		next++
	}
	sites = slices.Concat(sites[next:], sites[:next])
	sites = sites[:min(len(sites), limit)]
	due := make([][]int64, len(sites))
	for i, site := range sites {
		if due[i], err = dueMails(tx, site, limit); err != nil {
			return nil, err
		}
	}
	for turn, left := 0, true; left && len(picked) < limit; turn++ {
		left = false
		for i, site := range sites {
			if turn < len(due[i]) && len(picked) < limit {
				picked, left = append(picked, store.Key{SiteID: site, ID: due[i][turn]}), true
			}
		}
	}
	return picked, nil
}

// sendOne makes one attempt to send an e-mail. An error means that no e-mail can be sent now.
func (m *Mails) sendOne(ctx context.Context, key store.Key) error {
	var mail Mail
	err := m.Store.Write(ctx, key.SiteID, func(tx *store.Tx) (err error) {
		mail, err = claimDue(tx, key)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	// From here on the outcome must be stored, even during shutdown.
	calling, ctx := ctx, context.WithoutCancel(ctx)
	var result result
	if m.onlyShown(mail) { // queued under different settings
		result.kind, result.answer = shown, sandboxAnswer
	} else if text, gone, err := m.secretText(ctx, mail); errs.Is(err, errs.Unavailable) {
		result = unusable(err)
	} else if err != nil {
		result = refused("The e-mail's text could not be created: " + err.Error())
	} else if gone != "" {
		result = refused(gone)
	} else if problem := checkAddress(mail.Recipient); problem != "" {
		result = refused(problem)
	} else {
		result = m.Transport.send(calling, mail, text)
	}
	err = m.Store.Write(ctx, key.SiteID, func(tx *store.Tx) error { return finish(tx, mail, result.of(mail, sites.RealNow(tx))) })
	if err != nil {
		return err
	}
	if result.kind != taken {
		m.Log.Warn("e-mail not sent", "site", mail.SiteID, "mail", mail.ID, "attempt", mail.Attempts, "outcome", result.kind,
			"answer", result.answer)
	}
	return result.down
}

// Forget deletes the addresses and texts of e-mails that finished 30 days ago; what remains is that there was an e-mail, its
// subject matter and its outcome. It returns more if there may be some left.
func (m *Mails) Forget(ctx context.Context) (more bool, err error) {
	more, err = sites.Each(ctx, m.DB, sites.Older("mails", "forget_at", "o.forget_at IS NOT NULL", 0), forgetBatch, forget)
	if err != nil {
		return false, err
	}
	left, err := sites.Each(ctx, m.DB, sitesWithUnusedFiles, forgetBatch, forgetFiles)
	return more || left, err
}

// Outcomes of an attempt.
const (
	taken   = "taken"   // confirmed by the server
	refusal = "refused" // it never will
	later   = "later"   // certainly not accepted
	lost    = "lost"    // the server has the whole e-mail, but its response was lost
	shown   = "shown"   // not sent under these settings
)

// result is the transport's result of an attempt.
type result struct {
	kind   string
	answer string
	down   error // the server accepts no e-mails at all
}

func refused(answer string) result { return result{kind: refusal, answer: answer} }

// of turns a result into the stored outcome. Pauses between attempts double, up to six hours, for three days.
func (r result) of(m Mail, now time.Time) outcome {
	o := outcome{answer: clean(r.answer, maxAnswer)}
	switch r.kind {
	case taken:
		o.state = Sent
	case refusal:
		o.state = Dead
	case lost:
		o.state = Unknown
	case shown:
		o.state = Outbox
	default:
		o.state, o.nextAt = Waiting, now.Add(pause(m.Attempts))
		if o.nextAt.After(m.AskedAt.Add(giveUpAfter)) {
			o.state, o.nextAt = Dead, time.Time{}
		}
	}
	if o.state != Waiting {
		o.forgetAt = now.Add(remember)
	}
	return o
}

// pause is the back-off after the nth attempt.
func pause(attempts int64) time.Duration {
	return min(longestWait, firstPause<<min(max(attempts-1, 0), 10))
}
