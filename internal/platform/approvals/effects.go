package approvals

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// Changes compares two audit records of an object and lists the fields that differ. nil has no fields. New fields that
// are empty are left out.
func Changes(before, after any) ([]proposal.Change, error) {
	old, err := fieldsOf(before)
	if err != nil {
		return nil, err
	}
	next, err := fieldsOf(after)
	if err != nil {
		return nil, err
	}
	names := maps.Clone(old)
	maps.Copy(names, next)
	list := []proposal.Change{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if isNew := old[name] == nil; isNew && slices.Contains(empty, string(next[name])) {
			continue
		}
		if !bytes.Equal(old[name], next[name]) {
			list = append(list, proposal.Change{Field: name, Before: old[name], After: next[name]})
		}
	}
	return list, nil
}

// empty are the values of fields that say nothing.
var empty = []string{`""`, "[]", "null", "0"}

func fieldsOf(shape any) (fields map[string]json.RawMessage, err error) {
	text, err := json.Marshal(shape)
	if err != nil {
		return nil, fmt.Errorf("comparing before and after: %w", err)
	}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("comparing before and after: %w", err)
	}
	if fields == nil { // the shape is null
		fields = map[string]json.RawMessage{}
	}
	return fields, nil
}

// withEffect adds to a proposal what it would change now. A decided proposal keeps what it changed then,
// and one whose kind has no Effect keeps the effect computed when it was created.
func (a *Approvals) withEffect(tx *store.Tx, p proposal.Proposal) (proposal.Proposal, error) {
	kind, _ := a.kinds.of(p.Kind)
	if p.State != proposal.Open || kind.Effect == nil {
		return p, nil
	}
	effect, err := kind.Effect(tx, p)
	switch f, isFault := errors.AsType[*errs.Error](err); {
	case isFault && f.Kind != errs.Unavailable && f.Kind != errs.Internal:
		effect = proposal.Effect{Problem: problemOf(f)}
	case err != nil:
		return p, err
	}
	p.Effect, err = EncodeEffect(effect, p.Effect)
	return p, err
}

// EncodeEffect encodes an effect for storage. An empty effect keeps the stored one.
func EncodeEffect(e proposal.Effect, stored string) (string, error) {
	if e.File == nil && e.Problem == "" && e.Changes == nil && e.Figures == nil {
		return stored, nil
	}
	e.Changes, e.Figures = append([]proposal.Change{}, e.Changes...), append([]proposal.Figure{}, e.Figures...)
	text, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("effect of a proposal: %w", err)
	}
	return string(text), nil
}

// problemOf is an error in one line, with the problem of each field.
func problemOf(f *errs.Error) string {
	parts := []string{f.Message}
	for _, field := range slices.Sorted(maps.Keys(f.Params)) {
		parts = append(parts, field+": "+f.Params[field])
	}
	return strings.Join(parts, " ")
}
