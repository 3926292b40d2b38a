package backup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/ops/backup"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

const skip = 1000

// taken is a backup of a world.
func taken(t *testing.T, store *store.DB) (backup.Backup, []byte) {
	t.Helper()
	var file bytes.Buffer
	b, err := backup.Write(t.Context(), store, "test", &file)
	if err != nil {
		t.Fatal(err)
	}
	return b, file.Bytes()
}

// nowhere is a URL without a database.
func nowhere(t *testing.T) string {
	return "sqlite:" + filepath.Join(t.TempDir(), "new", "holdfast.db")
}

func restored(t *testing.T, url string, file []byte) backup.Backup {
	t.Helper()
	b, err := backup.Restore(t.Context(), url, dbtest.AtStart, bytes.NewReader(file), skip)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil || len(text) < 200 {
		t.Fatalf("%s: %v", text, err)
	}
	return string(text)
}

// ofProcesses are the tables that a restore changes on purpose.
var ofProcesses = map[string]bool{"jobs": true, "site_versions": true, "rate_versions": true, "idempotency_keys": true, "mail_marks": true}

// TestABackupBecomesTheSameBookOnEitherEngine: from each engine to each, the rows and the reports are the same, and ids
// continue far after the last one.
func TestABackupBecomesTheSameBookOnEitherEngine(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 11)
		h.NewBooking()
		for range 120 {
			h.Step()
		}
		h.FoldSome(t.Context(), 50)
		deleted := w.Booking(h.Channels[0], 100, "2024-12-01") // its id was assigned, but the row no longer exists
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			_, err := tx.Exec(`DELETE FROM bookings WHERE site_id = $1 AND id = $2`, w.Site.ID, deleted.ID)
			return err
		})
		b, file := taken(t, w.App.DB.Store)
		checked, err := backup.Check(bytes.NewReader(file))
		if err != nil || b.Engine != w.App.DB.Store.Engine() || b.Rows < 500 || len(b.Chains) == 0 {
			t.Fatalf("%v, %d rows, %d chains", err, b.Rows, len(b.Chains))
		}
		apptest.Same(t, "what the file says of itself", checked, b)
		result := asJSON(t, w.Exposure(report.ExposureQuery{}))
		for name, url := range map[string]func(t *testing.T) string{
			"sqlite": nowhere, "postgres": func(t *testing.T) string { return pgtest.URL(t) },
		} {
			t.Run("to "+name, func(t *testing.T) {
				address := url(t)
				restored(t, address, file)
				store := dbtest.Open(t, address, w.Now)
				second, _ := taken(t, store)
				for i, end := range second.Ends {
					if want := b.Ends[i]; !ofProcesses[end.Table] && (end.Digest != want.Digest || end.Rows != want.Rows || end.Table != want.Table) {
						t.Errorf("the table %s has %d rows, %s, want %d, %s", end.Table, end.Rows, end.Digest, want.Rows, want.Digest)
					}
				}
				house := apptest.Over(t, w, store)
				apptest.Same(t, "the exposure", asJSON(t, house.Exposure(report.ExposureQuery{})), result)
				if made := house.Booking(h.Channels[0], 100, "2024-12-01"); made.ID != deleted.ID+skip+1 {
					t.Errorf("the next booking is %d, want %d", made.ID, deleted.ID+skip+1)
				}
			})
		}
	})
}

// TestTablesAndColumnsOfOthersAreLeftOut: whatever their types, keys and references, the backup lists them, leaves them
// out, and can be restored on either engine.
func TestTablesAndColumnsOfOthersAreLeftOut(t *testing.T) {
	t.Parallel()
	pgtest.NotOverNodes(t)
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		made := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 500, "2024-12-01")
		w.Must(apptest.Report(payment.Purchase, made, 300))
		before, _ := taken(t, w.App.DB.Store)
		if before.Others != nil {
			t.Errorf("the foreign tables: %v", before.Others)
		}
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			for _, text := range []string{
				`CREATE TABLE notes (at TIMESTAMP, body VARCHAR(20))`, // no key, and types that we do not use
				`INSERT INTO notes VALUES (CURRENT_TIMESTAMP, 'call back')`,
				`CREATE TABLE "Two words" (id BIGINT PRIMARY KEY)`,
				`CREATE TABLE aa (id BIGINT PRIMARY KEY)`, // in a cycle with the next one
				`CREATE TABLE bb (id BIGINT PRIMARY KEY REFERENCES aa (id))`,
				`ALTER TABLE aa ADD COLUMN other BIGINT REFERENCES bb (id)`,
				`CREATE TABLE cc (site_id BIGINT, id BIGINT, PRIMARY KEY (site_id, id), FOREIGN KEY (site_id, id) REFERENCES bookings (site_id, id))`,
				`ALTER TABLE bookings ADD COLUMN score REAL`,
				`ALTER TABLE sites ADD COLUMN aa BIGINT REFERENCES aa (id)`,
				`UPDATE bookings SET score = 0.5`,
			} {
				if _, err := tx.Exec(text); err != nil {
					return fmt.Errorf("%s: %w", text, err)
				}
			}
			return nil
		})
		b, file := taken(t, w.App.DB.Store)
		others := slices.Sorted(slices.Values(b.Others))
		if want := []string{"Two words", "aa", "bb", "bookings.score", "cc", "notes", "sites.aa"}; !slices.Equal(others, want) {
			t.Errorf("left out are %q, want %q", others, want)
		}
		apptest.Same(t, "our rows", b.Ends, before.Ends)
		for name, url := range map[string]func(t *testing.T) string{
			"sqlite": nowhere, "postgres": func(t *testing.T) string { return pgtest.URL(t) },
		} {
			t.Run("to "+name, func(t *testing.T) {
				address := url(t)
				apptest.Same(t, "the file lists as left out", restored(t, address, file).Others, b.Others)
				house := apptest.Over(t, w, dbtest.Open(t, address, w.Now))
				if again, err := house.App.Bookings.Get(t.Context(), house.Actor, made.ID); err != nil || again.Total != made.Total {
					t.Errorf("the booking is %+v: %v", again, err)
				}
			})
		}
	})
}

// TestWhatWasAnsweredIsInTheBackup: bookings are written during the backup. Each one acknowledged before it began is in
// it, and none is incomplete.
func TestWhatWasAnsweredIsInTheBackup(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		channel := w.Channel(merchant.ModeProtectionOnly, "GBP")
		ctx, stop := context.WithCancel(t.Context())
		var mu sync.Mutex
		var answered []int64
		var writers sync.WaitGroup
		some := make(chan struct{}, 100)
		for range 4 {
			writers.Go(func() {
				for ctx.Err() == nil {
					b := w.Booking(channel, 500, "2024-12-01")
					w.Must(apptest.Report(payment.Purchase, b, 500))
					mu.Lock()
					answered = append(answered, b.ID)
					mu.Unlock()
					select {
					case some <- struct{}{}:
					default:
					}
				}
			})
		}
		for range 10 {
			<-some
		}
		mu.Lock()
		before := len(answered)
		mu.Unlock()
		_, file := taken(t, w.App.DB.Store)
		stop()
		writers.Wait()
		url := nowhere(t)
		restored(t, url, file)
		db := dbtest.Open(t, url, w.Now)
		dbtest.Read(t, db, func(tx *store.Tx) error {
			for _, id := range answered[:before] {
				var net int64
				if err := tx.QueryRow(`SELECT net FROM bookings WHERE id = $1`, []any{id}, &net); err != nil || net != 500 {
					t.Errorf("booking %d was answered before the backup: paid %d, %v", id, net, err)
				}
			}
			var bookings, sums int64
			err := tx.QueryRow(`SELECT (SELECT SUM(net) FROM bookings), (SELECT SUM(total) FROM payments)`, nil, &bookings, &sums)
			if err != nil || bookings != sums {
				t.Errorf("the bookings say %d, the payments %d: %v", bookings, sums, err)
			}
			return nil
		})
	})
}

// TestAChangedBackupIsRefused: flipped bytes, truncation and repacked changes are rejected.
func TestAChangedBackupIsRefused(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 500, "2024-12-01")
	_, file := taken(t, w.App.DB.Store)
	text := backup.Unpacked(t, file)
	const header = 10 // of gzip: nothing of ours is in it
	for at := header; at < len(file); at += len(file)/150 + 1 {
		flipped := bytes.Clone(file)
		flipped[at] ^= 1 << (at % 8)
		// There are unused bits between gzip blocks.
		if _, err := backup.Check(bytes.NewReader(flipped)); err == nil && backup.Unpacked(t, flipped) != text {
			t.Errorf("byte %d is flipped, and the backup is taken", at)
		}
		if _, err := backup.Check(bytes.NewReader(file[:at])); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("cut at %d: %v", at, err)
		}
	}
	if _, err := backup.Check(bytes.NewReader(append(bytes.Clone(file), file...))); !errors.Is(err, backup.ErrDamaged) {
		t.Errorf("two backups in one file: %v", err)
	}
	lines := strings.SplitAfter(text, "\n")
	for what, changed := range map[string]string{
		"another amount":  strings.Replace(text, ",500,", ",501,", 1),
		"a lost line":     strings.Join(append(append([]string{}, lines[:2]...), lines[3:]...), ""),
		"a doubled line":  strings.Join(append(append([]string{}, lines[:2]...), lines[1:]...), ""),
		"no end":          strings.Join(lines[:len(lines)-2], ""),
		"another program": strings.Replace(text, `"program":"test"`, `"program":"tost"`, 1),
		"nothing":         "",
	} {
		if changed == text {
			t.Fatalf("%s: the text has not changed", what)
		}
		_, err := backup.Restore(t.Context(), nowhere(t), dbtest.AtStart, bytes.NewReader(backup.Packed(changed)), 0)
		if !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestABackupOfANewerOrAnotherProgramIsRefused: their migrations are not known here.
func TestABackupOfANewerOrAnotherProgramIsRefused(t *testing.T) {
	t.Parallel()
	_, file := taken(t, dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart))
	text := backup.Unpacked(t, file)
	for want, changed := range map[string]string{
		"use a newer holdfast":       strings.Replace(text, `],"tables"`, `,"9999_later"],"tables"`, 1),
		"belongs to another program": strings.Replace(text, `"0001_schema"`, `"0001_other"`, 1),
		"has format 2":               strings.Replace(text, `"holdfast_backup":1`, `"holdfast_backup":2`, 1),
	} {
		url := nowhere(t)
		_, err := backup.Restore(t.Context(), url, dbtest.AtStart, bytes.NewReader(backup.Packed(changed)), 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestRestoreTakesNoPlaceThatIsTaken: an existing file, the log of a deleted database, a table.
func TestRestoreTakesNoPlaceThatIsTaken(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		_, file := taken(t, db)
		urls := map[string]func(){}
		for _, ending := range []string{"", "-wal", "-shm", "-journal"} {
			path := filepath.Join(t.TempDir(), "holdfast.db")
			if err := os.WriteFile(path+ending, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			urls["sqlite:"+path] = func() {
				left, _ := filepath.Glob(path + "*")
				if text, err := os.ReadFile(path + ending); len(left) != 1 || err != nil || string(text) != "mine" {
					t.Errorf("%s%s is %q: %v, beside it %v", path, ending, text, err, left)
				}
			}
		}
		if db.Engine() == "postgres" {
			url := pgtest.URL(t)
			other, err := store.Open(t.Context(), url, dbtest.AtStart)
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Write(t, other, func(tx *store.Tx) error {
				_, err := tx.Exec("CREATE TABLE mine (id BIGINT)")
				return err
			})
			_ = other.Close()
			urls[url] = func() {}
		}
		for url, look := range urls {
			_, err := backup.Restore(t.Context(), url, dbtest.AtStart, bytes.NewReader(file), 0)
			if !errors.Is(err, store.ErrNotEmpty) {
				t.Errorf("%s: %v", url, err)
			}
			look()
		}
	})
}

// TestAFailedRestoreLeavesNothing: the backup is intact, but one of its rows has a dangling reference.
func TestAFailedRestoreLeavesNothing(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 500, "2024-12-01")
		w.Must(apptest.Report(payment.Purchase, b, 500))
		if w.App.DB.Store.Engine() == "sqlite" { // PostgreSQL would not delete the row
			raw := backup.WithoutForeignKeys(t, strings.TrimPrefix(w.URL, "sqlite:"))
			backup.Run(t, raw, "DELETE FROM payments")
			backup.Run(t, raw, "DELETE FROM bookings")
		}
		_, file := taken(t, w.App.DB.Store)
		url := nowhere(t)
		path := strings.TrimPrefix(url, "sqlite:")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if w.App.DB.Store.Engine() == "postgres" {
			cancel() // as Ctrl-C does
			url = pgtest.URL(t)
		}
		if _, err := backup.Restore(ctx, url, dbtest.AtStart, bytes.NewReader(file), 0); err == nil {
			t.Fatal("the backup is restored")
		}
		if left, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
		if _, err := store.OpenExisting(t.Context(), url, dbtest.AtStart); !errors.Is(err, store.ErrNoDatabase) {
			t.Errorf("after the failure: %v", err)
		}
	})
}

// TestAFileIsWholeOrNotThere: failures leave nothing, and an existing file is only replaced on request.
func TestAFileIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "book.backup")
	full := errors.New("no space left on device")
	write := func(text string, err error) func(to io.Writer) error {
		return func(to io.Writer) error {
			_, _ = io.WriteString(to, text)
			return err
		}
	}
	for _, step := range []struct {
		replace bool
		text    string
		err     error
		wantErr error
		want    string
	}{
		{false, "half", full, full, ""},
		{true, "half", full, full, ""},
		{false, "one", nil, nil, "one"},
		{false, "two", nil, os.ErrExist, "one"},
		{true, "half", full, full, "one"},
		{true, "two", nil, nil, "two"},
	} {
		err := backup.ToFile(path, step.replace, write(step.text, step.err))
		if !errors.Is(err, step.wantErr) {
			t.Errorf("%+v: %v", step, err)
		}
		text, _ := os.ReadFile(path)
		left, _ := filepath.Glob(filepath.Dir(path) + "/*")
		if string(text) != step.want || len(left) > 1 || len(left) == 1 != (step.want != "") {
			t.Errorf("%+v: the file holds %q, and beside it are %v", step, text, left)
		}
	}
	// Another process is faster.
	_ = os.Remove(path)
	err := backup.ToFile(path, false, func(to io.Writer) error { return os.WriteFile(path, []byte("theirs"), 0o600) })
	if text, _ := os.ReadFile(path); !errors.Is(err, os.ErrExist) || string(text) != "theirs" {
		t.Errorf("%v, and the file holds %q", err, text)
	}
}

// TestALostRowIsNotLeftOut: an index that misses rows does not lead to a smaller backup.
func TestALostRowIsNotLeftOut(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 500, "2024-12-01")
	raw := backup.WithoutForeignKeys(t, strings.TrimPrefix(w.URL, "sqlite:"))
	backup.Run(t, raw, `PRAGMA writable_schema = 1`)
	// The index of the key is replaced by that of an empty table with the same shape.
	backup.Run(t, raw, `UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master
			WHERE tbl_name = 'statements' AND name LIKE 'sqlite_autoindex%' AND name = (SELECT name FROM pragma_index_list('statements') l
				WHERE (SELECT group_concat(name) FROM pragma_index_info(l.name)) = 'site_id,id'))
		WHERE name = (SELECT name FROM pragma_index_list('bookings') l
			WHERE l.origin <> 'c' AND (SELECT group_concat(name) FROM pragma_index_info(l.name)) = 'site_id,id')`)
	store := dbtest.Open(t, w.URL, w.Now)
	_, err := backup.Write(t.Context(), store, "test", io.Discard)
	if err == nil || !strings.Contains(err.Error(), "index") {
		t.Errorf("the backup was taken: %v", err)
	}
}

// TestLinksOfCertificatesOutliveARestoreAndWebhooksWait: the link in a traveller's e-mail opens the same page, and is
// the one that the merchant gets. No webhook is sent until its endpoint is enabled.
func TestLinksOfCertificatesOutliveARestoreAndWebhooksWait(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 500, "2024-12-01")
		w.Must(apptest.Report(payment.Purchase, b, 300))
		link, err := w.App.Certificates.Of(t.Context(), w.Actor, b.ID)
		if err != nil {
			t.Fatal(err)
		}
		page, err := w.App.Certificates.Show(t.Context(), link.Key)
		if err != nil || page.Protected != 300 {
			t.Fatalf("%+v: %v", page, err)
		}
		address := "https://8.8.8.8/"
		endpoint, err := w.App.Webhooks.Create(t.Context(), w.Actor, webhooks.EndpointFields{URL: &address})
		if err != nil || endpoint.State != webhooks.Enabled {
			t.Fatalf("%+v: %v", endpoint, err)
		}
		_, file := taken(t, w.App.DB.Store)
		url := nowhere(t)
		restored(t, url, file)
		house := apptest.Over(t, w, dbtest.Open(t, url, w.Now))
		again, err := house.App.Certificates.Show(t.Context(), link.Key)
		if err != nil {
			t.Fatal(err)
		}
		apptest.Same(t, "the page", again, page)
		if got, err := house.App.Certificates.Of(t.Context(), house.Actor, b.ID); err != nil || got.Key != link.Key {
			t.Errorf("the merchant gets %q, not %q: %v", got.Key, link.Key, err)
		}
		if is, err := house.App.Webhooks.Get(t.Context(), house.Actor, endpoint.ID); err != nil || is.State != webhooks.Disabled {
			t.Errorf("the endpoint is %+v: %v", is, err)
		}
	})
}

// TestWhatOnlyCountedForADeadProcessIsForgotten: its job lease, and the key of an unfinished request.
func TestWhatOnlyCountedForADeadProcessIsForgotten(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		_, ok, err := w.App.Work.Claim(t.Context(), "fold", time.Hour)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			for i, object := range []string{"NULL", "17"} {
				_, err := tx.Exec(fmt.Sprintf(`INSERT INTO idempotency_keys (site_id, key, request_hash, object_id, claimed_until, created_at)
					VALUES (1, 'key %d', '', %s, %d, 0)`, i, object, store.Micros(w.Now())+1e9))
				if err != nil {
					return err
				}
			}
			return nil
		})
		_, file := taken(t, w.App.DB.Store)
		url := nowhere(t)
		restored(t, url, file)
		house := apptest.Over(t, w, dbtest.Open(t, url, w.Now))
		if _, ok, err := house.App.Work.Claim(t.Context(), "fold", time.Hour); err != nil || !ok {
			t.Errorf("the job is still leased: %v", err)
		}
		dbtest.Read(t, house.App.DB.Store, func(tx *store.Tx) error {
			var keys string
			err := tx.QueryRow(`SELECT MIN(key) FROM idempotency_keys HAVING COUNT(*) = 1`, nil, &keys)
			if err != nil || keys != "key 1" {
				t.Errorf("the keys are %q: %v", keys, err)
			}
			return nil
		})
	})
}
