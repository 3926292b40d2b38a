package store_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/store/sqlite"
	"holdfast/internal/testkit/dbtest"
)

// TestTheLogGoesIntoTheFile: SQLite's log is copied into the file while the program runs, not only at its end.
func TestTheLogGoesIntoTheFile(t *testing.T) {
	url := dbtest.SQLite(t)
	db := dbtest.Open(t, url, dbtest.AtStart)
	db.SetLog(sqlite.Bounds{Long: 80 << 10, Fresh: 40 << 10, Short: 20 << 10, Quiet: time.Hour})
	main := func() (info fs.FileInfo) {
		info, err := os.Stat(strings.TrimPrefix(url, "sqlite:"))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	before := main()
	for n := range 10_000 {
		dbtest.Write(t, db, func(tx *store.Tx) error {
			path := fmt.Sprintf("site-%d", n)
			_, err := dbtest.InsertSite(tx, merchant.Site{Path: path, Name: path, Policy: terms.DefaultPolicy("GBP")})
			return err
		})
		if now := main(); now.ModTime() != before.ModTime() || now.Size() != before.Size() {
			return
		}
	}
	t.Error("After 10,000 writes the file of the database is as it was.")
}
