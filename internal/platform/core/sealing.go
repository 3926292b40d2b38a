package core

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/lib/cache"
	"holdfast/internal/platform/secrets"
)

// SealedColumn is a column of secrets, which lie there sealed (see secrets.SealKeys). The room that owns the table registers
// it. So its plain texts are sealed at the first start, and `keys rotate` seals it anew.
type SealedColumn struct {
	Table, Column string
	Key           []string // the columns of the table's key
	Field         string   // names the column in the places of its secrets, for ever: see PlaceOf
	// Remembered: processes remember rows of it (see Known), and the first column of the key is the site.
	Remembered bool
}

// Name is the column in the form table.column.
func (c SealedColumn) Name() string { return c.Table + "." + c.Column }

// PlaceOf names the place of a sealed secret: the key of its row, and the field. A secret opens only in the place for which
// it was sealed, so a text that somebody copies into another row is worth nothing there.
func PlaceOf(field string, key ...any) string {
	var b strings.Builder
	for _, part := range key {
		fmt.Fprintf(&b, "%v/", part)
	}
	return b.String() + field
}

// SealedColumns are all columns of sealed secrets. Each room registers its own.
type SealedColumns struct {
	mu      sync.Mutex
	columns []SealedColumn
}

// Register adds a column.
func (s *SealedColumns) Register(columns ...SealedColumn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.columns = append(s.columns, columns...)
}

// All lists the columns.
func (s *SealedColumns) All() []SealedColumn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]SealedColumn{}, s.columns...)
}

// opened are secrets that were opened. The same text always opens to the same secret, so nothing here goes out of date: a
// payment opens the secret of its channel once in the life of the process.
type opened = cache.Cache[sealedAt, string]

type sealedAt struct{ text, place string }

// errNoKeys is the error when the deployment has no key file. The operator has to make one.
var errNoKeys = errors.New("there are no keys: set HOLDFAST_KEYS_FILE to a file made by `holdfast keys make`")

// SealKeys reads the keys again at each use, so that new keys count at once.
func (c *Core) SealKeys() (secrets.SealKeys, error) {
	if c.Keys == nil {
		return secrets.SealKeys{}, errNoKeys
	}
	return c.Keys()
}

// Seal seals a secret for a place (see PlaceOf).
func (c *Core) Seal(secret, place string) (sealed string, err error) {
	keys, err := c.SealKeys()
	if err != nil {
		return "", err
	}
	return keys.Seal(c.Random, []byte(secret), place)
}

// mendTime is when a request may be repeated after the operator had time to bring the keys back.
const mendTime = time.Minute

// Open opens a sealed secret. Of "" it is "". The error is Unavailable when the key is missing: nothing is wrong with the
// request, and the caller can repeat it.
func (c *Core) Open(sealed, place string) (secret string, err error) {
	if sealed == "" {
		return "", nil
	}
	keys, err := c.SealKeys()
	if err == nil {
		var plain []byte
		if plain, err = keys.Open(sealed, place); err == nil {
			return string(plain), nil
		}
	}
	return "", &errs.Error{
		Kind: errs.Unavailable, RetryAfter: mendTime, Err: err,
		Message: "A secret of this service cannot be read. The operator has to check HOLDFAST_KEYS_FILE.",
	}
}

// OpenOften is Open for a secret that many requests need. The process remembers it.
func (c *Core) OpenOften(sealed, place string) (secret string, err error) {
	secret, ok := c.opened.Get(sealedAt{sealed, place})
	if ok {
		return secret, nil
	}
	if secret, err = c.Open(sealed, place); err == nil {
		c.opened.Put(sealedAt{sealed, place}, secret)
	}
	return secret, err
}
