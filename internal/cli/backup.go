package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/ops/backup"
	"holdfast/internal/ops/verify"
	"holdfast/internal/store"
)

// backupCmd writes a backup.
type backupCmd struct {
	File    string        `arg:"" help:"File to write, such as /backups/holdfast.backup."`
	Replace bool          `help:"Replace an existing file. The old file is kept until the new one is complete."`
	Timeout time.Duration `default:"1h" placeholder:"DURATION" help:"Abort after this time (default: 1h)."`
	JSON    bool          `name:"json" help:"Print JSON."`
}

// Help explains what a backup contains.
func (backupCmd) Help() string {
	return "The service keeps running during the backup. The backup includes everything committed before the command started. The " +
		"file only appears once it is complete and on disk. It contains the whole book: protect it like the database. " +
		"It does not include the encryption keys (--keys-file): keep a copy of them elsewhere. \"holdfast restore\" " +
		"creates a database from it, on SQLite or PostgreSQL."
}

// writtenBackup is what the commands print about a backup.
type writtenBackup struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"file_sha256"` // as sha256sum prints it
	backup.Backup
}

// Run writes the backup. It does not migrate: a backup before an upgrade has the old schema.
func (c backupCmd) Run(ctx context.Context, p *program) error {
	if c.Timeout <= 0 {
		return errs.WrongField("timeout", "The timeout must be greater than 0.")
	}
	store, err := store.OpenExisting(ctx, p.Database, p.clock.Now)
	if err != nil {
		return p.noDatabase(err)
	}
	p.db = store
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	written := writtenBackup{File: c.File}
	err = backup.ToFile(c.File, c.Replace, func(to io.Writer) error {
		sum := &sumWriter{to: to, sum: sha256.New()}
		var err error
		written.Backup, err = backup.Write(ctx, store, moduleVersion(), sum)
		written.Bytes, written.SHA256 = sum.bytes, hex.EncodeToString(sum.sum.Sum(nil))
		return err
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s already exists. Choose another name, or add --replace", c.File)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the backup timed out after %s (--timeout), and nothing was written: %w", c.Timeout, err)
	case err != nil:
		return fmt.Errorf("no backup was written: %w", err)
	}
	if c.JSON {
		return p.printJSON(written)
	}
	p.printf("Wrote %s: the book as of %s, %s rows in %d tables, %s bytes.\n", c.File,
		written.TakenAt.Format(time.DateTime+" GMT"), grouped(written.Rows), len(written.Tables), grouped(written.Bytes))
	p.printf("sha256: %s\n", written.SHA256)
	p.leftOut(written.Backup)
	p.printf("The backup does not include encryption keys. Keep a copy of the keys file (--keys-file) elsewhere.\n")
	return nil
}

// sumWriter hashes and counts what is written through it.
type sumWriter struct {
	to    io.Writer
	sum   hash.Hash
	bytes int64
}

func (w *sumWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.sum.Write(b[:n])
	w.bytes += int64(n)
	return n, err
}

// grouped formats a number with thousands separators.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// restoreCmd creates a database from a backup.
type restoreCmd struct {
	File    string `arg:"" help:"Backup file."`
	Check   bool   `help:"Test the backup: restore it into a temporary database, compare every row, run \"holdfast verify\", and delete it. Touches no other database."`
	SkipIDs int64  `name:"skip-ids" default:"1000000" placeholder:"N" help:"Gap between the last id in the backup and the first new id (default: 1000000)."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Help explains the requirements and the steps.
func (restoreCmd) Help() string {
	return "--database is the new database: a SQLite file that does not exist yet, or a PostgreSQL database without tables. " +
		"It can use a different engine from the backup. The command checks the whole backup first and compares every row at the " +
		"end. If anything fails, nothing is left behind. Ids of new bookings and payments start well above those in the " +
		"backup, so that an id issued after the backup and lost is never reused. See docs/backup.md for what to do after a loss.\n\n" +
		"--check restores into a SQLite database in a temporary folder (TMPDIR), which needs about ten times the size of the backup."
}

// Run restores it.
func (c restoreCmd) Run(ctx context.Context, p *program) error {
	if c.SkipIDs < 0 || c.SkipIDs > 1_000_000_000 {
		return errs.WrongField("skip_ids", "The value must be between 0 and 1000000000.")
	}
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	if c.Check {
		folder, err := os.MkdirTemp("", "holdfast-check-") // readable by its owner only
		if err != nil {
			return err
		}
		p.Database, p.KeysFile = "sqlite:"+filepath.Join(folder, "holdfast.db"), ""
		err = c.restore(ctx, p, file)
		return errors.Join(err, p.Close(), os.RemoveAll(folder))
	}
	return c.restore(ctx, p, file)
}

// restored is what the command prints about a restored database.
type restored struct {
	backup.Backup
	Findings int64 `json:"verify_findings"`
}

// restore restores the file into the program's database, and verifies it.
func (c restoreCmd) restore(ctx context.Context, p *program, file *os.File) error {
	b, err := backup.Restore(ctx, p.Database, p.clock.Now, file, c.SkipIDs)
	switch {
	case errors.Is(err, store.ErrNotEmpty):
		return fmt.Errorf("%s is not empty (%w). Backups can only be restored into a new database. Choose another one with "+
			"--database, or stop everything that uses the old one and move it away, with its -wal and -shm files", masked(p.Database), err)
	case err != nil && c.Check:
		return fmt.Errorf("%s cannot be restored: %w", c.File, err)
	case err != nil:
		return fmt.Errorf("%s was not restored, and nothing has changed: %w", c.File, err)
	}
	p.anyProfile = true
	if err := p.open(ctx); err != nil {
		return err
	}
	sealed, err := p.app.Secrets.SealingKeys(ctx, access.System(0))
	if err != nil {
		return err
	}
	report, err := p.app.Verify.Run(ctx, access.System(0), verify.Query{})
	if err != nil {
		return fmt.Errorf("%s is restored and every row matches the backup, but `holdfast verify` failed: %w",
			masked(p.Database), err)
	}
	if c.JSON {
		err = p.printJSON(restored{b, report.Total})
	} else {
		c.print(p, b, report, sealed)
	}
	if err == nil && report.Total > 0 {
		return errFindings
	}
	return err
}

// shownChains is how many audit chain heads are printed; --json has all.
const shownChains = 20

// print prints the metadata of a backup, and what was done with it.
func (c restoreCmd) print(p *program, b backup.Backup, report verify.Report, sealed map[string]int) {
	p.printf("Backup of the book as of %s, from %s by holdfast %s: %s rows in %d tables, schema %s.\n",
		b.TakenAt.Format(time.DateTime+" GMT"), b.Engine, b.Program, grouped(b.Rows), len(b.Tables), b.Schema[len(b.Schema)-1])
	p.leftOut(b)
	for i, chain := range b.Chains {
		if i == shownChains {
			p.printf("%d more sites: see --json.\n", len(b.Chains)-i)
			break
		}
		p.printf("Site %d: %d audit records, last hash %s.\n", chain.SiteID, chain.LastID, chain.Hash)
	}
	if c.Check {
		p.printf("Restored %s into a temporary SQLite database. Every row matches the backup.\n", c.File)
	} else {
		p.printf("Restored %s. Every row matches the backup.\n", masked(p.Database))
	}
	if report.Total > 0 {
		p.printf("The book already had errors when it was backed up: `holdfast verify` reports %d findings. Run it to see them.\n", report.Total)
	} else {
		p.printf("`holdfast verify` found no errors.\n")
	}
	for _, id := range slices.Sorted(maps.Keys(sealed)) {
		if id != "" { // unencrypted secrets need no key
			p.printf("%d secrets are encrypted with key %s. `holdfast serve` needs a --keys-file that contains it.\n", sealed[id], id)
		}
	}
	if c.Check {
		p.printf("The temporary database is deleted. The backup can be restored.\n")
		return
	}
	p.printf("Changes after %s are lost: see \"After a loss\" in docs/backup.md.\n", b.TakenAt.Format(time.DateTime+" GMT"))
}

// leftOut prints which tables and columns of a database are not in its backup.
func (p *program) leftOut(b backup.Backup) {
	if len(b.Others) > 0 {
		p.printf("Not in the backup, because they are not holdfast's: %s.\n", strings.Join(b.Others, ", "))
	}
}

// moduleVersion is the version of this build.
func moduleVersion() string {
	version, _, _ := strings.Cut(strings.TrimPrefix(versionLine(), "holdfast "), ",")
	return version
}
