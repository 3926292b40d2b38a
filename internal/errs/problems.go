package errs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Problems collects everything wrong with one input, so that the caller sees all wrong fields together. The zero
// value is ready to use. It goes along with the input: first the reader of the request adds to it, then the rules of
// the field, and last the checks that need the database. Err makes one error of it.
type Problems struct {
	absent []string
	wrong  map[string]string
}

const isMissing = "This field is required."

// Missing adds a required field that is absent.
func (p *Problems) Missing(field string) {
	if !slices.Contains(p.absent, field) {
		p.absent = append(p.absent, field)
	}
}

// Wrong adds a problem with a field. A second message about the same field is dropped: the first is the basic
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
		p.Wrong(field, isMissing)
	}
}

// Item names an item of a list, or a field of that item: bookings[0], bookings[0].total. Items are counted from 0, and an
// empty field names the item itself.
func Item(list string, place int, field string) string {
	name := fmt.Sprintf("%s[%d]", list, place)
	if field == "" {
		return name
	}
	return name + "." + field
}

// Has reports whether the field, or an item of it, is absent or wrong.
func (p *Problems) Has(field string) bool {
	is := func(name string) bool { return name == field || strings.HasPrefix(name, field+"[") }
	for name := range p.wrong {
		if is(name) {
			return true
		}
	}
	return slices.ContainsFunc(p.absent, is)
}

// Clone returns an independent copy: an input may be checked more than once.
func (p *Problems) Clone() Problems {
	return Problems{absent: slices.Clone(p.absent), wrong: maps.Clone(p.wrong)}
}

// Err returns nil without problems, an error of the kind Missing when fields are absent and none is wrong, and else one of
// the kind Invalid. That one names the absent fields, too, so that the caller learns of everything at once.
func (p *Problems) Err() error {
	wrong := maps.Clone(p.wrong)
	for _, field := range p.absent { // ignore problems with the value of an absent field
		delete(wrong, field)
	}
	switch {
	case len(wrong) == 0 && len(p.absent) > 0:
		return &Error{
			Kind:    Missing,
			Message: "Missing parameter(s): " + strings.Join(p.absent, ", "),
			Absent:  slices.Clone(p.absent),
		}
	case len(wrong) > 0:
		for _, field := range p.absent {
			wrong[field] = isMissing
		}
		names := slices.Sorted(maps.Keys(wrong))
		return &Error{
			Kind:    Invalid,
			Message: "Invalid parameter(s): " + strings.Join(names, ", "),
			Params:  wrong,
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
