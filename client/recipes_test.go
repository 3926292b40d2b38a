package client_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"holdfast/client"
)

// recipe is a block of code in docs/modal.md.
func recipe(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/modal.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)\n```" + language + "\n(.*?)\n```\n").FindSubmatch(page)
	if found == nil {
		t.Fatalf("docs/modal.md has no recipe in %s", language)
	}
	return string(found[1])
}

// TestRecipes runs the recipes of docs/modal.md in the installed languages, with the test vector and with values that
// languages encode differently.
func TestRecipes(t *testing.T) {
	awkward, err := client.AuthString(secret, client.Fields{
		"channels": 2, "currencies": "USD", "total": 9999, "surname": "Été & <fils>/",
		"allocations": json.RawMessage(`[{"channels":7,"label":"Été & <fils>/"}]`),
	}, stamped)
	if err != nil {
		t.Fatal(err)
	}
	want := vector + "\n" + awkward
	for _, r := range []struct{ language, program, flag, calls string }{
		{"php", "php", "-r", `
echo auth_string('example-channel-secret', ['channels' => 2, 'currencies' => 'USD', 'total' => 9999], 1565589133), "\n";
echo auth_string('example-channel-secret', ['channels' => '2', 'currencies' => 'USD', 'total' => 9999, 'surname' => 'Été & <fils>/',
	'allocations' => [['channels' => 7, 'label' => 'Été & <fils>/']]], 1565589133), "\n";`},
		{"python", "python3", "-c", `
print(auth_string("example-channel-secret", {"channels": 2, "currencies": "USD", "total": 9999}, 1565589133))
print(auth_string("example-channel-secret", {"channels": "2", "currencies": "USD", "total": 9999, "surname": "Été & <fils>/",
	"allocations": [{"channels": 7, "label": "Été & <fils>/"}]}, 1565589133))`},
		{"js", "node", "-e", `
console.log(authString("example-channel-secret", { channels: 2, currencies: "USD", total: 9999 }, 1565589133));
console.log(authString("example-channel-secret", { channels: "2", currencies: "USD", total: 9999, surname: "Été & <fils>/",
	allocations: [{ channels: 7, label: "Été & <fils>/" }] }, 1565589133));`},
	} {
		t.Run(r.language, func(t *testing.T) {
			program, err := exec.LookPath(r.program)
			if err != nil {
				t.Skipf("the recipe in %s is not run: this machine has no %s", r.language, r.program)
			}
			code := strings.TrimPrefix(recipe(t, r.language), "<?php\n") + "\n" + r.calls
			said, err := exec.CommandContext(t.Context(), program, r.flag, code).CombinedOutput()
			if err != nil || strings.TrimSpace(string(said)) != want {
				t.Errorf("%v: it says\n%s\ninstead of\n%s", err, said, want)
			}
		})
	}
}
