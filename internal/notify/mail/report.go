package mail

import (
	"fmt"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of files that mails have attached.
const (
	MaxFile    = 5 << 20 // bytes: most servers take 10 MB, and a file grows by a third on its way
	pieceBytes = 256 << 10
)

// File is what a mail has attached.
type File struct {
	Name    string
	Type    string // as MIME writes it
	Content []byte
}

// Report is a report that goes to people by mail.
type Report struct {
	SiteID  int64 // 0: it is about all sites
	Title   string
	Facts   ReportFacts
	File    File // without a name: none, and Facts.Note says why
	Readers []Reader
}

// Reader is a recipient of a report.
type Reader struct{ Name, Address string }

// ReportFacts is what the text of a report is made of.
type ReportFacts struct {
	Title   string      `json:"title"`
	About   string      `json:"about,omitempty"` // a sentence: of when it is
	Rows    [][2]string `json:"rows,omitempty"`  // a label and a figure
	File    string      `json:"file,omitempty"`
	Bytes   int64       `json:"bytes,omitempty"`
	Note    string      `json:"note,omitempty"` // about the file, or why there is none
	When    string      `json:"when"`           // how often it comes, such as "every Monday"
	Address string      `json:"address"`        // of the page
}

// SendReport queues a report for its readers, in the write that notes that it was made. A report about all sites lies with the
// first site, as other mails do that belong to none. It is only shown where no server is set, and on a sandbox without Sandboxes.
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

// placeOf is the site with which a mail lies; 0 where there is no site at all.
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

// toReader is a report for somebody who uses the service. It is in English, as the dashboard is.
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
	err = tx.QueryRow(`INSERT INTO mail_files (site_id, name, type, bytes) VALUES ($1, $2, $3, $4) RETURNING id`,
		[]any{siteID, f.Name, f.Type, len(f.Content)}, &id)
	for number, rest := 0, f.Content; err == nil && len(rest) > 0; number++ {
		n := min(len(rest), pieceBytes)
		_, err = tx.Exec(`INSERT INTO mail_pieces (site_id, file_id, number, body) VALUES ($1, $2, $3, $4)`, siteID, id, number, rest[:n])
		rest = rest[n:]
	}
	return id, err
}

// fileOf reads the file of a mail.
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

// forgetFiles removes files that no mail has any more, at most limit of them.
func forgetFiles(tx *store.Tx, limit int) error {
	const gone = `SELECT f.site_id, f.id FROM mail_files f
		WHERE NOT EXISTS (SELECT 1 FROM mails m WHERE m.site_id = f.site_id AND m.file_id = f.id AND m.file_id <> 0) ORDER BY f.site_id, f.id LIMIT $1`
	if _, err := tx.Exec(`DELETE FROM mail_pieces WHERE (site_id, file_id) IN (`+gone+`)`, limit); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM mail_files WHERE (site_id, id) IN (`+gone+`)`, limit)
	return err
}
