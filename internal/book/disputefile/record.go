package disputefile

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"holdfast/internal/domain/dispute"
)

// record is one row of a table, or one case of a JSON or XML file, with named cells. The methods that read a cell add
// its problems to problems.
type record struct {
	number  int
	raw     string
	names   []string // as the file names them
	index   map[string]int
	cells   []string
	comma   bool   // a decimal comma is allowed, as in files with semicolons
	decimal string // the decimal separator, if a mapping sets it
	tree    bool   // a case of a JSON or XML file

	problems []string
	notes    []dispute.Note
	ignored  string
}

// plainName is a name of a column without what differs from file to file: case, spaces around and double ones within, and quotation marks.
func plainName(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.Trim(name, "\ufeff\"' ")), " "))
}

// indexOf has the place of each name. The first column of a name counts, and a prefix such as Request_ may be left out.
func indexOf(names []string) map[string]int {
	index := make(map[string]int, len(names))
	for i, name := range names {
		if _, ok := index[plainName(name)]; !ok {
			index[plainName(name)] = i
		}
	}
	for i, name := range names {
		if _, short, ok := strings.Cut(name, "_"); ok && strings.ToUpper(name[:1]) == name[:1] {
			if _, ok := index[plainName(short)]; !ok {
				index[plainName(short)] = i
			}
		}
	}
	return index
}

func (r *record) has(name string) bool {
	_, ok := r.index[plainName(name)]
	return ok
}

// maxText is how many characters of a text are kept, such as a reason. A reference that is longer is none.
const maxText = 200

// text is the cell of the first of these columns that is not empty, cut to maxText.
func (r *record) text(names ...string) string {
	text, _ := r.cell(names...)
	if utf8.RuneCountInString(text) > maxText {
		return string([]rune(text)[:maxText]) + "…"
	}
	return text
}

// cell is the cell of the first of these columns that is not empty, with the name of its column in the file. If all are empty, the name is that
// of the first that the file has.
func (r *record) cell(names ...string) (text, column string) {
	column = names[0]
	for i := len(names) - 1; i >= 0; i-- {
		at, ok := r.index[plainName(names[i])]
		if !ok {
			continue
		}
		value := ""
		if at < len(r.cells) {
			value = unshielded(r.cells[at])
		}
		if value != "" || text == "" {
			if column = r.names[at]; value != "" {
				text = value
			}
		}
	}
	return text, column
}

// unshielded is a cell without what spreadsheets put around a text that they are not to take for a number: ="0012", '0012.
func unshielded(cell string) string {
	cell = strings.TrimSpace(cell)
	if inner, ok := strings.CutPrefix(cell, `="`); ok && strings.HasSuffix(inner, `"`) {
		return strings.TrimSpace(strings.TrimSuffix(inner, `"`))
	}
	if inner, ok := strings.CutPrefix(cell, "'"); ok {
		return strings.TrimSpace(inner)
	}
	switch strings.ToLower(cell) {
	case "null", "n/a", `\n`:
		return ""
	}
	return cell
}

// all yields the names and cells of the record, in the order of the file. Cells beyond the names have their number.
func (r *record) all() iter.Seq2[string, string] {
	return func(yield func(name, cell string) bool) {
		for i, cell := range r.cells {
			name := fmt.Sprintf("column %d", i+1)
			if i < len(r.names) {
				name = r.names[i]
			}
			if !yield(name, cell) {
				return
			}
		}
	}
}

// wrong notes a problem with a column. A second one about the same column is dropped: the first is the basic one.
func (r *record) wrong(column, format string, args ...any) {
	name := clip(column) + ": "
	if !slices.ContainsFunc(r.problems, func(p string) bool { return strings.HasPrefix(p, name) }) {
		r.problems = append(r.problems, name+fmt.Sprintf(format, args...))
	}
}

// problem joins all problems into one text.
func (r *record) problem() string { return strings.Join(r.problems, " ") }

// clean takes out what no database keeps as text: zero bytes, and bytes that are not UTF-8.
func (r *record) clean() {
	r.raw = cleaned(r.raw)
	for i := range r.cells {
		r.cells[i] = cleaned(r.cells[i])
	}
	for i := range r.problems {
		r.problems[i] = cleaned(r.problems[i])
	}
}

func cleaned(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\ufffd")
}

// note adds something that was not used.
func (r *record) note(column, format string, args ...any) {
	r.notes = append(r.notes, dispute.Note{Field: clip(column), Text: fmt.Sprintf(format, args...)})
}

// ignore records why the record is not about a dispute.
func (r *record) ignore(format string, args ...any) []dispute.Report {
	r.ignored = fmt.Sprintf(format, args...)
	return nil
}

// noRow is why a row of a report is not a line, for example because it only counts others. It is left out of the
// result.
const noRow = "-"

// clip shortens a text that a message repeats.
func clip(text string) string {
	const most = 60
	text = cleaned(text)
	if utf8.RuneCountInString(text) > most {
		return string([]rune(text)[:most]) + "…"
	}
	return text
}
