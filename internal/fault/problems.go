package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Problems collects all that is wrong with one input, so that the caller sees every wrong field at once. The zero
// value is ready to use. It goes along with the input: first the reader of the request adds to it, then the rules of
// the field, and last the checks that need the database. Err makes one error of it.
type Problems struct {
	absent []string
	wrong  map[string]string
}

// Missing adds a required field that is absent.
func (p *Problems) Missing(field string) {
	if !slices.Contains(p.absent, field) {
		p.absent = append(p.absent, field)
	}
}

// Wrong adds what is wrong with a field. A second message about the same field is dropped: the first is the basic
// one.
func (p *Problems) Wrong(field, format string, args ...any) {
	if p.wrong == nil {
		p.wrong = map[string]string{}
	}
	if _, ok := p.wrong[field]; !ok {
		p.wrong[field] = fmt.Sprintf(format, args...)
	}
}

// MissingIsWrong turns absent fields into wrong ones, for endpoints whose answer has one form for both.
func (p *Problems) MissingIsWrong() {
	absent := p.absent
	p.absent = nil
	for _, field := range absent {
		p.Wrong(field, "This field is missing.")
	}
}

// Has reports whether the field is absent or wrong.
func (p *Problems) Has(field string) bool {
	_, wrong := p.wrong[field]
	return wrong || slices.Contains(p.absent, field)
}

// Clone returns an independent copy: an input may be checked more than once.
func (p *Problems) Clone() Problems {
	return Problems{absent: slices.Clone(p.absent), wrong: maps.Clone(p.wrong)}
}

// Err returns an error of the kind Missing when fields are absent, of the kind Invalid when fields are wrong, and nil
// otherwise. Absent fields come first, as section 7 has it.
func (p *Problems) Err() error {
	switch {
	case len(p.absent) > 0:
		return &Error{
			Kind:    Missing,
			Message: "Missing parameter(s): " + strings.Join(p.absent, ", "),
			Absent:  slices.Clone(p.absent),
		}
	case len(p.wrong) > 0:
		names := slices.Sorted(maps.Keys(p.wrong))
		return &Error{
			Kind:    Invalid,
			Message: "Invalid parameter(s): " + strings.Join(names, ", "),
			Params:  maps.Clone(p.wrong),
		}
	default:
		return nil
	}
}

// WrongField returns an error of the kind Invalid about one field.
func WrongField(field, format string, args ...any) error {
	var p Problems
	p.Wrong(field, format, args...)
	return p.Err()
}
