package underwriting

import (
	"database/sql"
	"encoding/json"
	"errors"

	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const requestColumns = `r.site_id, r.channel_id, r.state, r.facts, r.note, r.asked_by, r.asked_at, r.answered_by, r.answered_at,
	r.version, r.modified_at`

func scanRequest(scan func(dest ...any) error, more ...any) (r Request, err error) {
	var facts string
	var asked, answered sql.NullInt64
	var modified int64
	err = scan(append([]any{&r.SiteID, &r.ChannelID, &r.State, &facts, &r.Note, &r.AskedBy, &asked, &r.AnsweredBy, &answered,
		&r.Version, &modified}, more...)...)
	if err != nil {
		return r, err
	}
	r.AskedAt, r.AnsweredAt, r.ModifiedAt = store.MaybeInstant(asked), store.MaybeInstant(answered), store.Instant(modified)
	return r, json.Unmarshal([]byte(facts), &r.Facts)
}

// requestOf reads the request of a channel. Where there is none, its state is "".
func requestOf(tx *store.Tx, siteID, channelID int64) (Request, error) {
	r, err := scanRequest(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+requestColumns+` FROM protection_requests r WHERE r.site_id = $1 AND r.channel_id = $2`,
			[]any{siteID, channelID}, dest...)
	})
	if errors.Is(err, store.ErrNotFound) {
		return Request{SiteID: siteID, ChannelID: channelID}, nil
	}
	return r, err
}

// inStates reads one page of the requests of all sites in some states, the longest waiting first.
func inStates(tx *store.Tx, states []State, page store.Page) (store.List[Request], error) {
	list := store.List[Request]{Total: -1}
	if len(states) == 0 {
		return list, nil
	}
	var w sqltext.Where
	sqltext.In(&w, "r.state", states)
	w.And("r.state <> ?", Writing)
	most := page.Size + 1 // one more than the page has, to know whether there is a next one
	err := tx.Query(`SELECT `+requestColumns+`, s.path, s.sandbox, c.name FROM protection_requests r
		JOIN sites s ON s.id = r.site_id JOIN channels c ON c.site_id = r.site_id AND c.id = r.channel_id
		WHERE `+w.Text.String()+` ORDER BY r.asked_at, r.site_id, r.channel_id LIMIT `+w.Arg(most)+` OFFSET `+w.Arg(page.Skip()),
		w.Args, func(scan func(dest ...any) error) error {
			var path, name string
			var sandbox bool
			r, err := scanRequest(scan, &path, &sandbox, &name)
			r.SitePath, r.Sandbox, r.ChannelName = path, sandbox, name
			list.Items = append(list.Items, r)
			return err
		})
	if len(list.Items) > page.Size {
		list.Items, list.More = list.Items[:page.Size], true
	}
	return list, err
}

// put writes a request. The caller has locked its channel.
func put(tx *store.Tx, r Request) error {
	facts, err := json.Marshal(r.Facts)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO protection_requests (site_id, channel_id, state, facts, note, asked_by, asked_at, answered_by,
			answered_at, version, modified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (site_id, channel_id) DO UPDATE SET state = EXCLUDED.state, facts = EXCLUDED.facts, note = EXCLUDED.note,
			asked_by = EXCLUDED.asked_by, asked_at = EXCLUDED.asked_at, answered_by = EXCLUDED.answered_by,
			answered_at = EXCLUDED.answered_at, version = EXCLUDED.version, modified_at = EXCLUDED.modified_at`,
		r.SiteID, r.ChannelID, r.State, string(facts), r.Note, r.AskedBy, store.MaybeMicros(r.AskedAt), r.AnsweredBy,
		store.MaybeMicros(r.AnsweredAt), r.Version, store.Micros(r.ModifiedAt))
	return err
}

// remove deletes a request with everything that belongs to it.
func remove(tx *store.Tx, siteID, channelID int64) error {
	for _, statement := range []string{
		`DELETE FROM protection_pieces WHERE site_id = $1 AND document_id IN (SELECT id FROM protection_documents
			WHERE site_id = $1 AND channel_id = $2)`,
		`DELETE FROM protection_documents WHERE site_id = $1 AND channel_id = $2`,
		`DELETE FROM protection_requests WHERE site_id = $1 AND channel_id = $2`,
	} {
		if _, err := tx.Exec(statement, siteID, channelID); err != nil {
			return err
		}
	}
	return nil
}

const documentColumns = `site_id, id, channel_id, name, type, size, sha256, added_by, added_at`

func scanDocument(scan func(dest ...any) error) (d Document, err error) {
	var added int64
	err = scan(&d.SiteID, &d.ID, &d.ChannelID, &d.Name, &d.Type, &d.Size, &d.SHA256, &d.AddedBy, &added)
	d.AddedAt = store.Instant(added)
	return d, err
}

func documentsOf(tx *store.Tx, siteID, channelID int64) (list []Document, err error) {
	err = tx.Query(`SELECT `+documentColumns+` FROM protection_documents WHERE site_id = $1 AND channel_id = $2 ORDER BY id LIMIT $3`,
		[]any{siteID, channelID, MaxDocuments}, func(scan func(dest ...any) error) error {
			d, err := scanDocument(scan)
			list = append(list, d)
			return err
		})
	return list, err
}

func documentByID(tx *store.Tx, siteID, channelID, id int64) (Document, error) {
	return scanDocument(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+documentColumns+` FROM protection_documents WHERE site_id = $1 AND channel_id = $2 AND id = $3`,
			[]any{siteID, channelID, id}, dest...)
	})
}

func insertDocument(tx *store.Tx, d Document) (id int64, err error) {
	if id, err = tx.NextID("protection_documents", d.SiteID); err != nil {
		return 0, err
	}
	_, err = tx.Exec(`INSERT INTO protection_documents (site_id, id, channel_id, name, type, size, sha256, added_by, added_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		d.SiteID, id, d.ChannelID, d.Name, d.Type, d.Size, d.SHA256, d.AddedBy, store.Micros(d.AddedAt))
	return id, err
}

func insertPiece(tx *store.Tx, siteID, documentID int64, number int, body []byte) error {
	_, err := tx.Exec(`INSERT INTO protection_pieces (site_id, document_id, number, body) VALUES ($1, $2, $3, $4)`,
		siteID, documentID, number, body)
	return err
}

// contentOf reads the content of a document from its pieces.
func contentOf(tx *store.Tx, d Document) (content []byte, err error) {
	err = tx.Query(`SELECT body FROM protection_pieces WHERE site_id = $1 AND document_id = $2 ORDER BY number`,
		[]any{d.SiteID, d.ID}, func(scan func(dest ...any) error) error {
			var body []byte
			err := scan(&body)
			content = append(content, body...)
			return err
		})
	return content, err
}

func removeDocument(tx *store.Tx, siteID, id int64) error {
	if _, err := tx.Exec(`DELETE FROM protection_pieces WHERE site_id = $1 AND document_id = $2`, siteID, id); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM protection_documents WHERE site_id = $1 AND id = $2`, siteID, id)
	return err
}
