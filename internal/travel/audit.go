package travel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// AuditRecord says who changed what, and from where. Records of a site form a chain: each holds the hash of the one
// before it.
type AuditRecord struct {
	SiteID       int64     // 0: the deployment itself
	ID           int64     // counts from 1 without gaps in its site
	At           time.Time // by the site's clock
	RealAt       time.Time
	UserID       int64 // 0: the program itself
	Username     string
	Role         string
	TokenID      int64 // 0: not called with an API token
	Address      string
	RequestID    string
	Action       string // such as channel.change
	Object       string // such as channel 7
	Before       string // JSON
	After        string // JSON
	PreviousHash string // "" in the first record
	Hash         string
}

// auditFormat names the canonical text, so that another one can follow it some day.
const auditFormat = "holdfast-audit-1"

// Canonical is the text that is hashed: a JSON array without spaces of the format's name and all fields but the hash, in
// the order of the struct; instants as microseconds since 1970, before and after as texts. Only ", \ and what JSON must
// escape is escaped.
func (r AuditRecord) Canonical() string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// Numbers and texts always encode, and a buffer always takes them.
	_ = enc.Encode([]any{
		auditFormat, r.SiteID, r.ID, r.At.UnixMicro(), r.RealAt.UnixMicro(), r.UserID, r.Username, r.Role, r.TokenID,
		r.Address, r.RequestID, r.Action, r.Object, r.Before, r.After, r.PreviousHash,
	})
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// Sum is the hash that the record must have: sha256 of its canonical text, in hex.
func (r AuditRecord) Sum() string {
	sum := sha256.Sum256([]byte(r.Canonical()))
	return hex.EncodeToString(sum[:])
}

// AuditHead is the end of a chain: the id and hash of its last record.
type AuditHead struct {
	ID   int64
	Hash string
}

// AuditFilter chooses audit records of a list; empty fields choose all.
type AuditFilter struct {
	Actions       []string
	After, Before time.Time // by the site's clock
}

// AuditOrders lists the attributes by which audit records can be sorted.
var AuditOrders = []string{"id"}

// AuditCheck walks a chain record by record and finds the first that was changed, removed or moved.
type AuditCheck struct {
	Last   AuditHead // of the records seen so far
	Broken int64     // id of the first record that is not as it was written; 0: none
	Why    string
}

// Next looks at the record that follows those seen so far. It answers false once the chain is broken.
func (c *AuditCheck) Next(r AuditRecord) bool {
	switch {
	case c.Broken != 0:
	case r.ID != c.Last.ID+1:
		c.Broken, c.Why = c.Last.ID+1, "it was removed"
	case r.Sum() != r.Hash:
		c.Broken, c.Why = r.ID, "it was changed"
	case r.PreviousHash != c.Last.Hash:
		c.Broken, c.Why = r.ID, "it does not follow the record before it: one of the two was put in the other's place"
	default:
		c.Last = AuditHead{ID: r.ID, Hash: r.Hash}
	}
	return c.Broken == 0
}

// End compares the end of the chain with what was noted as its end. A site's chain has begun: making the site wrote its
// first record.
func (c *AuditCheck) End(head AuditHead, begun bool) {
	switch {
	case c.Broken != 0:
	case begun && c.Last.ID == 0 && head.ID == 0:
		c.Broken, c.Why = 1, "it was removed, and the end of the chain with it"
	case c.Last.ID > 0 && head.ID == 0:
		c.Broken, c.Why = c.Last.ID, "the end of the chain, which names the last record, was removed"
	case c.Last.ID < head.ID:
		c.Broken, c.Why = c.Last.ID+1, "it was removed"
	case c.Last != head:
		c.Broken, c.Why = c.Last.ID, "it is not the last record that was written"
	}
}
