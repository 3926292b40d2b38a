package tokens

import (
	"net/netip"
	"slices"
)

// NetworkTexts writes the networks of the token.
func (t APIToken) NetworkTexts() []string {
	texts := []string{}
	for _, network := range t.Networks {
		texts = append(texts, network.String())
	}
	return texts
}

// ComesFrom reports whether a token with these networks may be used from an address. Without networks it may be used from
// anywhere.
func (t APIToken) ComesFrom(address string) bool {
	addr, err := netip.ParseAddr(address)
	return len(t.Networks) == 0 || err == nil && slices.ContainsFunc(t.Networks, func(n netip.Prefix) bool {
		return n.Contains(addr.Unmap().WithZone(""))
	})
}
