package sites

import (
	"crypto/rand"
	"encoding/binary"

	"holdfast/internal/lib/cache"
	"holdfast/internal/store"
)

// ratesSite is the site id under which values that depend on fixings are kept: these belong to no site.
const ratesSite = 0

// known are values that hardly change: channels, policies, limits, fixings. None is out of date: the version of its site is
// part of its key, and every write reads that version (site_versions) before it uses a value.
type known = cache.Cache[knownKey, any]

type knownKey struct {
	siteID, version int64
	question        any
}

// versions are the versions that a write has read at its beginning.
type versions struct {
	known       *known
	siteID      int64
	site, rates int64
	// changed is set when the write itself has changed something. What it reads from then on may be rolled back, so it
	// is not cached.
	changed bool
}

var versionsOf = store.NewLocal[versions]()

// Known returns a value of a site that hardly changes (a channel, a policy, a limit). When the version in the database
// says that nothing has changed, it is the value that the process remembers. Otherwise Known calls ask. The question is a
// comparable value whose type is used for this query only. The result is shared and must not be changed.
func Known[T any](tx *store.Tx, siteID int64, question any, ask func() (T, error)) (T, error) {
	v := versionsOf.Of(tx)
	if v.siteID != siteID {
		return recall(tx, question, ask)
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
		return recall(tx, question, ask)
	}
	key := knownKey{siteID, version, question}
	if value, ok := v.known.Get(key); ok {
		return value.(T), nil
	}
	value, err := ask()
	if err == nil {
		v.known.Put(key, value)
	}
	return value, err
}

// answers are the values that a transaction has read from rows that it has not locked. Another transaction may change them
// in the meantime. An old answer is right all the same: it is that of a transaction which ran a moment earlier.
var answers = store.NewLocal[map[any]any]()

// recall is Known for the length of one transaction.
func recall[T any](tx *store.Tx, question any, ask func() (T, error)) (T, error) {
	known := answers.Of(tx)
	if value, ok := (*known)[question]; ok {
		return value.(T), nil
	}
	value, err := ask()
	if err == nil {
		if *known == nil {
			*known = map[any]any{}
		}
		(*known)[question] = value
	}
	return value, err
}

// Changed is called in every write that changes something which other processes may remember of a site (see Known). It
// gives the site a new version.
func Changed(tx *store.Tx, siteID int64) error {
	_, err := tx.Exec(`INSERT INTO site_versions (site_id, version) VALUES ($1, $2)
		ON CONFLICT (site_id) DO UPDATE SET version = excluded.version`, siteID, newVersion(tx))
	return err
}

// RatesChanged is Changed for fixings.
func RatesChanged(tx *store.Tx) error {
	_, err := tx.Exec(`INSERT INTO rate_versions (id, version) VALUES (0, $1) ON CONFLICT (id) DO UPDATE SET version = excluded.version`,
		newVersion(tx))
	return err
}

// newVersion draws a version for a change of this write, which no longer uses the cache.
func newVersion(tx *store.Tx) int64 {
	versionsOf.Of(tx).changed = true
	*answers.Of(tx) = nil
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.BigEndian.Uint64(b[:]) >> 1)
}

// RatesVersion is Version for fixings.
func RatesVersion(tx *store.Tx) (version int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MAX(version), 0) FROM rate_versions`, nil, &version)
	return version, err
}

// Version is another number after each change of what processes keep of a site; 0 where there was none yet.
func Version(tx *store.Tx, siteID int64) (version int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MAX(version), 0) FROM site_versions WHERE site_id = $1`, []any{siteID}, &version)
	return version, err
}
