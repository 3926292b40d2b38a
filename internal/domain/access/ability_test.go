package access_test

import (
	"slices"
	"testing"

	"holdfast/internal/account/tokens"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
)

func TestALimitedTokenMayDoNoMoreThanItsUser(t *testing.T) {
	all := access.Abilities(0)
	for _, name := range access.AbilityNames() {
		var ok bool
		if all, ok = all.With(name); !ok || access.ParseAbilities(name).String() != name {
			t.Errorf("%s is no ability, or reads as %v", name, access.ParseAbilities(name))
		}
	}
	if !slices.Equal(all.Names(), access.AbilityNames()) || access.ParseAbilities(all.String()) != all {
		t.Errorf("all abilities are %v", all.Names())
	}
	operator := access.Actor{Role: access.Operator, Abilities: all}
	want := []access.Permission{access.Read, access.ReadStatements, access.ReadPayouts, access.Export, access.ReadFailures, access.ReadDisputes, access.WriteBookings, access.WriteTransactions}
	if got := operator.Permissions(); !slices.Equal(got, want) {
		t.Errorf("an operator's token with all abilities may %v, want %v", got, want)
	}
	reader := access.Actor{Role: access.ReadOnly, Abilities: all}
	if got := reader.Permissions(); !slices.Equal(got, []access.Permission{access.Read}) {
		t.Errorf("a reader's token with all abilities may %v", got)
	}
	// Abilities that this program does not know must not turn into no limit at all.
	unknown := access.Actor{Role: access.Operator, Abilities: access.ParseAbilities("of a newer program")}
	if unknown.Can(access.Read) || unknown.Abilities.Has(access.AbilityRead) {
		t.Error("a token with an unknown ability may read")
	}
}

func TestNetworksOfATokenAreReadAsTheyAreMeant(t *testing.T) {
	for text, want := range map[string]string{
		"203.0.113.7": "203.0.113.7/32", "203.0.113.7/24": "203.0.113.0/24", "::ffff:203.0.113.7": "203.0.113.7/32",
		"2001:db8::1": "2001:db8::1/128", "2001:db8::1/64": "2001:db8::/64", "0.0.0.0/0": "0.0.0.0/0",
		"": "", "shop.example": "", "203.0.113.7/33": "", "fe80::1%eth0": "", "::ffff:203.0.113.7/120": "",
	} {
		network, ok := access.ParseNetwork(text)
		if ok != (want != "") || ok && network.String() != want {
			t.Errorf("%q is %v, %v, want %q", text, network, ok, want)
		}
	}
	var p errs.Problems
	_, networks := access.TokenLimits(&[]string{"*"}, &[]string{"203.0.113.0/24", "2001:db8::/32"}, &p)
	token := tokens.APIToken{Networks: networks}
	for address, want := range map[string]bool{
		"203.0.113.9": true, "::ffff:203.0.113.9": true, "2001:db8::5": true, "203.0.114.1": false, "": false, "nonsense": false,
	} {
		if p.Err() != nil || token.ComesFrom(address) != want {
			t.Errorf("%v: from %q: %v, want %v", p.Err(), address, !want, want)
		}
	}
}
