package api

import (
	"testing"

	"holdfast/internal/domain/access"
)

// A route without a rule for API tokens would be open to tokens limited to other abilities.
func TestEveryRouteSaysWhichAbilityItNeeds(t *testing.T) {
	known := map[permission]bool{open: true, mayDoAll: true}
	for _, name := range access.AbilityNames() {
		known[permission(name)] = true
	}
	used := map[permission]bool{}
	for _, r := range Routes(Config{}) {
		if !known[r.access] {
			t.Errorf("%s %s needs the ability %q, which there is not", r.Method, r.Pattern, r.access)
		}
		used[r.access] = true
	}
	for name := range known {
		if !used[name] {
			t.Errorf("no route needs %q", name)
		}
	}
	if permission("").allows(access.ParseAbilities("read")) {
		t.Error("a route that declares nothing lets a limited token through")
	}
}
