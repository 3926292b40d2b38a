package auth_test

import (
	"slices"
	"testing"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
)

func TestALimitedTokenMayDoNoMoreThanItsUser(t *testing.T) {
	all := auth.Abilities(0)
	for _, name := range auth.AbilityNames() {
		var ok bool
		if all, ok = all.With(name); !ok || auth.ParseAbilities(name).String() != name {
			t.Errorf("%s is no ability, or reads as %v", name, auth.ParseAbilities(name))
		}
	}
	if !slices.Equal(all.Names(), auth.AbilityNames()) || auth.ParseAbilities(all.String()) != all {
		t.Errorf("all abilities are %v", all.Names())
	}
	operator := auth.Actor{Role: auth.Operator, Abilities: all}
	want := []auth.Permission{auth.Read, auth.ReadStatements, auth.ReadPayouts, auth.Export, auth.WriteBookings, auth.WriteTransactions}
	if got := operator.Permissions(); !slices.Equal(got, want) {
		t.Errorf("an operator's token with all abilities may %v, want %v", got, want)
	}
	reader := auth.Actor{Role: auth.ReadOnly, Abilities: all}
	if got := reader.Permissions(); !slices.Equal(got, []auth.Permission{auth.Read}) {
		t.Errorf("a reader's token with all abilities may %v", got)
	}
	// Abilities that this program does not know must not turn into no limit at all.
	unknown := auth.Actor{Role: auth.Operator, Abilities: auth.ParseAbilities("of a newer program")}
	if unknown.Can(auth.Read) || unknown.Abilities.Has(auth.AbilityRead) {
		t.Error("a token with an unknown ability may read")
	}
}

func TestNetworksOfATokenAreReadAsTheyAreMeant(t *testing.T) {
	for text, want := range map[string]string{
		"203.0.113.7": "203.0.113.7/32", "203.0.113.7/24": "203.0.113.0/24", "::ffff:203.0.113.7": "203.0.113.7/32",
		"2001:db8::1": "2001:db8::1/128", "2001:db8::1/64": "2001:db8::/64", "0.0.0.0/0": "0.0.0.0/0",
		"": "", "shop.example": "", "203.0.113.7/33": "", "fe80::1%eth0": "", "::ffff:203.0.113.7/120": "",
	} {
		network, ok := auth.ParseNetwork(text)
		if ok != (want != "") || ok && network.String() != want {
			t.Errorf("%q is %v, %v, want %q", text, network, ok, want)
		}
	}
	var p fault.Problems
	_, networks := auth.TokenLimits(&[]string{"*"}, &[]string{"203.0.113.0/24", "2001:db8::/32"}, &p)
	token := auth.APIToken{Networks: networks}
	for address, want := range map[string]bool{
		"203.0.113.9": true, "::ffff:203.0.113.9": true, "2001:db8::5": true, "203.0.114.1": false, "": false, "nonsense": false,
	} {
		if p.Err() != nil || token.ComesFrom(address) != want {
			t.Errorf("%v: from %q: %v, want %v", p.Err(), address, !want, want)
		}
	}
}
