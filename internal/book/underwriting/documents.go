package underwriting

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/errs"
	"holdfast/internal/lib/attachment"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of documents.
const (
	MaxDocuments     = 5 // of a request
	MaxDocumentBytes = attachment.MaxBytes
)

// Document is a file that is attached to a request.
type Document struct {
	SiteID, ID, ChannelID int64
	Name                  string // with the file extension of its type
	Type                  string // pdf, png or jpeg, as its content shows
	Size                  int64
	SHA256, AddedBy       string
	AddedAt               time.Time // by the real clock
}

// MIME is the type as HTTP writes it.
func (d Document) MIME() string { return attachment.MIME(d.Type) }

// Attach adds a document to a request that its author may change; with the first one the request begins. Errors: Forbidden,
// Invalid and Missing (file), BodyTooLarge, SettingNotFound, and NotPossible as for Save.
func (r *Requests) Attach(ctx context.Context, actor access.Actor, channelID int64, name string, file io.Reader) (d Document, err error) {
	if err := actor.Require(access.WriteChannels); err != nil { // before anything is read
		return d, err
	}
	content, err := io.ReadAll(io.LimitReader(file, MaxDocumentBytes+1))
	if err != nil {
		return d, errs.New(errs.BadRequest, "The upload was incomplete. Send the file again.")
	}
	digest := sha256.Sum256(content)
	d = Document{
		SiteID: actor.SiteID, ChannelID: channelID, Size: int64(len(content)), SHA256: hex.EncodeToString(digest[:]),
		AddedBy: actor.Username,
	}
	if d.Type, err = attachment.TypeOf(content); err != nil {
		return d, err
	}
	d.Name = attachment.NameFor(name, d.Type, check.MaxText)
	if err := noCard(nil, d.Name); err != nil {
		return d, err
	}
	_, err = r.change(ctx, actor, channelID, func(tx *store.Tx, before Request) (Request, string, error) {
		if len(before.Documents) >= MaxDocuments {
			return before, "", errs.WrongField("file", "A request can have at most %d documents. Remove one first.", MaxDocuments)
		}
		after := before
		if after.State == "" {
			after.State = Writing
			first := after
			first.SiteID, first.ModifiedAt = actor.SiteID, sites.RealNow(tx)
			if err := put(tx, first); err != nil { // the document refers to it
				return before, "", err
			}
		}
		d.AddedAt = sites.RealNow(tx)
		if d.ID, err = insertDocument(tx, d); err != nil {
			return before, "", err
		}
		for number, piece := range attachment.Pieces(content) {
			if err := insertPiece(tx, d.SiteID, d.ID, number, piece); err != nil {
				return before, "", err
			}
		}
		return after, "protection.attach", nil
	})
	return d, err
}

// Document reads one document of a request with its content. siteID is as for Get.
func (r *Requests) Document(ctx context.Context, actor access.Actor, siteID, channelID, id int64) (d Document, content []byte, err error) {
	by, err := on(actor, siteID)
	if err != nil {
		return d, nil, err
	}
	d, err = sites.Read(ctx, r.DB, by, func(tx *store.Tx) (d Document, err error) {
		if d, err = documentByID(tx, siteID, channelID, id); err != nil {
			return d, err
		}
		content, err = contentOf(tx, d)
		return d, err
	})
	return d, content, store.NotFoundAs(errs.SettingNotFound, err, "Document %d not found.", id)
}

// Detach removes a document from a request that its author may change.
func (r *Requests) Detach(ctx context.Context, actor access.Actor, channelID, id int64) error {
	_, err := r.change(ctx, actor, channelID, func(tx *store.Tx, before Request) (Request, string, error) {
		if _, err := documentByID(tx, actor.SiteID, channelID, id); err != nil {
			return before, "", store.NotFoundAs(errs.SettingNotFound, err, "Document %d not found.", id)
		}
		return before, "protection.detach", removeDocument(tx, actor.SiteID, id)
	})
	return err
}
