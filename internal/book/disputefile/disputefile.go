// Package disputefile reads disputes from files as processors send them: reports and exports in CSV, JSON and XML, each
// in its own columns and words (R14). It returns what each line reports about a case; recording and matching is done
// elsewhere. Start at Read. Each format in formats has its own file; docs/disputes.md describes them.
package disputefile

import (
	"bufio"
	"io"
	"iter"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/lib/tabular"
)

// Line is what one line of a file says. Of a file without lines (JSON, XML) it is one case. Either it has Reports, or Problem or Ignored says
// why it has none.
type Line struct {
	Number  int    // of its first line in the file; of a case in JSON or XML, its place; both from 1
	Raw     string // as it is in the file; "" if it contains a card number or is too long
	Reports []dispute.Report
	Problem string // why it cannot be understood, with the column; for people
	Ignored string // why it says nothing about a dispute, such as a payment between disputes; for people
}

// Options control how a file is read. All are optional.
type Options struct {
	Format  string   // the name of a format, if it is not to be found by the header
	Mapping *Mapping // columns and words of a format that is not known here
}

// Format is what a file was recognised as.
type Format struct {
	Name  string // such as adyen-disputes
	Label string // for people
}

// Read detects the format of a file and returns its lines one by one. It holds one line or case in memory. An unknown
// format is an error of the kind Invalid that lists the supported formats and what is missing for the closest one. An
// error among the lines means that the rest of the file cannot be read. Anything invalid within one line is a Problem
// of that line.
func Read(r io.Reader, o Options) (Format, iter.Seq2[Line, error], error) {
	wanted, err := choose(o)
	if err != nil {
		return Format{}, nil, err
	}
	text, err := tabular.Text(r)
	if err != nil {
		return Format{}, nil, err
	}
	in := bufio.NewReaderSize(text, 64<<10)
	kind, err := kindOf(in)
	if err != nil {
		return Format{}, nil, err
	}
	switch kind {
	case jsonFile:
		return readTrees(jsonCases(in), kind, wanted)
	case xmlFile:
		return readTrees(xmlCases(in, wanted), kind, wanted)
	default:
		return readTable(in, wanted)
	}
}

// Formats lists the formats that are known.
func Formats() []Format {
	var list []Format
	for _, f := range formats {
		list = append(list, f.Format)
	}
	return list
}

// line reads one record with a format. A card number is neither kept nor repeated.
func (f *reading) line(r *record) Line {
	r.clean()
	out := Line{Number: r.number, Raw: r.raw}
	if name, found := r.cardNumber(); found {
		out.Raw = ""
		out.Problem = "This line contains a card number" + name + ". Nothing of it was stored or logged."
		return out
	}
	var reports []dispute.Report
	if len(r.problems) == 0 {
		reports = f.read(r)
	}
	switch {
	case len(r.problems) > 0:
		out.Problem = r.problem()
	case len(reports) == 0:
		out.Ignored = r.ignored
		if out.Ignored == "" {
			out.Ignored = "Says nothing about a dispute."
		}
	default:
		for i := range reports {
			reports[i].Notes = append(reports[i].Notes, r.notes...)
		}
		out.Reports = reports
	}
	return out
}

// cardNumber finds a card number in any cell, and names the column unless its name may be one itself.
func (r *record) cardNumber() (where string, found bool) {
	for name, cell := range r.all() {
		if card.HoldsCardNumber(name) {
			return "", true
		}
		if card.HoldsCardNumber(cell) {
			return " in " + quoted(name), true
		}
	}
	// In XML and JSON more is kept than is read, such as comments; and what a decoder says about a mistake repeats it.
	return "", r.tree && card.HoldsCardNumber(r.raw) || card.HoldsCardNumber(r.problem())
}
