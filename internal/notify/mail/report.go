package mail

import (
	"fmt"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Limits of attachments.
const (
	MaxFile    = 5 << 20 // bytes: most servers accept 10 MB, and encoding adds a third
	pieceBytes = 256 << 10
)

// File is an attachment.
type File struct {
	Name    string
	Type    string // as MIME writes it
	Content []byte
}

// Report is a report sent by e-mail.
type Report struct {
	SiteID  int64 // 0: about all sites
	Title   string
	Facts   ReportFacts
	File    File // without a name: no file, and Facts.Note says why
	Readers []Reader
}

// Reader is a recipient of a report.
type Reader struct{ Name, Address string }

// ReportFacts is the data of a report's e-mail.
type ReportFacts struct {
	Title   string      `json:"title"`
	About   string      `json:"about,omitempty"` // a sentence with the date
	Rows    [][2]string `json:"rows,omitempty"`  // a label and a figure
	File    string      `json:"file,omitempty"`
	Bytes   int64       `json:"bytes,omitempty"`
	Note    string      `json:"note,omitempty"` // note on the file, or why it is missing
	When    string      `json:"when"`           // how often it comes, such as "every Monday"
	Address string      `json:"address"`        // of the page
}

// SendReport queues a report for its recipients, in the write that records the report. A report about all sites is stored
// with the first site, like other e-mails without a site. It is only shown if no server is configured, and on a sandbox
// without Sandboxes.
func (m *Mails) SendReport(tx *store.Tx, r Report, by string) error {
	place, err := placeOf(tx, r.SiteID)
	if err != nil || place == 0 {
		return err
	}
	letter := Letter{
		Language: check.DefaultLanguage, Sender: operatorName, On: day(civil.NoDay), Start: day(civil.NoDay), End: day(civil.NoDay),
		Until: day(civil.NoDay), By: by, Report: &r.Facts,
	}
	if r.SiteID != 0 {
		site, err := siteOf(tx, r.SiteID)
		if err != nil {
			return err
		}
		letter.Sender, letter.Test = site.Name, site.Sandbox
	}
	file := int64(0)
	if r.File.Name != "" {
		r.Facts.File, r.Facts.Bytes = r.File.Name, int64(len(r.File.Content))
		if file, err = insertFile(tx, place, r.File); err != nil {
			return err
		}
	}
	now := sites.RealNow(tx)
	for i, reader := range r.Readers {
		letter.To, letter.Name = reader.Address, reader.Name
		mail := Mail{SiteID: place, Number: int64(i) + 1, Kind: ReportKind, Recipient: reader.Address, Letter: letter, FileID: file, State: Waiting, NextAt: now}
		switch problem := checkAddress(reader.Address); {
		case problem != "":
			mail.State, mail.Answer = Dead, problem
		case m.onlyKept(letter.Test):
			mail.State = Outbox
		}
		if mail.State != Waiting {
			mail.NextAt, mail.ForgetAt = time.Time{}, now.Add(remember)
		}
		if _, err := insertMail(tx, mail); err != nil {
			return err
		}
	}
	return nil
}

// placeOf is the site that an e-mail is stored with; 0 if there are no sites.
func placeOf(tx *store.Tx, siteID int64) (int64, error) {
	if siteID != 0 {
		return siteID, nil
	}
	first, err := store.Ids(tx, `SELECT id FROM sites ORDER BY id LIMIT 1`)
	if err != nil || len(first) == 0 {
		return 0, err
	}
	return first[0], nil
}

// toReader renders a report for a user. It is in English, like the dashboard.
func (w *writer) toReader(v *view) {
	r := w.Report
	title := clean(r.Title, maxName)
	v.Subject, v.Title, v.Greeting = title+": "+w.merchant(), title, "Hello "+clean(w.Name, maxName)+","
	v.Preheader = clean(r.About, maxAnswer)
	if v.Preheader != "" {
		v.Paragraphs = append(v.Paragraphs, v.Preheader)
	}
	if r.File != "" {
		v.Paragraphs = append(v.Paragraphs, fmt.Sprintf("The report is attached: %s (%d kB).", r.File, (r.Bytes+1023)/1024))
	}
	if r.Note != "" {
		v.Paragraphs = append(v.Paragraphs, clean(r.Note, maxAnswer))
	}
	for _, one := range r.Rows {
		v.Rows = append(v.Rows, row{clean(one[0], maxName), clean(one[1], maxName)})
	}
	v.Act = &act{"Open in dashboard", r.Address}
	v.After = []string{fmt.Sprintf("%s scheduled this report for you, %s. To stop it, ask %s or open Schedules in the dashboard.",
		inviter(w.By), r.When, inviter(w.By))}
	v.Footer = w.merchant()
}

func insertFile(tx *store.Tx, siteID int64, f File) (id int64, err error) {
	if id, err = tx.NextID("mail_files", siteID); err != nil {
		return 0, err
	}
	_, err = tx.Exec(`INSERT INTO mail_files (site_id, id, name, type, bytes) VALUES ($1, $2, $3, $4, $5)`,
		siteID, id, f.Name, f.Type, len(f.Content))
	for number, rest := 0, f.Content; err == nil && len(rest) > 0; number++ {
		n := min(len(rest), pieceBytes)
		_, err = tx.Exec(`INSERT INTO mail_pieces (site_id, file_id, number, body) VALUES ($1, $2, $3, $4)`, siteID, id, number, rest[:n])
		rest = rest[n:]
	}
	return id, err
}

// fileOf reads an e-mail's attachment.
func fileOf(tx *store.Tx, siteID, id int64) (*File, error) {
	f := &File{}
	err := tx.QueryRow(`SELECT name, type FROM mail_files WHERE site_id = $1 AND id = $2`, []any{siteID, id}, &f.Name, &f.Type)
	if err != nil {
		return nil, err
	}
	err = tx.Query(`SELECT body FROM mail_pieces WHERE site_id = $1 AND file_id = $2 ORDER BY number`, []any{siteID, id},
		func(scan func(dest ...any) error) error {
			var body []byte
			err := scan(&body)
			f.Content = append(f.Content, body...)
			return err
		})
	return f, err
}

// unusedFiles is the condition that no e-mail uses the file f any more.
const unusedFiles = `NOT EXISTS (SELECT 1 FROM mails m WHERE m.site_id = f.site_id AND m.file_id = f.id AND m.file_id <> 0)`

// sitesWithUnusedFiles is a query for sites.Each.
const sitesWithUnusedFiles = `SELECT DISTINCT f.site_id, 0 AS ahead FROM mail_files f WHERE CAST($1 AS BIGINT) > 0 AND ` + unusedFiles + ` ORDER BY f.site_id`

// forgetFiles deletes at most limit files of a site that no e-mail uses any more, and returns how many.
func forgetFiles(tx *store.Tx, siteID int64, limit int) (int, error) {
	const gone = `SELECT f.id FROM mail_files f WHERE f.site_id = $1 AND ` + unusedFiles + ` ORDER BY f.id LIMIT $2`
	if _, err := tx.Exec(`DELETE FROM mail_pieces WHERE site_id = $1 AND file_id IN (`+gone+`)`, siteID, limit); err != nil {
		return 0, err
	}
	n, err := tx.Exec(`DELETE FROM mail_files WHERE site_id = $1 AND id IN (`+gone+`)`, siteID, limit)
	return int(n), err
}
