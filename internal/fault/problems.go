package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Problems collects everything that is wrong with one input, so that the caller learns of all wrong fields at once.
// The zero value is ready to use. It travels inside an input (reader of the wire first, rules of the noun next, what
// only the database knows last) and becomes one error at the end.
type Problems struct {
	absent []string
	wrong  map[string]string
}

// Missing notes that a required field is absent.
func (p *Problems) Missing(field string) {
	if !slices.Contains(p.absent, field) {
		p.absent = append(p.absent, field)
	}
}

// Wrong notes what is wrong with a field. The first message about a field stays: it is the most basic one.
func (p *Problems) Wrong(field, format string, args ...any) {
	if p.wrong == nil {
		p.wrong = map[string]string{}
	}
	if _, ok := p.wrong[field]; !ok {
		p.wrong[field] = fmt.Sprintf(format, args...)
	}
}

// MissingIsWrong makes of every absent field a wrong one, for answers that have one shape for both.
func (p *Problems) MissingIsWrong() {
	absent := p.absent
	p.absent = nil
	for _, field := range absent {
		p.Wrong(field, "This field is missing.")
	}
}

// Has reports whether the field is already known to be absent or wrong.
func (p *Problems) Has(field string) bool {
	_, wrong := p.wrong[field]
	return wrong || slices.Contains(p.absent, field)
}

// Clone returns a copy that can be added to without changing p: an input may be judged more than once.
func (p *Problems) Clone() Problems {
	return Problems{absent: slices.Clone(p.absent), wrong: maps.Clone(p.wrong)}
}

// Err returns nil when nothing was noted; a Missing fault when fields are absent (absence is answered first, as the
// wire's framework does); else an Invalid fault.
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

// WrongField returns an Invalid fault about a single field.
func WrongField(field, format string, args ...any) error {
	var p Problems
	p.Wrong(field, format, args...)
	return p.Err()
}
