package main

import (
	"fmt"
	"regexp"
	"strings"
)

// fault is a small change to the source that a test must catch.
type fault struct {
	name  string
	what  string // description of the faulty behaviour
	find  string // a piece of the source that occurs exactly once
	put   string // its replacement
	tests string // the tests that should catch it, separated by spaces: see tree.selections
}

// parseList reads the list: a paragraph of "key: value" lines for each fault. Lines that start with # are comments.
func parseList(text string) ([]fault, error) {
	var faults []fault
	names := map[string]bool{}
	var f fault
	end := func(line int) error {
		switch {
		case f == fault{}:
			return nil
		case f.name == "" || f.what == "" || f.find == "" || f.tests == "":
			return fmt.Errorf("list.txt: the fault before line %d must have name, what, find and tests", line)
		case names[f.name]:
			return fmt.Errorf("list.txt: duplicate name %s", f.name)
		case f.find == f.put:
			return fmt.Errorf("list.txt: %s changes nothing", f.name)
		}
		names[f.name] = true
		faults, f = append(faults, f), fault{}
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		var to *string
		switch {
		case line == "":
			if err := end(i + 1); err != nil {
				return nil, err
			}
			continue
		case line[0] == '#':
			continue
		case key == "name":
			to = &f.name
		case key == "what":
			to = &f.what
		case key == "find":
			to = &f.find
		case key == "put":
			to = &f.put
		case key == "tests":
			to = &f.tests
		}
		if to == nil || *to != "" {
			return nil, fmt.Errorf("list.txt:%d: not one of name, what, find, put, tests, each once", i+1)
		}
		*to = value
	}
	return faults, end(len(lines) + 1)
}

// anyName in find matches any name, with or without dots, so that the code can move to another package. In put, the first
// one is replaced with the first match of find, and so on. A digit after it selects a match.
const anyName = "…"

var named = regexp.MustCompile(anyName + `[1-9]?`)

// pattern turns a piece of source into a regular expression. A space matches any white space, and the piece begins and
// ends at word boundaries.
func pattern(piece string) (*regexp.Regexp, error) {
	var b strings.Builder
	if word.MatchString(piece[:1]) {
		b.WriteString(`\b`)
	}
	for i, part := range strings.Fields(piece) {
		if i > 0 {
			b.WriteString(`\s+`)
		}
		for k, text := range strings.Split(part, anyName) {
			if k > 0 {
				b.WriteString(`([\w.]*)`)
			}
			b.WriteString(regexp.QuoteMeta(text))
		}
	}
	if word.MatchString(piece[len(piece)-1:]) {
		b.WriteString(`\b`)
	}
	return regexp.Compile(b.String())
}

var word = regexp.MustCompile(`\w`)

// apply returns the source with the fault and its line. found is the number of matches; unless it is 1, changed is empty.
func (f fault) apply(source string) (changed string, line, found int, err error) {
	piece, err := pattern(f.find)
	if err != nil {
		return "", 0, 0, err
	}
	places := piece.FindAllStringSubmatchIndex(source, -1)
	if len(places) != 1 {
		return "", 0, len(places), nil
	}
	at, next := places[0], 0
	put := named.ReplaceAllStringFunc(f.put, func(name string) string {
		next++
		n := next
		if digit := strings.TrimPrefix(name, anyName); digit != "" {
			n = int(digit[0] - '0')
		}
		if 2*n+1 >= len(at) {
			return name // not valid in Go, so it does not build
		}
		return source[at[2*n]:at[2*n+1]]
	})
	return source[:at[0]] + put + source[at[1]:], strings.Count(source[:at[0]], "\n") + 1, 1, nil
}
