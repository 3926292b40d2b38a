package core

import (
	"crypto/rand"
	"encoding/binary"
	"sync"

	"holdfast/internal/store"
)

// Limits of what a process remembers.
const (
	knownSites  = 500
	knownValues = 2000 // of each site
)

// ratesSite is the site id under which the version of the fixings is stored: they belong to no site.
const ratesSite = 0

// known holds values that hardly change and that the process remembers: channels, policies, limits, fixings. It is never
// out of date: each value is kept with the version of its site, and every write reads that version (site_versions)
// before it uses a value.
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

// versions are the versions that a write has read at its beginning.
type versions struct {
	known       *known
	siteID      int64
	site, rates int64
	// changed is set when the write itself has changed something. What it reads from then on may be rolled back, so the
	// process does not remember it.
	changed bool
}

var versionsOf = store.NewPinned[versions]()

// Known returns a value of a site that hardly changes (a channel, a policy, a limit). When the version in the database
// says that nothing has changed, it is the value that the process remembers. Otherwise Known calls ask. The question is a
// comparable value whose type is used for this question only. The answer is shared: nobody may change it.
func Known[T any](tx *store.Tx, siteID int64, question any, ask func() (T, error)) (T, error) {
	v := versionsOf.Of(tx)
	if v.siteID != siteID {
		return store.Recall(tx, question, ask)
	}
	return answer(tx, v, siteID, v.site, question, ask)
}

// KnownRates is Known for values that depend on fixings.
func KnownRates[T any](tx *store.Tx, question any, ask func() (T, error)) (T, error) {
	v := versionsOf.Of(tx)
	return answer(tx, v, ratesSite, v.rates, question, ask)
}

func answer[T any](
	tx *store.Tx, v *versions, siteID, version int64, question any, ask func() (T, error),
) (T, error) {
	if v.known == nil || v.changed {
		return store.Recall(tx, question, ask)
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

// Changed is called in every write that changes something which other processes may remember of a site (see Known). It
// gives the site a new version.
func Changed(tx *store.Tx, siteID int64) error {
	versionsOf.Of(tx).changed = true
	*states.Of(tx) = state{}
	tx.ForgetAnswers()
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	_, err := tx.Exec(`INSERT INTO site_versions (site_id, version) VALUES ($1, $2)
		ON CONFLICT (site_id) DO UPDATE SET version = excluded.version`,
		siteID, int64(binary.BigEndian.Uint64(b[:])>>1))
	return err
}

// RatesChanged is Changed for fixings.
func RatesChanged(tx *store.Tx) error { return Changed(tx, ratesSite) }

// RatesVersion is another number after each change of fixings; 0 where there was none yet.
func RatesVersion(tx *store.Tx) (version int64, err error) {
	err = tx.Row(`SELECT COALESCE(MAX(version), 0) FROM site_versions WHERE site_id = $1`, []any{ratesSite}, &version)
	return version, err
}
