package secrets_test

import (
	"errors"
	"strings"
	"testing"

	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
)

// cheap is the lowest cost of argon2id, so that tests are fast.
var cheap = secrets.PasswordCost{MemoryKiB: 8, Iterations: 1, Parallelism: 1}

func TestPasswordChecksAgainstItsHashOnly(t *testing.T) {
	const pw = "correct horse battery"
	hash, err := cheap.HashPassword(pw)
	if err != nil {
		t.Fatal(err)
	}
	again, err := cheap.HashPassword(pw)
	if err != nil {
		t.Fatal(err)
	}
	if hash == again || strings.Contains(hash, pw) {
		t.Errorf("hashes are unsalted or hold the password: %q, %q", hash, again)
	}
	for guess, want := range map[string]bool{pw: true, "": false, pw + " ": false, strings.ToUpper(pw): false} {
		if got, err := secrets.CheckPassword(hash, guess); got != want || err != nil {
			t.Errorf("CheckPassword(%q) = %v, %v, want %v", guess, got, err, want)
		}
	}
	if ok, err := secrets.CheckPassword("not a hash", pw); ok || err == nil {
		t.Errorf("a broken hash: %v, %v, want an error", ok, err)
	}
}

func TestPasswordRules(t *testing.T) {
	for pw, ok := range map[string]bool{
		"":                        false,
		strings.Repeat("a", 11):   false,
		strings.Repeat("a", 12):   true,
		strings.Repeat("a", 128):  true,
		strings.Repeat("a", 129):  false,
		strings.Repeat("é", 11):   false, // 22 bytes, and still 11 characters
		strings.Repeat("é", 12):   true,
		strings.Repeat("é", 65):   false, // 65 characters, but 130 bytes
		"  spaces are as good   ": true,
	} {
		_, err := cheap.HashPassword(pw)
		if (err == nil) != ok {
			t.Errorf("%d bytes: %v, want accepted %v", len(pw), err, ok)
		}
		if err == nil {
			continue
		}
		f, isFault := errors.AsType[*errs.Error](err)
		if !isFault || f.Kind != errs.Invalid || f.Params["password"] == "" {
			t.Errorf("%d bytes: %v, want a fault about the field password", len(pw), err)
		}
	}
}

// The time of the decoy is checked by its structure: it uses CheckPassword, with a hash of the same cost as a real one,
// and a salt and a key of the same length.
func TestDecoyIsFalseAndCostsWhatARealHashCosts(t *testing.T) {
	for _, cost := range []secrets.PasswordCost{cheap, secrets.DefaultPasswordCost} {
		hash, err := cost.HashPassword("correct horse battery")
		if err != nil {
			t.Fatal(err)
		}
		made, decoy := strings.Split(hash, "$"), strings.Split(cost.Decoy(), "$")
		if len(made) != 6 || len(decoy) != 6 {
			t.Fatalf("hash %q, decoy %q: want five parts", hash, cost.Decoy())
		}
		for i := range made {
			if i < 4 && made[i] != decoy[i] || len(made[i]) != len(decoy[i]) {
				t.Errorf("part %d of a hash is %q, of the decoy %q", i, made[i], decoy[i])
			}
		}
		if ok, err := secrets.CheckPassword(cost.Decoy(), "correct horse battery"); ok || err != nil {
			t.Errorf("the decoy as a hash: %v, %v; it must be read, and be false", ok, err)
		}
		if cost.CheckDecoy("correct horse battery") || cost.CheckDecoy("") {
			t.Error("the decoy authenticated someone")
		}
	}
}

func TestHashOfAnotherCostIsOutdated(t *testing.T) {
	hash, err := cheap.HashPassword("correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	if cheap.Outdated(hash) || !secrets.DefaultPasswordCost.Outdated(hash) || !cheap.Outdated("not a hash") {
		t.Error("Outdated is to be true of a hash of another cost, and of what is no hash")
	}
}
