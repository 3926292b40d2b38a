package mail_test

import (
	"bytes"
	"strings"
	"testing"

	"holdfast/internal/notify/mail"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"

	gomail "github.com/wneessen/go-mail"
)

// TestAReportIsSentWithItsFile, to each reader separately, and the file is deleted with its e-mails.
func TestAReportIsSentWithItsFile(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *post) {
		content := bytes.Repeat([]byte("booking,\"12.00\"\r\n\x00\xff"), 30_000) // more than one piece
		queue := func(to ...mail.Reader) {
			dbtest.Write(t, p.App.DB.Store, func(tx *store.Tx) error {
				return p.App.Mails.SendReport(tx, mail.Report{
					SiteID: p.Site.ID, Readers: to, File: mail.File{Name: "exposure-2024-06-11.csv", Type: "text/csv; charset=utf-8", Content: content},
					Facts: mail.ReportFacts{
						Title: "Exposure\r\nBcc: eve@example.org", About: "At the end of 10 Jun 2024.", Rows: [][2]string{{"Undelivered", "1,200.00 GBP"}},
						When: "every Tuesday", Address: "https://pay.example.org/dashboard/sites/demo/exposure?by=channel&currency=GBP",
					},
				}, "Ann <b>")
			})
		}
		queue(mail.Reader{Name: "Ann", Address: "ann@example.org"}, mail.Reader{Name: "Ben", Address: "ben@example.org"}, mail.Reader{Address: "nobody"})
		if err := p.send(); err != nil {
			t.Fatal(err)
		}
		p.want("report ann@example.org sent", "report ben@example.org sent", "report nobody dead")
		arrived := p.server.got()
		if len(arrived) != 2 {
			t.Fatalf("%d mails have left", len(arrived))
		}
		for _, a := range arrived {
			read, err := gomail.EMLToMsgFromString(a.data)
			if err != nil {
				t.Fatal(err)
			}
			files := read.GetAttachments()
			if len(files) != 1 || files[0].Name != "exposure-2024-06-11.csv" || strings.Contains(a.data, "\nBcc:") {
				t.Fatalf("attached is %+v", files)
			}
			var got bytes.Buffer
			if _, err := files[0].Writer(&got); err != nil || !bytes.Equal(got.Bytes(), content) {
				t.Errorf("what is attached is not what was made: %d bytes, %v", got.Len(), err)
			}
		}
		count := func() (files, pieces int) {
			dbtest.Read(t, p.App.DB.Store, func(tx *store.Tx) error {
				if err := tx.QueryRow(`SELECT COUNT(*) FROM mail_files`, nil, &files); err != nil {
					return err
				}
				return tx.QueryRow(`SELECT COUNT(*) FROM mail_pieces`, nil, &pieces)
			})
			return files, pieces
		}
		if files, pieces := count(); files != 1 || pieces != 3 {
			t.Errorf("%d files in %d pieces are kept for two readers", files, pieces)
		}
		p.Advance(mail.Remember + 1)
		queue(mail.Reader{Name: "Ann", Address: "ann@example.org"})
		if _, err := p.App.Mails.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		if files, pieces := count(); files != 1 || pieces != 3 {
			t.Errorf("%d files in %d pieces are left, and one mail still has its file", files, pieces)
		}
	})
}
