package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdfast/internal/store"
)

// change runs statements on the database of a shell, like someone with its password.
func (s prompt) change(statements ...string) {
	s.t.Helper()
	database, err := store.Open(s.t.Context(), "sqlite:"+filepath.Join(s.folder, "holdfast.db"), time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	defer database.Close()
	err = database.Write(s.t.Context(), store.Deployment, func(tx *store.Tx) error {
		for _, statement := range statements {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestVerify: it reports each problem with its place, exits with 1, and detects a truncated chain by a stored head.
func TestVerify(t *testing.T) {
	t.Parallel()
	s := prompt{t, t.TempDir()}
	s.run("site", "create", "demo", "--name", "Demo", "--currency", "GBP", "--sandbox")
	s.run("supplier", "create", "Hotel", "--site", "demo")
	s.run("merchant", "create", "Azure", "--currency", "EUR", "--mode", "draft", "--site", "demo")
	if out := s.run("verify"); !strings.Contains(out, "No errors found.") {
		t.Errorf("%s", out)
	}
	heads := s.run("verify", "--head")
	kept := s.file("heads.jsonl", heads+heads)
	s.run("verify", "--against", kept)
	s.run("verify", "--against", kept, "--site", "demo")

	s.change(`DELETE FROM audit_records WHERE site_id = 1 AND id = (SELECT id FROM audit_heads WHERE site_id = 1)`,
		`UPDATE audit_heads SET id = id - 1, hash = (SELECT r.hash FROM audit_records r WHERE r.site_id = 1
			AND r.id = audit_heads.id - 1) WHERE site_id = 1`)
	s.run("verify") // the chain is whole, and shorter
	out, said, code := s.try("verify", "--against", kept)
	if code != exitFailure || said != "" || !strings.Contains(out, "kept heads") || !strings.Contains(out, "1 findings.") {
		t.Errorf("a cut end: exit code %d, %s%s", code, said, out)
	}
	var last struct{ Hash string }
	for line := range strings.Lines(heads) {
		if strings.Contains(line, `"site":"demo","chain":"audit"`) {
			if err := json.Unmarshal([]byte(line), &last); err != nil {
				t.Fatal(err)
			}
		}
	}
	if out, _, code := s.try("verify", "--against", last.Hash); code != exitFailure {
		t.Errorf("the hash of a record that is gone: exit code %d, %s", code, out)
	}

	s.change(`UPDATE channel_protection SET protected = NOT protected`)
	var shown shownReport
	out, _, code = s.try("verify", "--site", "demo", "--json", "--limit", "1")
	if err := json.Unmarshal([]byte(out), &shown); err != nil || code != exitFailure {
		t.Fatalf("exit code %d, %v", code, err)
	}
	if shown.Total != 2 || len(shown.Findings) != 1 || shown.Findings[0].Table != "channel_protection of channel" ||
		shown.Findings[0].Stored != "false" || shown.Findings[0].Should != "true" || len(shown.Checks) < 30 || len(shown.Heads) != 2 {
		t.Errorf("%s", out)
	}
	for _, wrong := range []string{"no such file", s.file("wrong.jsonl", `{"site": "demo"}`)} {
		if _, said, code := s.try("verify", "--against", wrong); code != exitUsage || !strings.Contains(said, "--against") {
			t.Errorf("--against %q: exit code %d, %s", wrong, code, said)
		}
	}
}

// TestHeadsAreAppended: each time the job runs, the file gets the head of every chain.
func TestHeadsAreAppended(t *testing.T) {
	t.Parallel()
	s := prompt{t, t.TempDir()}
	s.run("site", "create", "demo", "--name", "Demo", "--currency", "GBP", "--sandbox")
	file := filepath.Join(s.folder, "heads.jsonl")
	p := &program{Config: Config{
		Database: "sqlite:" + filepath.Join(s.folder, "holdfast.db"), AnchorFile: file, ForexMargin: "0",
	}, stderr: os.Stderr}
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 2 {
		if _, err := p.anchor(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(file)
	if err != nil || strings.Count(string(whole), "\n") != 8 {
		t.Errorf("two chains of the deployment and of one site, twice: %s, %v", whole, err)
	}
	s.run("verify", "--against", file)
}
