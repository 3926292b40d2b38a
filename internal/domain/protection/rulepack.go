package protection

import (
	"bytes"
	_ "embed" // for the rulepack that ships with the program
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
)

//go:embed rulepack.json
var shipped []byte

// Window says how long cardholders of a scheme can dispute (R5): until Days after the later one of travel and
// payment, but at most until Cap days after the payment. A Cap of 0 means that there is no cap.
type Window struct {
	Days int `json:"days"`
	Cap  int `json:"cap,omitempty"`
}

// LastDay is L, for P = paid and D = end (R5).
func (w Window) LastDay(paid, end civil.Day) civil.Day {
	last := max(end, paid) + civil.Day(w.Days)
	if w.Cap > 0 {
		last = min(last, paid+civil.Day(w.Cap))
	}
	return last
}

// Rulepack is the dispute windows of all schemes, in force from a day on (R5).
type Rulepack struct {
	Version string
	From    civil.Day
	windows map[card.Scheme]Window
}

// Window returns the window of a scheme. A scheme that is not in the rulepack gets the window of card.Unknown.
func (r Rulepack) Window(s card.Scheme) Window {
	if w, ok := r.windows[s]; ok {
		return w
	}
	return r.windows[card.Unknown]
}

// Rulepacks are all rulepacks, in order of the days from which they are in force.
type Rulepacks []Rulepack

// ShippedRulepacks returns the rulepacks that ship with the program.
func ShippedRulepacks() Rulepacks {
	packs, err := ParseRulepacks(shipped)
	if err != nil {
		panic(fmt.Sprintf("protection: the shipped rulepack: %v", err)) // a test reads it
	}
	return packs
}

// ParseRulepacks reads the file of the setting --rulepacks (R5): a JSON list of {version, from, windows}. from is a
// day such as 2026-03-31, and windows has an entry for each scheme and one for "unknown". It is an error when the
// list is empty, when the days do not rise, when a version appears twice, and when a window is missing or out of
// bounds.
func ParseRulepacks(data []byte) (Rulepacks, error) {
	var file []struct {
		Version string                 `json:"version"`
		From    string                 `json:"from"`
		Windows map[card.Scheme]Window `json:"windows"`
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
			return nil, fmt.Errorf("rulepack %d: from %s must be later than %s", i+1, from, packs[i-1].From)
		}
		if _, twice := packs.ByVersion(pack.Version); twice { // allocations keep only the version
			return nil, fmt.Errorf("rulepack %d: another rulepack also has version %s", i+1, pack.Version)
		}
		packs = append(packs, pack)
	}
	return packs, nil
}

func (r Rulepack) check() error {
	if r.Version == "" {
		return errors.New("it has no version")
	}
	for _, s := range append(slices.Clone(card.Schemes), card.Unknown) {
		w, ok := r.windows[s]
		if !ok {
			return fmt.Errorf("scheme %s has no window", s)
		}
		if w.Days < 1 || w.Days > 3650 || w.Cap < 0 || w.Cap > 3650 {
			return fmt.Errorf("scheme %s: days must be from 1 to 3650, and cap from 0 to 3650", s)
		}
	}
	return nil
}

// On returns the rulepack in force on a day. Before the first one, the first one counts.
func (rs Rulepacks) On(day civil.Day) Rulepack {
	found := rs[0]
	for _, r := range rs {
		if r.From <= day {
			found = r
		}
	}
	return found
}

// ByVersion returns the rulepack with a version. An allocation keeps the rulepack that was in force when it was
// recorded.
func (rs Rulepacks) ByVersion(version string) (Rulepack, bool) {
	for _, r := range rs {
		if r.Version == version {
			return r, true
		}
	}
	return Rulepack{}, false
}
