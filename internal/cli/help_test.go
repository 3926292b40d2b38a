package cli

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestEveryCommandHasAnExampleThatParses: a reader can paste it.
func TestEveryCommandHasAnExampleThatParses(t *testing.T) {
	t.Chdir(t.TempDir()) // `rates import` wants its file
	s := prompt{t, "."}
	s.file("eurofxref-hist.csv", someRates)
	var line commandLine
	parser, err := newParser(&line, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	left := len(examples)
	for _, leaf := range parser.Model.Leaves(true) {
		example, ok := examples[leaf.Path()]
		if !ok {
			t.Errorf("%s has no example", leaf.Path())
			continue
		}
		left--
		parsed, err := parser.Parse(wordsOf(example))
		if err != nil {
			t.Errorf("holdfast %s: %v", example, err)
		} else if parsed.Selected() != leaf {
			t.Errorf("the example of %s is one of %s", leaf.Path(), parsed.Selected().Path())
		}
	}
	if left != 0 {
		t.Errorf("%d examples are of no command", left)
	}
}

// TestACommandIsKnownWithoutTheOthers: a command line only builds its own command, with the same help.
func TestACommandIsKnownWithoutTheOthers(t *testing.T) {
	t.Parallel()
	help := func(words []string, known ...string) string {
		var line commandLine
		var said bytes.Buffer
		parser, err := newParser(&line, &said, known...)
		if err != nil {
			t.Fatal(err)
		}
		parser.Exit = func(int) {}
		_, _ = parser.Parse(append(words, "--help")) // a command without its arguments is an error, after the help
		return said.String()
	}
	for _, command := range []string{"serve", "token create", "listen"} {
		words := strings.Fields(command)
		if alone, whole := help(words, words...), help(words); alone != whole || !strings.Contains(whole, "Usage: holdfast "+command) {
			t.Errorf("the help of %s is\n%s\nand among the others\n%s", command, alone, whole)
		}
		if alone := help(nil, words...); strings.Contains(alone, "\n  exposure ") {
			t.Errorf("with %s, other commands are built: %s", command, alone)
		}
	}
}

func TestCompletion(t *testing.T) {
	for words, want := range map[string]string{
		"":                                  "serve demo migrate backup restore config version help completion site",
		"stat":                              "statements",
		"statements ":                       "list show pdf pay issue",
		"statements --site acme p":          "pdf pay",
		"statements show 1 --for ":          "policyholder merchant",
		"statements show 1 --for=merchant ": "",
		"limits list --o":                   "--over",
		"limits list --js":                  "--json",
		"completion ":                       "bash zsh fish",
		"exposure --listen":                 "",
		"serve --listen":                    "--listen",
		"import payments ":                  "",
	} {
		var out bytes.Buffer
		if code := run(t.Context(), append([]string{completeCommand}, strings.Split(words, " ")...), nil, &out, &out); code != 0 {
			t.Errorf("%q: exit code %d, %s", words, code, out.String())
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			word, _, _ := strings.Cut(line, "\t")
			got = append(got, word)
		}
		if found := strings.Join(got, " "); !strings.HasPrefix(found, want) || want == "" && found != "" {
			t.Errorf("%q is completed by %q, want %q", words, found, want)
		}
	}
}

// TestBashCompletes runs the script in a shell, with the program on its path.
func TestBashCompletes(t *testing.T) {
	script := `source <(holdfast completion bash)
COMP_WORDS=(holdfast statements p); COMP_CWORD=2; _holdfast; echo "${COMPREPLY[@]}"`
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Env = append(cmd.Environ(), "PATH="+filepath.Dir(binary)+":/usr/bin:/bin")
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "pdf pay\n" {
		t.Errorf("bash says %q, %v", out, err)
	}
}

// TestHelpEndsInOneFullStop checks every help text of a command, argument or flag, as shown.
func TestHelpEndsInOneFullStop(t *testing.T) {
	t.Parallel()
	var line commandLine
	parser, err := newParser(&line, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	check := func(what, text string) {
		texts++
		if end := strings.TrimRight(text, "."); len(text)-len(end) != 1 || strings.HasSuffix(end, "…") || strings.TrimSpace(end) != end {
			t.Errorf("%s: %q", what, text)
		}
	}
	err = kong.Visit(parser.Model.Node, func(node kong.Visitable, next kong.Next) error {
		switch node := node.(type) {
		case *kong.Node:
			check(node.FullPath(), node.Help)
			for paragraph := range strings.SplitSeq(node.Detail, "\n\n") {
				if !strings.HasPrefix(paragraph, "  ") && !strings.HasSuffix(paragraph, ":") && paragraph != "" {
					check(node.FullPath()+", details", paragraph)
				}
			}
			for _, arg := range node.Positional {
				check(node.FullPath()+" <"+arg.Name+">", kong.DefaultHelpValueFormatter(arg))
			}
		case *kong.Flag:
			check("--"+node.Name, kong.DefaultHelpValueFormatter(node.Value))
		}
		return next(nil)
	})
	if err != nil || texts < 300 {
		t.Errorf("%d texts, %v", texts, err)
	}
}
