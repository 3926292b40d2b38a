package core

import (
	"crypto/rand"
	"encoding/binary"
	"sync"

	"holdfast/internal/db"
)

// Bounds of what a process remembers of sites: how many sites, and how many values of each.
const (
	knownSites  = 500
	knownValues = 2000
)

// ratesSite is the site under which the version of the rates stands: they are everybody's.
const ratesSite = 0

// known is what a process remembers of what hardly changes: channels, policies, limits, fixings. It cannot be wrong: each
// value is kept with the version that it was read under, and every write reads the version anew before it takes a value
// (see site_versions).
type known struct {
	mu    sync.Mutex
	sites map[int64]*knownOf
}

type knownOf struct {
	version int64
	values  map[any]any
}

func (k *known) get(siteID, version int64, question any) (value any, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.sites[siteID]
	if of == nil || of.version != version {
		return nil, false
	}
	value, ok = of.values[question]
	return value, ok
}

func (k *known) put(siteID, version int64, question, value any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.sites[siteID]
	if of == nil || of.version != version || len(of.values) >= knownValues {
		if k.sites == nil || len(k.sites) >= knownSites {
			k.sites = map[int64]*knownOf{}
		}
		of = &knownOf{version: version, values: map[any]any{}}
		k.sites[siteID] = of
	}
	of.values[question] = value
}

// versions are those that a write has read, and where the process remembers what it read under them.
type versions struct {
	known       *known
	siteID      int64
	site, rates int64
	// changed: the write has changed something itself. What it reads from then on may be taken back, and is remembered by
	// nobody else.
	changed bool
}

var versionsOf = db.NewPinned[versions]()

// Known answers a question about what hardly changes of a site (its channels, policies, limits): from what the process
// remembers, where the version in the database says that nothing has changed since, or else by asking. The question is a
// comparable value of a type of its own. Nobody may change the answer: it is shared.
func Known[T any](tx *db.Tx, siteID int64, question any, ask func() (T, error)) (T, error) {
	v := versionsOf.Of(tx)
	if v.siteID != siteID {
		return db.Recall(tx, question, ask)
	}
	return answer(tx, v, siteID, v.site, question, ask)
}

// KnownRates is Known for what hangs on fixings.
func KnownRates[T any](tx *db.Tx, question any, ask func() (T, error)) (T, error) {
	v := versionsOf.Of(tx)
	return answer(tx, v, ratesSite, v.rates, question, ask)
}

func answer[T any](
	tx *db.Tx, v *versions, siteID, version int64, question any, ask func() (T, error),
) (T, error) {
	if v.known == nil || v.changed {
		return db.Recall(tx, question, ask)
	}
	if value, ok := v.known.get(siteID, version, question); ok {
		return value.(T), nil
	}
	value, err := ask()
	if err == nil {
		v.known.put(siteID, version, question, value)
	}
	return value, err
}

// Changed notes in the write that changes it that something of a site has changed which others may remember.
func Changed(tx *db.Tx, siteID int64) error {
	versionsOf.Of(tx).changed = true
	tx.ForgetAnswers()
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	_, err := tx.Exec(`INSERT INTO site_versions (site_id, version) VALUES ($1, $2)
		ON CONFLICT (site_id) DO UPDATE SET version = excluded.version`,
		siteID, int64(binary.BigEndian.Uint64(b[:])>>1))
	return err
}

// RatesChanged is Changed for fixings.
func RatesChanged(tx *db.Tx) error { return Changed(tx, ratesSite) }
