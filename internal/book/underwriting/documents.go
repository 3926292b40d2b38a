package underwriting

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of documents.
const (
	MaxDocuments     = 5       // of a request
	MaxDocumentBytes = 5 << 20 // of one
	pieceBytes       = 256 << 10
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

// kinds are the types of documents, by how their content begins. The type given by a name or a browser is ignored.
var kinds = []struct {
	begin, kind, mime string
	endings           []string // file extensions; the first one is added to names without any
}{
	{"%PDF-", "pdf", "application/pdf", []string{".pdf"}},
	{"\x89PNG\r\n\x1a\n", "png", "image/png", []string{".png"}},
	{"\xff\xd8\xff", "jpeg", "image/jpeg", []string{".jpg", ".jpeg"}},
}

// MIME is the type as HTTP writes it.
func (d Document) MIME() string {
	for _, k := range kinds {
		if k.kind == d.Type {
			return k.mime
		}
	}
	return "application/octet-stream"
}

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
	if d.Type, err = typeOf(content); err != nil {
		return d, err
	}
	d.Name = nameFor(name, d.Type)
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
		for number, rest := 0, content; len(rest) > 0; number++ {
			piece := rest[:min(pieceBytes, len(rest))]
			rest = rest[len(piece):]
			if err := insertPiece(tx, d.SiteID, d.ID, number, piece); err != nil {
				return before, "", err
			}
		}
		return after, "protection.attach", nil
	})
	return d, err
}

// typeOf finds the type of a document, and refuses other files.
func typeOf(content []byte) (string, error) {
	switch {
	case len(content) == 0:
		var p errs.Problems
		p.Missing("file")
		return "", p.Err()
	case len(content) > MaxDocumentBytes:
		return "", errs.WrongField("file", "A document can have at most %d MB.", MaxDocumentBytes>>20)
	}
	for _, k := range kinds {
		if bytes.HasPrefix(content, []byte(k.begin)) {
			return k.kind, nil
		}
	}
	return "", errs.WrongField("file", "A document must be a PDF, a PNG or a JPEG.")
}

// ending matches what programs read as a file extension.
var ending = regexp.MustCompile(`(?i)\.[a-z][a-z0-9]{0,7}$`)

func cutEnding(name string) (rest, given string) {
	given = ending.FindString(name)
	return strings.TrimRight(strings.TrimSuffix(name, given), ". "), strings.ToLower(given)
}

// nameFor keeps the name of a file, without paths and characters that would break a header. The result always has the extension of its
// type, whatever the sender used.
func nameFor(name, kind string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(c rune) rune {
		// Characters of class Cf can reverse the text direction, and so disguise the extension.
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || strings.ContainsRune(`"/;%`, c) {
			return -1
		}
		return c
	}, name)
	name = strings.Trim(name, ". ")
	for _, k := range kinds {
		if k.kind != kind {
			continue
		}
		name, given := cutEnding(name)
		if !slices.Contains(k.endings, given) {
			given = k.endings[0]
			if shorter, inner := cutEnding(name); slices.Contains(k.endings, inner) { // accounts.pdf.exe
				name, given = shorter, inner
			}
		}
		if runes := []rune(name); len(runes)+len(given) > check.MaxText {
			name = string(runes[:check.MaxText-len(given)])
		}
		return cmp.Or(name, "document") + given
	}
	return name
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
