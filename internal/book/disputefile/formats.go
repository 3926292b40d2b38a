package disputefile

import (
	"cmp"
	"fmt"
	"strings"

	"holdfast/internal/domain/dispute"
	"holdfast/internal/errs"
)

// kind is how a file is written.
type kind int

const (
	tableFile kind = iota // rows with separators
	jsonFile
	xmlFile
)

// format is one format of a processor.
type format struct {
	Format
	kind kind
	// needs are the columns that it is recognised by and cannot do without. Alternatives are separated by a bar.
	needs []string
	// open starts reading a file. It returns the function that turns a record into reports.
	open func() func(r *record) []dispute.Report
	// sections says that the rows of a file have several shapes, and the first cell says which.
	sections bool
	// element is the name of the XML element of a case.
	element string
}

// reading is one file while it is read with a format.
type reading struct {
	*format
	read func(r *record) []dispute.Report
}

func (f *format) start() *reading { return &reading{f, f.open()} }

// stateless is a format that reads each record by itself.
func stateless(read func(r *record) []dispute.Report) func() func(r *record) []dispute.Report {
	return func() func(r *record) []dispute.Report { return read }
}

// formats are looked for in this order. Where a file has the columns of several, the first one is meant.
var formats = []*format{
	&adyenDisputes, &adyenAccounting, &adyenSettlement,
	&stripeDisputes, &stripeObjects, &stripeJSON, &stripeBalance,
	&braintree, &paypal, &jpmorgan, &worldpay, &cyberSource, &cyberSourceJSON, &checkout, &checkoutJSON,
}

// choose returns the formats that a file may have.
func choose(o Options) ([]*format, error) {
	if o.Mapping != nil {
		f, err := o.Mapping.format()
		if err != nil {
			return nil, err
		}
		return []*format{f}, nil
	}
	if o.Format == "" {
		return formats, nil
	}
	var names []string
	for _, f := range formats {
		if f.Name == o.Format {
			return []*format{f}, nil
		}
		names = append(names, f.Name)
	}
	return nil, errs.WrongField("format", "%.40q is not one of %s.", o.Format, strings.Join(names, ", "))
}

// has reports whether one of the alternatives of a need is there.
func has(need string, there func(name string) bool) bool {
	for name := range strings.SplitSeq(need, "|") {
		if there(plainName(name)) {
			return true
		}
	}
	return false
}

// lacks returns what a format needs and a record does not have.
func (f *format) lacks(there func(name string) bool) (missing []string) {
	for _, need := range f.needs {
		if !has(need, there) {
			missing = append(missing, need)
		}
	}
	return missing
}

// search finds the format of a file by the names of its columns, and remembers which one was nearest.
type search struct {
	wanted  []*format
	kind    kind
	nearest *format
	missing []string
}

// find returns the format whose columns are all there, or nil.
func (s *search) find(there func(name string) bool) *format {
	for _, f := range s.wanted {
		if f.kind != s.kind {
			continue
		}
		missing := f.lacks(there)
		switch found := len(f.needs) - len(missing); {
		case len(missing) == 0:
			return f
		case found > 0 && (s.nearest == nil || found*len(s.nearest.needs) > (len(s.nearest.needs)-len(s.missing))*len(f.needs)):
			s.nearest, s.missing = f, missing
		}
	}
	return nil
}

// unknown is the error of a file that has none of the formats.
func (s *search) unknown() error {
	all := labels(s.wanted)
	if s.nearest == nil {
		return errs.WrongField("file", "The format of the file is not known: it has no column of any. Looked for: %s.", all)
	}
	return errs.WrongField("file", "The format of the file is not known. The nearest is %s, but the file lacks %s %s. Looked for: %s.",
		s.nearest.Label, plural(len(s.missing), "the column", "the columns"), listed(s.missing), all)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// listed writes names for people: "A", "B" and "C".
func listed(names []string) string {
	var all []string
	for _, name := range names {
		var alternatives []string
		for alternative := range strings.SplitSeq(name, "|") {
			alternatives = append(alternatives, quoted(alternative))
		}
		all = append(all, strings.Join(alternatives, " or "))
	}
	if last := len(all) - 1; last > 0 {
		return strings.Join(all[:last], ", ") + " and " + all[last]
	}
	return cmp.Or(all...)
}

func quoted(name string) string { return fmt.Sprintf("%q", clip(name)) }
