package verify

import (
	"bytes"
	"math"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/ops/factchain"
	"holdfast/internal/platform/audit"
)

// sealChain: no seal was changed, removed or moved, each still fits the rows that it seals, and every row still has the
// digest that was written with it.
func sealChain(l *look) error {
	at := place{check: "seals", table: "fact_seals"}
	line := l.line(at.check)
	last, upTo := factchain.Seal{}, map[string]int64{}
	for more := true; more; {
		page, err := factchain.After(l.tx, l.site.ID, last.Number, perPage)
		if err != nil {
			return err
		}
		more = len(page) == perPage
		for _, s := range page {
			line.Rows++
			at.id = s.Number
			sum, err := s.Sum()
			if err != nil {
				return err
			}
			same(l, at, "number", s.Number, last.Number+1)
			same(l, at, "hash", s.Hash, sum)
			same(l, at, "previous_hash", s.PreviousHash, last.Hash)
			same(l, at, words("after_id of", s.Table), s.After, upTo[s.Table])
			last, upTo[s.Table] = s, s.UpTo
			if err := l.sealed(at, s); err != nil {
				return err
			}
		}
	}
	heads, err := factchain.Heads(l.tx, l.site.ID, l.site.Path)
	if err != nil {
		return err
	}
	at = place{at.check, "fact_heads", l.site.ID}
	same(l, at, "number", heads[0].Count, last.Number)
	same(l, at, "hash", heads[0].Hash, last.Hash)
	return l.afterSeals(upTo)
}

// sealed compares a seal with its rows.
func (l *look) sealed(at place, s factchain.Seal) error {
	f, ok := factchain.FactOf(s.Table)
	if !ok {
		l.wrong(at, "name", s.Table, "a table of facts")
		return nil
	}
	rows, digest, err := factchain.DigestRows(l.tx, f, l.site.ID, s.After, s.UpTo, l.rowCheck(f))
	what := words(s.Table, "with ids from", show(s.After+1), "to", show(s.UpTo))
	if rows != s.Rows {
		l.wrong(at, "rows of "+what, rows, s.Rows)
	} else if digest != s.Digest {
		l.wrong(at, "digest of "+what, digest, s.Digest)
	}
	return err
}

// rowCheck compares the digest of each row with the digest stored with it.
func (l *look) rowCheck(f factchain.Fact) func(factchain.Row) error {
	at := place{check: "facts", table: f.Table}
	line := l.line(at.check)
	return func(r factchain.Row) error {
		line.Rows++
		at.id = r.ID
		if r.Missing {
			l.wrong(at, f.Also.Key, nothing, "a row of "+f.Also.Table)
		}
		if !f.Digest || len(r.Stored) == 0 && r.ID <= l.starts[f.Table] {
			return nil
		}
		if !bytes.Equal(r.Stored, r.Digest) {
			l.wrong(at, "digest", hexOf(r.Stored), hexOf(r.Digest))
		}
		return nil
	}
}

// allocationFacts are sealed with their terms. Their own digests are looked at here.
var allocationFacts = factchain.Fact{Table: "allocations", Columns: ledger.AllocationFacts, Digest: true}

// afterSeals looks at the rows that are not sealed yet. The marks agree with the chain: else rows are left out of it.
func (l *look) afterSeals(upTo map[string]int64) error {
	for _, f := range factchain.Facts {
		mark, err := factchain.SealedTo(l.tx, l.site.ID, f.Table)
		if err != nil {
			return err
		}
		at := place{"seals", "fact_marks of " + f.Table, l.site.ID}
		same(l, at, "sealed_to", mark, upTo[f.Table])
		if _, _, err := factchain.DigestRows(l.tx, f, l.site.ID, upTo[f.Table], math.MaxInt64, l.rowCheck(f)); err != nil {
			return err
		}
	}
	_, _, err := factchain.DigestRows(l.tx, allocationFacts, l.site.ID, 0, math.MaxInt64, l.rowCheck(allocationFacts))
	return err
}

// auditChain: no audit record was changed, removed or moved.
func auditChain(l *look) error {
	at := place{check: "audit", table: "audit_records"}
	line := l.line(at.check)
	head, err := audit.HeadOf(l.tx, l.site.ID)
	if err != nil {
		return err
	}
	var c audit.Check
	err = audit.Each(l.tx, l.site.ID, func(r audit.Entry) {
		line.Rows++
		c.Next(r)
	})
	if c.End(head, l.site.ID != 0); c.Broken != 0 {
		at.id = c.Broken
		l.wrong(at, "hash", c.Why, "the record as it was written")
	}
	return err
}

// kept are heads stored outside, and which of them were checked.
type kept struct {
	heads []factchain.Head
	seen  []bool
	hash  string
	found bool
}

func newKept(q Query) *kept {
	return &kept{heads: q.Against, seen: make([]bool, len(q.Against)), hash: q.Hash}
}

// keptHeads: the chains still contain the heads that were kept. A chain that was cut or rewritten does not.
func keptHeads(l *look) error {
	if len(l.kept.heads) == 0 && l.kept.hash == "" {
		return nil
	}
	at := place{check: "kept heads", table: "heads"}
	line := l.line(at.check)
	for i, h := range l.kept.heads {
		if h.Site != l.site.Path {
			continue
		}
		line.Rows++
		l.kept.seen[i] = true
		if h.Count == 0 {
			continue
		}
		hash, err := factchain.HashAt(l.tx, l.site.ID, h.Chain, h.Count)
		if err != nil {
			return err
		}
		if hash == "" {
			hash = nothing
		}
		at.id = h.Count
		same(l, at, words("hash of chain", h.Chain, "kept at", h.At.UTC().Format(time.DateTime)), hash, h.Hash)
	}
	if l.kept.hash == "" || l.kept.found {
		return nil
	}
	_, _, ok, err := factchain.PlaceOf(l.tx, l.site.ID, l.kept.hash)
	l.kept.found = ok
	return err
}

// rest are findings about what no site has.
func (k *kept) rest(limit int) ([]*Line, []Finding) {
	l := &look{limit: limit}
	for i, h := range k.heads {
		if !k.seen[i] {
			l.site.Path = h.Site
			l.wrong(place{"kept heads", "heads", h.Count}, "hash of chain "+h.Chain, "no such site was checked", h.Hash)
		}
	}
	if l.site.Path = ""; k.hash != "" && !k.found {
		l.wrong(place{"kept heads", "heads", 0}, "hash", nothing, k.hash)
	}
	return l.lines, l.found
}
