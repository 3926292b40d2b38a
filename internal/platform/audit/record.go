// Package audit stores the record of who changed what, and the head of its hash chain. It owns the tables audit_*. Start
// at Entry.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"holdfast/internal/domain/civil"
)

// Entry says who changed what, and from where. The records of a site form a chain: each holds the hash of the
// record before it.
type Entry struct {
	SiteID       int64     // 0: the deployment itself
	ID           int64     // from 1 on in its site, without gaps
	At           time.Time // by the site's clock
	RealAt       time.Time
	UserID       int64 // 0: the program itself
	Username     string
	Role         string
	TokenID      int64 // 0: without an API token
	Address      string
	RequestID    string
	Action       string // such as channel.change
	Object       string // such as channel 7
	Before       string // JSON
	After        string // JSON
	PreviousHash string // "" in the first record
	Hash         string
}

// auditFormat is the name of the form of the canonical text, so that there can be a new form later.
const auditFormat = "holdfast-audit-1"

// Canonical is the text that is hashed: a JSON array without spaces. It holds the name of the form and all fields but
// the hash, in the order of the struct. Times are microseconds since 1970, and before and after are texts. Only what
// JSON must escape is escaped.
func (r Entry) Canonical() string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// There is no error: numbers and texts can always be encoded, and a buffer can always grow.
	_ = enc.Encode([]any{
		auditFormat, r.SiteID, r.ID, r.At.UnixMicro(), r.RealAt.UnixMicro(), r.UserID, r.Username, r.Role, r.TokenID,
		r.Address, r.RequestID, r.Action, r.Object, r.Before, r.After, r.PreviousHash,
	})
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// Sum is the hash that the record must have: the SHA-256 of its canonical text, in hex.
func (r Entry) Sum() string {
	sum := sha256.Sum256([]byte(r.Canonical()))
	return hex.EncodeToString(sum[:])
}

// Head is the end of a chain: the id and hash of its last record.
type Head struct {
	ID   int64
	Hash string
}

// Filter picks audit records from a list. An empty field picks all.
type Filter struct {
	Actions   []string
	Usernames []string
	Objects   []string   // such as channel 7
	At        civil.Span // by the site's clock
}

// Check walks through a chain and finds the first record that was changed, removed or moved.
type Check struct {
	Last   Head   // of the records so far
	Broken int64  // id of the first record that is not as it was written; 0: none
	Why    string // the problem
}

// Next checks the next record. It returns false when the chain is broken.
func (c *Check) Next(r Entry) bool {
	switch {
	case c.Broken != 0:
	case r.ID != c.Last.ID+1:
		c.Broken, c.Why = c.Last.ID+1, "it was removed"
	case r.Sum() != r.Hash:
		c.Broken, c.Why = r.ID, "it was changed"
	case r.PreviousHash != c.Last.Hash:
		c.Broken, c.Why = r.ID, "it does not follow the record before it: one of the two has been replaced"
	default:
		c.Last = Head{ID: r.ID, Hash: r.Hash}
	}
	return c.Broken == 0
}

// End compares the end of the chain with head, the end that was stored. begun says that the chain must have a record:
// the chain of a site has one, because the making of the site was recorded.
func (c *Check) End(head Head, begun bool) {
	switch {
	case c.Broken != 0:
	case begun && c.Last.ID == 0 && head.ID == 0:
		c.Broken, c.Why = 1, "it was removed, along with the end of the chain"
	case c.Last.ID > 0 && head.ID == 0:
		c.Broken, c.Why = c.Last.ID, "the end of the chain, which names the last record, was removed"
	case c.Last.ID < head.ID:
		c.Broken, c.Why = c.Last.ID+1, "it was removed"
	case c.Last != head:
		c.Broken, c.Why = c.Last.ID, "it is not the last record that was written"
	}
}
