package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"holdfast/internal/lib/nearest"

	"github.com/alecthomas/kong"
)

// unknownFlag finds the flag in the parser's message. The parser itself suggests every flag within two letters, even for very short names.
var unknownFlag = regexp.MustCompile(`^unknown flag (-\S+?)(,|$)`)

// meant rewrites the parser's message about an unknown flag, and suggests the flags of the command that were probably meant.
func meant(said string, line *kong.Context) string {
	found := unknownFlag.FindStringSubmatch(said)
	if found == nil {
		return said
	}
	typed := found[1]
	if !strings.HasPrefix(typed, "--") { // a single dash: the parser reads its first letter as the flag
		for _, arg := range line.Args {
			if word, _, _ := strings.Cut(arg, "="); strings.HasPrefix(word, typed) && len(word) > len(typed) {
				typed = word
			}
		}
	}
	node := line.Selected()
	if node == nil {
		node = line.Model.Node
	}
	name := strings.TrimLeft(typed, "-")
	known := flagNames(node)
	if len(node.Children) > 0 {
		for _, leaf := range leavesOf(node) {
			if slices.Contains(flagNames(leaf), name) {
				return fmt.Sprintf("unknown flag %s. Flags of a command follow it, as in %q", typed, line.Model.Name+" "+leaf.Path()+" --"+name)
			}
		}
	}
	var near []string
	if slices.Contains(known, name) {
		near = []string{name}
	} else if one := nearest.Of(name, known); one != "" {
		near = []string{one}
	} else if len(name) > 1 {
		near = slices.DeleteFunc(known, func(flag string) bool {
			return !strings.HasPrefix(flag, name) && !slices.Contains(strings.Split(flag, "-"), name)
		})
	}
	said = "unknown flag " + typed
	for i, flag := range near {
		near[i] = fmt.Sprintf("%q", "--"+flag)
	}
	switch len(near) {
	case 0:
		return said
	case 1:
		return said + ", did you mean " + near[0] + "?"
	}
	return said + ", did you mean one of " + strings.Join(near, ", ") + "?"
}

// flagNames returns the names of all flags of a command, without dashes. A negatable flag has two.
func flagNames(node *kong.Node) (names []string) {
	for _, group := range node.AllFlags(false) {
		for _, flag := range group {
			names = append(names, flag.Name)
			if flag.Tag.Negatable != "" {
				names = append(names, "no-"+flag.Name)
			}
		}
	}
	return names
}
