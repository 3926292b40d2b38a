package disputes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/check"
	"holdfast/internal/errs"
	"holdfast/internal/lib/attachment"
	"holdfast/internal/lib/digest"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of evidence.
const (
	MaxEvidence      = 50 // files of a case
	MaxEvidenceBytes = attachment.MaxBytes
)

// Evidence is a file that a person attached to a case. It is never changed or removed.
type Evidence struct {
	SiteID, ID, DisputeID int64
	Name                  string // with the file extension of its type
	Type                  string // pdf, png or jpeg, as its content shows
	Size                  int64
	SHA256                string
	Note                  string
	AuthorID              int64
	Author                string
	AddedAt               time.Time
}

// MIME is the type as HTTP writes it.
func (e Evidence) MIME() string { return attachment.MIME(e.Type) }

// Attach adds a file to a case. Errors: Invalid and Missing (file), CardNumber, RecordNotFound.
func (d *Disputes) Attach(ctx context.Context, actor access.Actor, id int64, name, note string, file io.Reader) (Evidence, error) {
	if err := actor.Require(access.WorkDisputes); err != nil { // before anything is read
		return Evidence{}, err
	}
	content, err := io.ReadAll(io.LimitReader(file, attachment.MaxBytes+1))
	if err != nil {
		return Evidence{}, errs.New(errs.BadRequest, "The upload was incomplete. Send the file again.")
	}
	e := Evidence{SiteID: actor.SiteID, DisputeID: id, Size: int64(len(content)), Note: note, AuthorID: actor.UserID, Author: actor.Username}
	if e.Type, err = attachment.TypeOf(content); err != nil {
		return e, err
	}
	sum := sha256.Sum256(content)
	e.Name, e.SHA256 = attachment.NameFor(name, e.Type, check.MaxText), hex.EncodeToString(sum[:])
	if err := checkEvidence(e); err != nil {
		return e, err
	}
	actor.Key.Hash = fmt.Sprintf("%s %s %s %s", actor.Key.Hash, e.SHA256, e.Name, e.Note)
	return idempotency.Once(ctx, d.DB, actor, func(tx *store.Tx) (Evidence, idempotency.Outcome, error) {
		made, err := attach(tx, actor, e, content)
		return made, idempotency.Outcome{ID: made.ID}, err
	}, func(ctx context.Context, made idempotency.Outcome) (Evidence, error) {
		found, _, err := d.EvidenceFile(ctx, actor, id, made.ID)
		return found, err
	})
}

func checkEvidence(e Evidence) error {
	var p errs.Problems
	check.Note(&p, "note", e.Note)
	if err := p.Err(); err != nil {
		return err
	}
	if card.HoldsCardNumber(e.Name) || card.HoldsCardNumber(e.Note) {
		return errs.New(errs.CardNumber, "The name or the note of the file contains a card number.")
	}
	return nil
}

func attach(tx *store.Tx, actor access.Actor, e Evidence, content []byte) (Evidence, error) {
	c, err := lockByID(tx, actor.SiteID, e.DisputeID)
	if err != nil {
		return e, unknownCase(err, e.DisputeID)
	}
	list, err := FilesOf(tx, c.SiteID, c.ID)
	if err != nil {
		return e, err
	}
	if len(list) >= MaxEvidence {
		return e, errs.WrongField("file", "A dispute can have at most %d files.", MaxEvidence)
	}
	if e, err = insertEvidence(tx, e); err != nil {
		return e, err
	}
	for number, piece := range attachment.Pieces(content) {
		_, err := tx.Exec(`INSERT INTO dispute_evidence_pieces (site_id, evidence_id, number, body) VALUES ($1, $2, $3, $4)`,
			e.SiteID, e.ID, number, piece)
		if err != nil {
			return e, err
		}
	}
	return e, audit.Record(tx, actor, "dispute.attach", fmt.Sprintf("dispute %d", c.ID), nil, map[string]any{
		"evidence": e.ID, "name": e.Name, "sha256": e.SHA256,
	})
}

// EvidenceOf lists the files of a case, in order of their upload.
func (d *Disputes) EvidenceOf(ctx context.Context, actor access.Actor, id int64) ([]Evidence, error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return nil, err
	}
	list, err := sites.Read(ctx, d.DB, actor, func(tx *store.Tx) ([]Evidence, error) {
		if has, err := store.Exists(tx, `SELECT 1 FROM disputes WHERE site_id = $1 AND id = $2`, actor.SiteID, id); err != nil || !has {
			return nil, cmp.Or(err, store.ErrNotFound)
		}
		return FilesOf(tx, actor.SiteID, id)
	})
	return list, unknownCase(err, id)
}

// EvidenceFile reads a file of a case with its content.
func (d *Disputes) EvidenceFile(ctx context.Context, actor access.Actor, id, evidence int64) (e Evidence, content []byte, err error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return e, nil, err
	}
	e, err = sites.Read(ctx, d.DB, actor, func(tx *store.Tx) (e Evidence, err error) {
		if e, err = evidenceByID(tx, actor.SiteID, id, evidence); err != nil {
			return e, err
		}
		content, err = ContentOf(tx, e)
		return e, err
	})
	return e, content, store.NotFoundAs(errs.RecordNotFound, err, "Dispute %d has no file %d.", id, evidence)
}

// EvidenceFacts are the columns of dispute_evidence that never change.
const EvidenceFacts = `site_id, dispute_id, name, type, size, sha256, note, author_id, author, added_at`

const evidenceColumns = `id, ` + EvidenceFacts

func scanEvidence(scan func(dest ...any) error) (e Evidence, err error) {
	err = scan(&e.ID, &e.SiteID, &e.DisputeID, &e.Name, &e.Type, &e.Size, &e.SHA256, &e.Note, &e.AuthorID, &e.Author,
		store.Stored{Instant: &e.AddedAt})
	return e, err
}

func insertEvidence(tx *store.Tx, e Evidence) (Evidence, error) {
	var err error
	if e.ID, err = tx.NextID("dispute_evidence", e.SiteID); err != nil {
		return e, err
	}
	e.AddedAt = tx.Now
	facts := []any{e.SiteID, e.DisputeID, e.Name, e.Type, e.Size, e.SHA256, e.Note, e.AuthorID, e.Author, store.Micros(e.AddedAt)}
	sum, err := digest.Of(facts...)
	if err != nil {
		return e, err
	}
	_, err = tx.Exec(`INSERT INTO dispute_evidence (id, `+EvidenceFacts+`, digest) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		append(append([]any{e.ID}, facts...), sum)...)
	return e, err
}

// FilesOf lists the files of a case, in order of their upload.
func FilesOf(tx *store.Tx, siteID, disputeID int64) (list []Evidence, err error) {
	err = tx.Query(`SELECT `+evidenceColumns+` FROM dispute_evidence WHERE site_id = $1 AND dispute_id = $2 ORDER BY id`,
		[]any{siteID, disputeID}, func(scan func(dest ...any) error) error {
			e, err := scanEvidence(scan)
			list = append(list, e)
			return err
		})
	return list, err
}

// EvidenceBetween reads the files of a site with ids from first to last, without their contents.
func EvidenceBetween(tx *store.Tx, siteID, first, last int64) (list []Evidence, err error) {
	err = tx.Query(`SELECT `+evidenceColumns+` FROM dispute_evidence WHERE site_id = $1 AND id BETWEEN $2 AND $3 ORDER BY id`,
		[]any{siteID, first, last}, func(scan func(dest ...any) error) error {
			e, err := scanEvidence(scan)
			list = append(list, e)
			return err
		})
	return list, err
}

func evidenceByID(tx *store.Tx, siteID, disputeID, id int64) (Evidence, error) {
	return scanEvidence(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+evidenceColumns+` FROM dispute_evidence WHERE site_id = $1 AND dispute_id = $2 AND id = $3`,
			[]any{siteID, disputeID, id}, dest...)
	})
}

// ContentOf reads the content of a file from its pieces.
func ContentOf(tx *store.Tx, e Evidence) (content []byte, err error) {
	err = tx.Query(`SELECT body FROM dispute_evidence_pieces WHERE site_id = $1 AND evidence_id = $2 ORDER BY number`, []any{e.SiteID, e.ID},
		func(scan func(dest ...any) error) error {
			var body []byte
			err := scan(&body)
			content = append(content, body...)
			return err
		})
	return content, err
}
