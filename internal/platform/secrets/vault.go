package secrets

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/lib/cache"
)

// SealedColumn is a column of encrypted secrets (see SealKeys). The package that owns the table registers it. Its plain
// texts are then encrypted at the first start, and `keys rotate` re-encrypts it.
type SealedColumn struct {
	Table, Column string
	Key           []string // the columns of the table's key
	Field         string   // identifies the column in the places of its secrets and never changes: see PlaceOf
	// Remembered: processes remember rows of it (see Known), and the first column of the key is the site.
	Remembered bool
}

// Name is the column in the form table.column.
func (c SealedColumn) Name() string { return c.Table + "." + c.Column }

// PlaceOf names the place of a sealed secret: the key of its row, and the field. A secret opens only in the place for which
// it was encrypted, so a text copied into another row is worthless there.
func PlaceOf(field string, key ...any) string {
	var b strings.Builder
	for _, part := range key {
		fmt.Fprintf(&b, "%v/", part)
	}
	return b.String() + field
}

// Vault seals secrets for the database, and opens them. Rooms register the columns in which they keep them.
type Vault struct {
	Keys   func() (SealKeys, error) // reads the keys, at each use; nil where the deployment has no file of keys
	Random io.Reader

	opened opened

	mu      sync.Mutex
	columns []SealedColumn
}

// Register adds columns of sealed
func (v *Vault) Register(columns ...SealedColumn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.columns = append(v.columns, columns...)
}

// Columns lists the columns of sealed
func (v *Vault) Columns() []SealedColumn {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]SealedColumn{}, v.columns...)
}

// opened are secrets that were opened. The same text always opens to the same secret, so nothing here goes out of date: a
// payment opens the secret of its channel once in the life of the process.
type opened = cache.Cache[sealedAt, string]

type sealedAt struct{ text, place string }

// errNoKeys means that the deployment has no key file. The operator has to create one.
var errNoKeys = errors.New("no keys: set HOLDFAST_KEYS_FILE to a file created by `holdfast keys make`")

// SealKeys reads the keys again at each use, so that new keys take effect immediately.
func (v *Vault) SealKeys() (SealKeys, error) {
	if v.Keys == nil {
		return SealKeys{}, errNoKeys
	}
	return v.Keys()
}

// Seal seals a secret for a place (see PlaceOf).
func (v *Vault) Seal(secret, place string) (sealed string, err error) {
	keys, err := v.SealKeys()
	if err != nil {
		return "", err
	}
	return keys.Seal(v.Random, []byte(secret), place)
}

// retryTime is when a request may be repeated after the operator had time to bring the keys back.
const retryTime = time.Minute

// Open opens a sealed secret. Of "" it is "". The error is Unavailable when the key is missing: nothing is wrong with the
// request, and the caller can repeat it.
func (v *Vault) Open(sealed, place string) (secret string, err error) {
	if sealed == "" {
		return "", nil
	}
	keys, err := v.SealKeys()
	if err == nil {
		var plain []byte
		if plain, err = keys.Open(sealed, place); err == nil {
			return string(plain), nil
		}
	}
	return "", &errs.Error{
		Kind: errs.Unavailable, RetryAfter: retryTime, Err: err,
		Message: "A secret of this service cannot be decrypted. The operator must check HOLDFAST_KEYS_FILE.",
	}
}

// OpenOften is Open for a secret that many requests need. The process remembers it.
func (v *Vault) OpenOften(sealed, place string) (secret string, err error) {
	secret, ok := v.opened.Get(sealedAt{sealed, place})
	if ok {
		return secret, nil
	}
	if secret, err = v.Open(sealed, place); err == nil {
		v.opened.Put(sealedAt{sealed, place}, secret)
	}
	return secret, err
}
