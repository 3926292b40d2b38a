package loginline

import (
	"context"
	"errors"
	"slices"
	"testing"

	"holdfast/internal/errs"
)

// inLine is a line whose places are all taken.
func inLine(t *testing.T, places, ofAddress, inAll int) *Line {
	t.Helper()
	l := New(places, ofAddress, inAll)
	for range places {
		if _, waited, err := l.Enter(t.Context(), "before", "anybody"); err != nil || waited {
			t.Fatalf("a free place: waited %v, %v", waited, err)
		}
	}
	return l
}

// told is what a waiter was told: "in", "refused" or "" for nothing yet.
func told(t *testing.T, w *waiter, kind errs.Kind) string {
	t.Helper()
	select {
	case err := <-w.verdict:
		if err == nil {
			return "in"
		}
		if !errs.Is(err, kind) {
			t.Errorf("refused with %v", err)
		}
		return "refused"
	default:
		return ""
	}
}

// The attack: one address sends 300 logins at once. It used to hold up everybody else for as long as they take.
func TestOneAddressWithManyLoginsHoldsNobodyElseUp(t *testing.T) {
	l := inLine(t, 3, 16, 64)
	var first *waiter
	refused := 0
	for range 300 {
		w, err := l.join("attacker", "victim")
		switch {
		case errs.Is(err, errs.TooMany):
			refused++
		case err != nil:
			t.Fatal(err)
		case first == nil:
			first = w
		}
	}
	if refused != 284 || len(l.waiters) != 16 {
		t.Errorf("%d refused, %d wait", refused, len(l.waiters))
	}
	home, err := l.join("home", "ada")
	if err != nil {
		t.Fatal(err)
	}
	l.leave()
	l.leave()
	if a, b := told(t, first, 0), told(t, home, 0); a != "in" || b != "in" {
		t.Errorf("after two turns the first login of the attacker is told %q, the one of another address %q", a, b)
	}
	for range 18 { // 15 that wait, and three places
		l.leave()
	}
	if len(l.waiters) != 0 || l.free != 3 {
		t.Errorf("at the end %d wait, and %d places are free", len(l.waiters), l.free)
	}
}

func TestAddressesTakeTurns(t *testing.T) {
	l := inLine(t, 1, 8, 64)
	names := []string{"a1", "a2", "a3", "b1", "b2", "c1"}
	var all []*waiter
	for _, name := range names {
		w, err := l.join(name[:1], name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	var order []string
	for range names {
		l.leave()
		for i, w := range all {
			if told(t, w, 0) == "in" {
				order = append(order, names[i])
			}
		}
	}
	if want := []string{"a1", "b1", "c1", "a2", "b2", "a3"}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}

// Behind a proxy that is not named all clients have one address: there, accounts take turns.
func TestAFullLineRefusesWhoHasMost(t *testing.T) {
	l := inLine(t, 1, 3, 4)
	join := func(address, account string) *waiter {
		t.Helper()
		w, err := l.join(address, account)
		if err != nil {
			t.Fatalf("%s at %s: %v", account, address, err)
		}
		return w
	}
	var attack []*waiter
	for range 3 {
		attack = append(attack, join("proxy", "victim"))
	}
	ada := join("proxy", "ada")
	if said := told(t, attack[2], errs.TooMany); said != "refused" {
		t.Errorf("the address is full, and the last login of the account with the most is told %q", said)
	}
	join("home", "bob")
	join("office", "carol")
	if said := told(t, attack[1], errs.Unavailable); said != "refused" {
		t.Errorf("the line is full, and the last login of the address with the most is told %q", said)
	}
	join("far", "dan") // the proxy has two
	if said := told(t, attack[0], errs.Unavailable) + told(t, ada, errs.Unavailable); said != "refused" {
		t.Errorf("of the two that are left one is told %q", said)
	}
	if _, err := l.join("away", "eve"); !errs.Is(err, errs.Unavailable) {
		t.Errorf("where each address has one, the newcomer is told %v", err)
	}
}

func TestWhoGoesGivesTheirPlaceOn(t *testing.T) {
	l := inLine(t, 1, 8, 8)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Enter(gone, "a", "a"); !errors.Is(err, context.Canceled) || len(l.waiters) != 0 {
		t.Errorf("a client who has gone: %v, and %d wait", err, len(l.waiters))
	}
	// The client goes in the moment in which the place is given.
	w, err := l.join("a", "a")
	if err != nil {
		t.Fatal(err)
	}
	l.leave()
	if err := l.giveUp(w, context.Canceled); !errors.Is(err, context.Canceled) || l.free != 1 {
		t.Errorf("%v, and %d places are free", err, l.free)
	}
}
