package secrets_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/platform/secrets"
)

// sealLines draws lines of a key file.
func sealLines(t *testing.T, n int) []string {
	t.Helper()
	random, lines := seeded(9), make([]string, n)
	for i := range lines {
		var err error
		if lines[i], err = secrets.NewSealKey(random); err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

func sealKeys(t *testing.T, lines ...string) secrets.SealKeys {
	t.Helper()
	keys, err := secrets.ParseSealKeys("# keys\n\n" + strings.Join(lines, " # one\n"))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestWhatIsSealedOpensInItsPlaceAlone(t *testing.T) {
	keys := sealKeys(t, sealLines(t, 1)...)
	random := seeded(1)
	one, err1 := keys.Seal(random, []byte("the secret"), "1/4/key")
	two, err2 := keys.Seal(random, []byte("the secret"), "1/4/key")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if one == two || strings.Contains(one, "secret") || secrets.SealedWith(one) != keys.IDs()[0] {
		t.Errorf("sealed twice: %s and %s", one, two)
	}
	if plain, err := keys.Open(one, "1/4/key"); err != nil || string(plain) != "the secret" {
		t.Errorf("opened: %q, %v", plain, err)
	}
	end := len(one) - 5
	other := "A"
	if one[end] == 'A' {
		other = "B"
	}
	for name, try := range map[string]struct{ sealed, place string }{
		"another place": {one, "1/5/key"},
		"one changed":   {one[:end] + other + one[end+1:], "1/4/key"},
		"cut off":       {one[:len("s1.")+11+8], "1/4/key"},
		"plain text":    {"the secret", "1/4/key"},
		"nothing":       {"", "1/4/key"},
		"a later form":  {"s2" + one[2:], "1/4/key"},
	} {
		if plain, err := keys.Open(try.sealed, try.place); err == nil {
			t.Errorf("%s opened as %q", name, plain)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRotatedKeysGoOnOpening(t *testing.T) {
	lines := sealLines(t, 2)
	older, both, newer := sealKeys(t, lines[0]), sealKeys(t, lines[1], lines[0]), sealKeys(t, lines[1])
	if !slices.Equal(both.IDs(), append(newer.IDs(), older.IDs()...)) {
		t.Errorf("ids %v, of each %v and %v", both.IDs(), newer.IDs(), older.IDs())
	}
	sealed, err := older.Seal(seeded(2), []byte("x"), "p")
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := both.Open(sealed, "p"); err != nil || string(plain) != "x" {
		t.Errorf("after the rotation: %q, %v", plain, err)
	}
	again, err := both.Seal(seeded(3), []byte("x"), "p")
	if err != nil || secrets.SealedWith(again) != newer.IDs()[0] {
		t.Errorf("sealed with %s, %v; want the first key", secrets.SealedWith(again), err)
	}
	if _, err := newer.Open(sealed, "p"); !errors.Is(err, secrets.ErrUnknownSealKey) || !strings.Contains(err.Error(), older.IDs()[0]) {
		t.Errorf("the wrong file says %v", err)
	}
	if _, err := (secrets.SealKeys{}).Seal(seeded(1), []byte("x"), "p"); err == nil {
		t.Error("no key sealed something")
	}
	if _, err := both.Seal(exhausted(), []byte("x"), "p"); err == nil {
		t.Error("it was sealed without randomness")
	}
}

func TestAFileOfKeysIsReadAsAWhole(t *testing.T) {
	line := sealLines(t, 1)[0]
	for name, text := range map[string]string{
		"an empty file": "", "remarks only": "# nothing\n\n", "a key twice": line + "\n" + line, "a short key": line[:20],
		"no base64": strings.Repeat("!", 44), "a key and rubbish": line + "\nrubbish",
	} {
		if keys, err := secrets.ParseSealKeys(text); err == nil {
			t.Errorf("%s gives %v", name, keys.IDs())
		} else if strings.Contains(err.Error(), line) {
			t.Errorf("%s: the error shows the key", name)
		}
	}
	if _, err := secrets.NewSealKey(exhausted()); err == nil {
		t.Error("a key was drawn without randomness")
	}
}

func TestATextThatIsNotSealedNamesNoKey(t *testing.T) {
	for _, text := range []string{"", "s1.abc", "x.y.z"} {
		if id := secrets.SealedWith(text); id != "" {
			t.Errorf("%q is sealed with %q", text, id)
		}
	}
}
