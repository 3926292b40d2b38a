package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a shell completion script.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help explains where to put the script.
func (completionCmd) Help() string {
	return "For bash, add this line to ~/.bashrc. For zsh, replace bash with zsh and add it to ~/.zshrc, after compinit:\n\n" +
		"    source <(holdfast completion bash)\n\n" +
		"For fish, save the script to a file:\n\n" +
		"    holdfast completion fish > ~/.config/fish/completions/holdfast.fish"
}

// Run prints the script.
func (c completionCmd) Run(p *program) error {
	p.printf("%s", completionScripts[c.Shell])
	return nil
}

// completeCommand is the hidden command that the scripts call. It gets the words after the program's name, up to the one
// being typed.
const completeCommand = "__complete"

var completionScripts = map[string]string{
	"bash": `_holdfast() {
	local IFS=$'\n'
	COMPREPLY=($(holdfast __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _holdfast holdfast
`,
	"zsh": `#compdef holdfast
_holdfast() {
	local -a lines
	lines=("${(@f)$(holdfast __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ -z "${lines[1]}" ]]; then
		_files
		return
	fi
	lines=("${(@)lines//:/\\:}")
	lines=("${(@)lines/$'\t'/:}")
	_describe holdfast lines
}
compdef _holdfast holdfast
`,
	"fish": `function __holdfast_words
	holdfast __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null
end
complete -c holdfast -n 'count (__holdfast_words) >/dev/null' -f -a '(__holdfast_words)'
`,
}

// complete prints the completions of the last word, each with its help after a tab.
func complete(to io.Writer, words []string) error {
	var line commandLine
	parser, err := newParser(&line, to)
	if err != nil {
		return err
	}
	for _, c := range candidates(parser.Model, words) {
		if _, err := fmt.Fprintf(to, "%s\t%s\n", c.word, c.help); err != nil {
			return err
		}
	}
	return nil
}

// candidate is a possible completion.
type candidate struct{ word, help string }

// candidates returns the completions of the last word, which may be empty, or nil if a free-form value is expected, such as
// a file name.
func candidates(model *kong.Application, words []string) (list []candidate) {
	if len(words) == 0 {
		words = []string{""}
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	node, wants := position(model.Node, before)
	switch {
	case wants != nil:
		for _, value := range valuesOf(wants.Value) {
			list = append(list, candidate{value, ""})
		}
	case strings.HasPrefix(last, "-"):
		for _, flag := range flagsOf(node) {
			list = append(list, candidate{"--" + flag.Name, flag.Help})
		}
	case len(node.Positional) > 0:
		for _, value := range valuesOf(node.Positional[0]) {
			list = append(list, candidate{value, ""})
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				list = append(list, candidate{child.Name, child.Help})
			}
		}
	}
	return slices.DeleteFunc(list, func(c candidate) bool { return !strings.HasPrefix(c.word, last) })
}

// position parses the words. It returns the command, and the flag whose value comes next, if any.
func position(node *kong.Node, words []string) (*kong.Node, *kong.Flag) {
	var wants *kong.Flag
	for _, word := range words {
		switch {
		case wants != nil:
			wants = nil
		case strings.HasPrefix(word, "-"):
			name := strings.TrimLeft(word, "-")
			at := slices.IndexFunc(flagsOf(node), func(f *kong.Flag) bool { return f.Name == name })
			if at >= 0 && !flagsOf(node)[at].IsBool() {
				wants = flagsOf(node)[at]
			}
		default:
			if at := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); at >= 0 {
				node = node.Children[at]
			}
		}
	}
	return node, wants
}

// flagsOf returns the flags that the help of a command shows.
func flagsOf(node *kong.Node) (list []*kong.Flag) {
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			setting := flag.Group != nil && flag.Group.Key == "settings"
			if !setting || flag.Name == "database" || settingsOf[node.Path()] {
				list = append(list, flag)
			}
		}
	}
	return list
}

// valuesOf returns the valid values of a flag or argument with an enum.
func valuesOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(strings.Split(v.Enum, ","), func(s string) bool { return s == "" })
}
