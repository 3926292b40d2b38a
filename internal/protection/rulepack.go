package protection

import (
	"bytes"
	_ "embed" // for the rulepack that ships with the program
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"holdfast/internal/civil"
	"holdfast/internal/travel"
)

//go:embed rulepack.json
var shipped []byte

// Window is how long cardholders of a scheme can dispute (R5): Days after travel or payment, whichever is later, but
// never more than Cap days after the payment. A Cap of 0 is none.
type Window struct {
	Days int `json:"days"`
	Cap  int `json:"cap,omitempty"`
}

// LastDay is L of R5 for a payment of day paid and a travel that ends on day end.
func (w Window) LastDay(paid, end civil.Day) civil.Day {
	last := max(end, paid) + civil.Day(w.Days)
	if w.Cap > 0 {
		last = min(last, paid+civil.Day(w.Cap))
	}
	return last
}

// Rulepack is the dispute windows of all schemes, in force from a day on.
type Rulepack struct {
	Version string
	From    civil.Day
	windows map[travel.Scheme]Window
}

// Window gives the window of a scheme.
func (r Rulepack) Window(s travel.Scheme) Window {
	if w, ok := r.windows[s]; ok {
		return w
	}
	return r.windows[travel.Unknown]
}

// Rulepacks is all rulepacks, in order of the day from which they are in force.
type Rulepacks []Rulepack

// ShippedRulepacks returns the rulepacks that ship with the program.
func ShippedRulepacks() Rulepacks {
	packs, err := ParseRulepacks(shipped)
	if err != nil {
		panic(fmt.Sprintf("protection: the shipped rulepack: %v", err)) // a test reads it
	}
	return packs
}

// ParseRulepacks reads rulepacks from their data file: a JSON list of {version, from, windows}, in which windows has
// an entry for each scheme and one for "unknown".
func ParseRulepacks(data []byte) (Rulepacks, error) {
	var file []struct {
		Version string                   `json:"version"`
		From    string                   `json:"from"`
		Windows map[travel.Scheme]Window `json:"windows"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("rulepack: %w", err)
	}
	if len(file) == 0 {
		return nil, errors.New("rulepack: the list is empty")
	}
	var packs Rulepacks
	for i, f := range file {
		from, err := civil.ParseDay(f.From)
		if err != nil {
			return nil, fmt.Errorf("rulepack %d: from: %w", i+1, err)
		}
		pack := Rulepack{Version: f.Version, From: from, windows: f.Windows}
		if err := pack.check(); err != nil {
			return nil, fmt.Errorf("rulepack %d: %w", i+1, err)
		}
		if i > 0 && from <= packs[i-1].From {
			return nil, fmt.Errorf("rulepack %d: from %s does not follow %s", i+1, from, packs[i-1].From)
		}
		if _, twice := packs.ByVersion(pack.Version); twice { // allocations find theirs by it
			return nil, fmt.Errorf("rulepack %d: there is another of version %s", i+1, pack.Version)
		}
		packs = append(packs, pack)
	}
	return packs, nil
}

func (r Rulepack) check() error {
	if r.Version == "" {
		return errors.New("it has no version")
	}
	for _, s := range append(slices.Clone(travel.Schemes), travel.Unknown) {
		w, ok := r.windows[s]
		if !ok {
			return fmt.Errorf("scheme %s has no window", s)
		}
		if w.Days < 1 || w.Days > 3650 || w.Cap < 0 || w.Cap > 3650 {
			return fmt.Errorf("scheme %s: days lie between 1 and 3650, a cap up to there", s)
		}
	}
	return nil
}

// On gives the rulepack in force on a day. Before the first one, the first one counts.
func (rs Rulepacks) On(day civil.Day) Rulepack {
	found := rs[0]
	for _, r := range rs {
		if r.From <= day {
			found = r
		}
	}
	return found
}

// ByVersion gives the rulepack of a version: an allocation keeps the one that it was recorded under.
func (rs Rulepacks) ByVersion(version string) (Rulepack, bool) {
	for _, r := range rs {
		if r.Version == version {
			return r, true
		}
	}
	return Rulepack{}, false
}
