package cli

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// changing matches the parts that differ between backups: digests, times, numbers and the last migration.
var changing = regexp.MustCompile(`[0-9a-f]{64}|key [0-9a-f]+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\d[\d,]*|schema \w+|site \d+: [\d,]+`)

// TestTheBackupPage runs every command of docs/backup.md, and compares what it prints.
func TestTheBackupPage(t *testing.T) {
	t.Parallel()
	s := aShop(t)
	if err := os.Mkdir(filepath.Join(s.folder, "backups"), 0o700); err != nil {
		t.Fatal(err)
	}
	same := func(text string) string {
		text = regexp.MustCompile(`(?m)^Audit records .*\n`).ReplaceAllString(text, "")
		return changing.ReplaceAllString(strings.ReplaceAll(text, s.folder+"/", ""), "N")
	}
	commands := 0
	for i, block := range strings.Split(docsPage(t, "backup.md"), "```") {
		command, want, _ := strings.Cut(strings.TrimPrefix(block, "console\n$ holdfast "), "\n")
		if i%2 == 0 || command == block || !strings.HasPrefix(block, "console\n") {
			continue
		}
		commands++
		var args []string
		for _, word := range wordsOf(command) {
			for _, start := range []string{"backups/", "sqlite:"} {
				if path, ok := strings.CutPrefix(word, start); ok {
					word = strings.TrimSuffix(start, "backups/") + filepath.Join(s.folder, strings.TrimPrefix(start, "sqlite:"), path)
				}
			}
			args = append(args, word)
		}
		if !strings.Contains(command, "--database") {
			args = append(args, "--database", "sqlite:"+filepath.Join(s.folder, "holdfast.db"))
		}
		var out, said strings.Builder
		if code := run(t.Context(), args, nil, &out, &said); code != 0 {
			t.Fatalf("%s: exit code %d, %s", command, code, said.String())
		}
		if want != "…\n" && same(out.String()) != same(want) {
			t.Errorf("holdfast %s prints\n%s\ninstead of\n%s", command, out.String(), want)
		}
	}
	if commands < 4 {
		t.Errorf("only %d commands were run", commands)
	}
}

// TestACheckRestores: the check finds a backup with correct digests but inconsistent rows, and leaves no temporary database behind.
func TestACheckRestores(t *testing.T) {
	s := aShop(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	raw, err := sql.Open("sqlite", filepath.Join(s.folder, "holdfast.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	raw.SetMaxOpenConns(1)
	for _, c := range []struct {
		name, change string
		code         int
		says         []string
	}{
		{"right", `CREATE TABLE notes (body REAL)`, 0, []string{
			"Not in the backup, because they are not holdfast's: notes.", "into a temporary SQLite database. Every row matches the backup.",
			"`holdfast verify` found no errors.", "The temporary database is deleted. The backup can be restored.",
		}},
		{"wrong", `UPDATE bookings SET net = net + 1 WHERE id = 1`, 1, []string{"Every row matches the backup.", "`holdfast verify` reports 1 findings"}},
		{"torn", `DELETE FROM bookings WHERE id = 1`, 1, []string{"torn.backup cannot be restored: ", "FOREIGN KEY"}},
	} {
		if _, err := raw.ExecContext(t.Context(), c.change); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(s.folder, c.name+".backup")
		s.run("backup", file)
		var out strings.Builder
		if code := run(t.Context(), []string{"restore", "--check", file, "--profile", "server-to-server"}, nil, &out, &out); code != c.code {
			t.Errorf("%s: exit code %d", c.name, code)
		}
		for _, part := range c.says {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: %q is not in\n%s", c.name, part, out.String())
			}
		}
		if left, _ := os.ReadDir(temporary); len(left) > 0 {
			t.Errorf("%s: left behind: %v", c.name, left)
		}
	}
}

// TestBackupsAreRefusedWithAReason: each wrong use, its message, and that it changes nothing.
func TestBackupsAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	s := aShop(t)
	file := filepath.Join(s.folder, "one.backup")
	s.run("backup", file)
	half := s.file("half.backup", string(readFile(t, file)[:1000]))
	for _, step := range []step{
		{[]string{"backup", file}, 1, "add --replace"},
		{[]string{"backup", file, "--replace"}, 0, "sha256: "},
		{[]string{"backup", file, "--replace", "--json"}, 0, `"file_sha256": "`},
		{[]string{"backup", filepath.Join(s.folder, "none", "x")}, 1, "no backup was written"},
		{[]string{"backup", filepath.Join(s.folder, "late"), "--timeout", "1ns"}, 1, "timed out after 1ns"},
		{[]string{"backup", filepath.Join(s.folder, "late"), "--timeout", "0s"}, 2, "--timeout: "},
		{[]string{"restore", file}, 1, "is not empty"},
		{[]string{"restore", half, "--check"}, 1, "this is not a complete backup"},
		{[]string{"restore", half}, 1, "nothing has changed"},
		{[]string{"restore", file, "--skip-ids=-1"}, 2, "--skip-ids: "},
		{[]string{"restore", file, "--check", "--json"}, 0, `"engine": "sqlite"`},
	} {
		out, said, code := s.try(step.args...)
		if code != step.code || !strings.Contains(out+said, step.says) {
			t.Errorf("%v: exit code %d, %q is not in\n%s%s", step.args, code, step.says, out, said)
		}
	}
	// After Ctrl-C nothing is left.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var said strings.Builder
	args := []string{"backup", filepath.Join(s.folder, "late"), "--database", "sqlite:" + filepath.Join(s.folder, "holdfast.db")}
	if code := run(ctx, args, nil, &said, &said); code != 1 {
		t.Errorf("interrupted: %s", said.String())
	}
	if left, _ := filepath.Glob(filepath.Join(s.folder, "*late*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
