package access

import (
	"net/netip"
	"slices"
	"strings"

	"holdfast/internal/errs"
)

// Ability is something that an API token may be limited to. Its text is the one on the wire (section 2.1).
type Ability string

// The abilities. Everything else (tokens, channels, proposals, the audit log …) requires an unrestricted token.
const (
	AbilityRead        Ability = "read"         // the site, channels, suppliers, bookings and payments
	AbilityLogBookings Ability = "log_bookings" // make, change and delete bookings
	AbilityLogPayments Ability = "log_payments" // make transactions
	AbilityReports     Ability = "reports"      // exposure, explanations, premiums, statements, limits, failures
)

// abilities lists them, with what each may do at most. The routes say which ability each of them needs; this here is the
// second lock. Every token may read, because a write returns what it has read.
var abilities = []struct {
	name Ability
	may  []Permission
}{
	{AbilityRead, []Permission{Read}},
	{AbilityLogBookings, []Permission{Read, WriteBookings}},
	{AbilityLogPayments, []Permission{Read, WriteTransactions}},
	{AbilityReports, []Permission{Read, ReadStatements, ReadPayouts, Export, ReadFailures, ReadDisputes}},
}

// Abilities is a set of abilities. The zero value is no limit: everything that the user may do.
type Abilities uint8

// AbilityNames are all abilities.
func AbilityNames() (names []string) {
	for _, a := range abilities {
		names = append(names, string(a.name))
	}
	return names
}

// With returns the set with one more ability. ok is false when there is no such ability.
func (s Abilities) With(name string) (with Abilities, ok bool) {
	for i, a := range abilities {
		if string(a.name) == name {
			return s | 1<<i, true
		}
	}
	return s, false
}

// Names lists the abilities of the set. Without a limit it is empty.
func (s Abilities) Names() []string {
	names := []string{}
	for i, a := range abilities {
		if s&(1<<i) != 0 {
			names = append(names, string(a.name))
		}
	}
	return names
}

// Has reports whether the set has an ability, or is no limit.
func (s Abilities) Has(name Ability) bool { return s == 0 || slices.Contains(s.Names(), string(name)) }

// String writes the set as it is stored.
func (s Abilities) String() string { return strings.Join(s.Names(), ",") }

// ParseAbilities reads what String wrote. A name that it does not know is left out; if that leaves nothing, the set has all bits
// but none of the names, and so may do nothing: a newer program may have written it.
func ParseAbilities(text string) (s Abilities) {
	if text == "" {
		return 0
	}
	for name := range strings.SplitSeq(text, ",") {
		s, _ = s.With(name)
	}
	if s == 0 {
		return 1 << 7
	}
	return s
}

// may reports whether the set lets a permission through.
func (s Abilities) may(p Permission) bool {
	for i, a := range abilities {
		if s&(1<<i) != 0 && slices.Contains(a.may, p) {
			return true
		}
	}
	return s == 0
}

// MaxTokenAddresses is how many networks an API token can be limited to.
const MaxTokenAddresses = 20

// ParseNetwork reads an address such as 203.0.113.7, or a network such as 203.0.113.0/24.
func ParseNetwork(text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), addr.Zone() == ""
	}
	network, err := netip.ParsePrefix(text)
	return network.Masked(), err == nil && !network.Addr().Is4In6()
}

// TokenLimits reads the limits of an API token, and adds their problems to p: its abilities, and the
// addresses and networks from which it may be used. Nothing is no limit; "*" alone is all abilities.
func TokenLimits(names, addresses *[]string, p *errs.Problems) (may Abilities, networks []netip.Prefix) {
	if names != nil && !slices.Equal(*names, []string{"*"}) {
		for i, name := range *names {
			var ok bool
			if may, ok = may.With(name); !ok {
				p.Wrong(errs.Item("abilities", i, ""), "Must be one of: %s.", strings.Join(AbilityNames(), ", "))
			}
		}
	}
	if addresses == nil {
		return may, nil
	}
	if len(*addresses) > MaxTokenAddresses {
		p.Wrong("addresses", "At most %d networks are allowed.", MaxTokenAddresses)
		return may, nil
	}
	for i, text := range *addresses {
		network, ok := ParseNetwork(text)
		if !ok {
			p.Wrong(errs.Item("addresses", i, ""), "Must be an IP address such as 203.0.113.7 or a network such as 203.0.113.0/24.")
		}
		if !slices.Contains(networks, network) {
			networks = append(networks, network)
		}
	}
	return may, networks
}
