package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"holdfast/docs"
)

// runsOf are the files that run the blocks of a guide that are not commands.
var runsOf = map[string]string{"go": "../../client/example_test.go", "js": "../../internal/web/checkout/assets/page.js"}

// guideBlock is a block of code of a guide.
type guideBlock struct{ language, text string }

func guideBlocks(t *testing.T, name string) (list []guideBlock) {
	t.Helper()
	page := docsPage(t, filepath.Join("guides", name+".md"))
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		list = append(list, guideBlock{m[1], m[2]})
	}
	if fences := strings.Count(page, "```"); fences != 2*len(list) {
		t.Errorf("%s.md has %d fences, and %d blocks", name, fences, len(list))
	}
	return list
}

// TestTheGuides pastes every block of every guide into a shell, in order, next to one demo. The text below a block is
// its output.
func TestTheGuides(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"curl", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is not on this machine, and under CI=true the guides may not go untested", tool)
			}
			t.Skipf("the guides are not tried: %s is not on this machine", tool)
		}
	}
	s := onSQLite(t)
	first := guideBlocks(t, docs.Guides[0])
	start, isDemo := strings.CutPrefix(strings.TrimSpace(first[0].text), "holdfast ")
	if !isDemo || first[0].language != "sh" {
		t.Fatalf("the first guide starts no demo:\n%s", first[0].text)
	}
	demo := s.start(strings.Fields(start)...)
	setup := first[1].text
	tried := 0
	for i, name := range docs.Guides {
		blocks := guideBlocks(t, name)
		if i == 0 {
			blocks = blocks[2:] // the demo and the shell
		}
		tried += followGuide(t, demo, s, name, setup, blocks)
	}
	if tried < 40 {
		t.Errorf("only %d blocks of commands", tried)
	}
	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(guides) != len(docs.Guides) {
		t.Errorf("%d guides are shown, and there are %d files, %v", len(docs.Guides), len(guides), err)
	}
}

// followGuide runs the commands of one guide in one shell and checks every block. It returns the number of command
// blocks.
func followGuide(t *testing.T, demo *process, s *system, name, setup string, blocks []guideBlock) (tried int) {
	t.Helper()
	const line = "\nthe end of a block\n"
	script := setup
	for _, b := range blocks {
		if b.language == "sh" {
			script += b.text + "printf '" + strings.ReplaceAll(line, "\n", `\n`) + "'\n"
			tried++
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", strings.ReplaceAll(script, "http://127.0.0.1:8080", demo.base))
	cmd.Dir, cmd.Env = s.dir, append(s.command(t.Context()).Env, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	said := strings.Split(strings.ReplaceAll(string(out), demo.base, "http://127.0.0.1:8080"), line)
	if err != nil || len(said) != tried+1 {
		t.Errorf("%s.md: %v after %d of %d blocks: %s\n%s", name, err, len(said)-1, tried, log.String(), said[len(said)-1])
		return tried
	}
	got, asked := "", false
	for i, b := range blocks {
		switch b.language {
		case "sh":
			got, said, asked = said[0], said[1:], true
			refused := strings.Contains(got, `"request_id":`)
			if refused && (i+1 == len(blocks) || !strings.Contains(blocks[i+1].text, `"code"`)) {
				t.Errorf("%s.md: refused is\n%s\n%s", name, b.text, got)
			}
			continue
		case "json", "text":
			problem := "it stands below no commands"
			if asked && b.language == "json" {
				problem = differsJSON(b.text, got)
			} else if asked {
				problem = differsText(b.text, got)
			}
			if problem != "" {
				t.Errorf("%s.md: %s\n%sis not in\n%s", name, problem, b.text, got)
			}
		default:
			code, err := os.ReadFile(runsOf[b.language])
			if err != nil || !strings.Contains(withoutIndent(string(code)), withoutIndent(b.text)) {
				t.Errorf("%s.md: nothing runs this block of the language %q: %v\n%s", name, b.language, err, b.text)
			}
		}
		asked = false
	}
	return tried
}

// The response must contain what a guide shows: fields with their values, lines in order.
func TestWhatAGuideShowsIsCompared(t *testing.T) {
	t.Parallel()
	for want, answers := range map[string][2]string{ // the first one matches, the second one does not
		`{"a": 1}`:                     {`{"a": 1, "b": 2}`, `{"a": 2}`},
		`{"a": {"b": "x…z"}}`:          {`{"a": {"b": "xyz"}}`, `{"a": {"b": "xy"}}`},
		`{"a": "…"}`:                   {`{"a": 7}`, `{"b": 7}`},
		`{"a": []}`:                    {`{"a": []}`, `{"a": [1]}`},
		`[{"a": true}]`:                {`[{"a": false}, {"a": true}]`, `[{"a": false}]`},
		`{"code": "last of answers"}`:  {`{"code": "x"} {"code": "last of answers"}`, `{"code": "last of answers"} {"code": "x"}`},
		`{"a": "no answer is compared`: {``, `{"a": 1}`},
	} {
		if fits := differsJSON(want, answers[0]) == ""; fits != json.Valid([]byte(want)) {
			t.Errorf("%s and %s: %s", want, answers[0], differsJSON(want, answers[0]))
		}
		if differsJSON(want, answers[1]) == "" {
			t.Errorf("%s is found in %s", want, answers[1])
		}
	}
	for want, answers := range map[string][2]string{
		"one line":     {"before\none   line\nafter", "one\nline"},
		"a\nb":         {"a\nx\nb", "b\na"},
		"worth … here": {"worth GBP 1 here", "worth GBP 1"},
		"a\n…\nb":      {"a\nx\ny\nb", "a\nx"},
		"last":         {"first\nlast", ""},
	} {
		if problem := differsText(want, answers[0]); problem != "" {
			t.Errorf("%q and %q: %s", want, answers[0], problem)
		}
		if differsText(want, answers[1]) == "" {
			t.Errorf("%q is found in %q", want, answers[1])
		}
	}
}

// differsJSON returns what is missing in the last response compared with the guide, or "".
func differsJSON(want, got string) string {
	var piece, last any
	if err := json.Unmarshal([]byte(want), &piece); err != nil {
		return err.Error()
	}
	answers := json.NewDecoder(strings.NewReader(got))
	for {
		var next any
		if err := answers.Decode(&next); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err.Error()
		}
		last = next
	}
	return differs("the answer", piece, last)
}

// differs compares an excerpt with the response. Objects may have more fields, and lists more items.
func differs(where string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		object, _ := got.(map[string]any)
		for name, value := range want {
			if problem := differs(where+"."+name, value, object[name]); problem != "" {
				return problem
			}
		}
		return ""
	case []any:
		list, isList := got.([]any)
		if !isList || len(want) == 0 && len(list) > 0 {
			return where + " is no such list"
		}
		for _, item := range want {
			found, problem := false, ""
			for _, candidate := range list {
				problem = differs(where+"[]", item, candidate)
				found = found || problem == ""
			}
			if !found {
				return where + " lacks an item: " + problem
			}
		}
		return ""
	case string:
		if got != nil && abbreviates(want, fmt.Sprint(got)) {
			return ""
		}
	default:
		if reflect.DeepEqual(want, got) {
			return ""
		}
	}
	return fmt.Sprintf("%s is %v", where, got)
}

// differsText returns a line of a guide that was not printed, or "". Lines may be missing at "…" and at both ends.
func differsText(want, got string) string {
	lines := strings.Split(got, "\n")
	for line := range strings.Lines(want) {
		line = strings.Join(strings.Fields(line), " ")
		for line != "…" && (len(lines) == 0 || !abbreviates(line, strings.Join(strings.Fields(lines[0]), " "))) {
			if len(lines) == 0 {
				return "the line " + line
			}
			lines = lines[1:]
		}
	}
	return ""
}

// abbreviates reports whether a text matches a pattern with "…" for variable parts.
func abbreviates(short, long string) bool {
	parts := strings.Split(short, "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".+") + "$").MatchString(long)
}
