package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// processing returns a folder with a deployment of the server-to-server profile, configured by environment variables.
func processing(s *system) func(stdin string, args ...string) result {
	return func(stdin string, args ...string) result {
		return s.run(stdin, append(args, "--profile", "server-to-server", "--keys-file", "keys")...)
	}
}

// idsOf returns the encryption keys listed by `keys list`.
func idsOf(t *testing.T, r result) (ids, uses, secrets []string) {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("keys list: %s", r.stderr)
	}
	for _, line := range strings.Split(strings.TrimSpace(r.stdout), "\n")[1:] {
		if words := strings.Fields(line); words[1] == "secrets" {
			ids, uses, secrets = append(ids, words[0]), append(uses, words[2]), append(secrets, words[3])
		}
	}
	return ids, uses, secrets
}

const sandboxCredentials = `{"key": "sandbox-account-of-acme", "tokenizer_id": "tok-account", "tokenizer_api_key": "3q8w-example-key-9f2c",
	"tokenizer_secret": "of-the-hosted-fields"}`

func TestKeysAndGateways(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *system) {
		run := processing(s)
		says := func(want string, code int, stdin string, args ...string) {
			t.Helper()
			r := run(stdin, args...)
			if r.code != code || !strings.Contains(r.stdout+r.stderr, want) {
				t.Errorf("holdfast %s: exit code %d, no %q in\n%s%s", strings.Join(args, " "), r.code, want, r.stdout, r.stderr)
			}
			for _, secret := range []string{"sandbox-account-of-acme", "3q8w-example-key"} {
				if strings.Contains(r.stdout+r.stderr, secret) {
					t.Errorf("holdfast %s shows %s", strings.Join(args, " "), secret)
				}
			}
		}
		says("Only you can read it", 0, "", "keys", "make")
		says("/acme", 0, "", "site", "create", "acme", "--name", "Acme", "--currency", "GBP")
		gateway := []string{"merchant", "gateway", "1", "--site", "acme"}
		set := append(gateway, "--processor", "sandbox")
		if info, err := os.Stat(filepath.Join(s.dir, "keys")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file of keys: %v, %v", info, err)
		}
		says("Channel 9 not found", 1, `{"key": "sandbox-account-of-acme"}`, "merchant", "gateway", "9", "--site", "acme", "--processor", "sandbox")
		says("server_to_server set to true", 1, sandboxCredentials, set...)
		says("Updated merchant 1", 0, "", "merchant", "set", "1", "--site", "acme", "--server-to-server", "--descriptor", "ACME", "--payout-minimum", "1.00 GBP")
		says("--payout-minimum: This merchant's payouts are in GBP", 2, "", "merchant", "set", "1", "--payout-minimum", "1 USD")
		for _, wrong := range []string{"", `{"key": "sandbox-account-of-acme`, "sandbox-account-of-acme", `{"key": 7}`, `{"kex": ""}`, sandboxCredentials + "{}"} {
			says("Standard input must be a JSON object", 1, wrong, set...)
		}
		says("credentials: The sandbox account has no key", 1, "{}", set...)
		says(`This deployment does not have processor "paypal"`, 2, sandboxCredentials, append(gateway, "--processor", "paypal")...)
		says("sandbox, test mode", 0, sandboxCredentials, set...)
		says("tokenizer_api_key  …9f2c", 0, "", gateway...)
		says("tokenizer_secret   set", 0, "", gateway...)
		says("merchant 2", 0, "", "merchant", "create", "Shop", "--site", "acme", "--currency", "GBP", "--mode", "live")
		says("credentials: ", 1, `{"key": "sandbox-account-of-acme"}`, "merchant", "gateway", "2", "--site", "acme", "--processor", "sandbox")
		says("credentials: ", 1, `{"key": "sk_test_sandbox-account-of-acme"}`, "merchant", "gateway", "2", "--site", "acme", "--processor", "stripe")
		says("stripe, live", 0, `{"key": "sk_live_sandbox-account-of-acme"}`, "merchant", "gateway", "2", "--site", "acme", "--processor", "stripe")
		says("not enabled yet", 0, "", "merchant", "gateway", "2", "--site", "acme")
		says("no processor", 0, "", "merchant", "gateway", "2", "--site", "acme", "--remove")

		first, uses, secrets := idsOf(t, run("", "keys", "list"))
		if len(first) != 1 || uses[0] != "seals" || secrets[0] != "4" {
			t.Errorf("keys: %v %v %v", first, uses, secrets)
		}
		says("Re-encrypted: 5.", 0, "", "keys", "rotate")
		says("to the end", 0, "", "keys", "make")
		ids, uses, secrets := idsOf(t, run("", "keys", "list"))
		if len(ids) != 3 || ids[1] != first[0] || strings.Join(uses, " ") != "seals opens opens" || strings.Join(secrets, " ") != "5 0 0" {
			t.Errorf("keys: %v %v %v", ids, uses, secrets)
		}
		says("Re-encrypted: 5.", 0, "", "keys", "rotate", "--use", ids[2])
		again, _, secrets := idsOf(t, run("", "keys", "list"))
		if strings.Join(again, " ") != strings.Join([]string{ids[2], ids[0], ids[1]}, " ") || secrets[0] != "5" {
			t.Errorf("keys: %v %v", again, secrets)
		}
		says("--use: Key \"nobodys\" is not in the file", 2, "", "keys", "rotate", "--use", "nobodys")
		says("tokenizer_api_key  …9f2c", 0, "", gateway...)
	})
}

func TestTheFileOfKeysIsNotLost(t *testing.T) {
	s := onSQLite(t)
	run := processing(s)
	run("", "keys", "make")
	if r := run("", "site", "create", "acme", "--name", "Acme", "--currency", "GBP"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	file := filepath.Join(s.dir, "keys")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lock := file + ".new"
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run("", "keys", "rotate"); r.code != 1 || !strings.Contains(r.stderr, "remove this file") {
		t.Errorf("while another one changes it: %d, %s", r.code, r.stderr)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("rubbish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"keys", "make"}, {"keys", "rotate"}, {"keys", "list"}} {
		if r := run("", args...); r.code != 1 || !strings.Contains(r.stderr, "line 1 is not a base64 key") {
			t.Errorf("%v with a broken file: %d, %s", args, r.code, r.stderr)
		}
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("a refused change holds the lock for ever")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, uses, _ := idsOf(t, run("", "keys", "list")); !slices.Equal(uses, []string{"missing"}) {
		t.Errorf("without the file, the keys that secrets need are %v", uses)
	}
	if err := os.WriteFile(file, before, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run("", "keys", "rotate", "--only", "secrets"); r.code != 0 || !strings.Contains(r.stdout, "Re-encrypted: 2.") || strings.Contains(r.stdout, "Logins are now signed") {
		t.Errorf("mended: %d, %s%s", r.code, r.stdout, r.stderr)
	}
}

// TestServingNeedsTheRightSetup: a server that cannot decrypt a channel's credentials, or whose channels have the other
// profile, fails at its start, not at the first payment.
func TestServingNeedsTheRightSetup(t *testing.T) {
	s := onSQLite(t)
	run := processing(s)
	run("", "keys", "make")
	run("", "site", "create", "acme", "--name", "Acme", "--currency", "GBP")
	run("", "merchant", "set", "1", "--site", "acme", "--server-to-server")
	if r := run(sandboxCredentials, "merchant", "gateway", "1", "--site", "acme", "--processor", "sandbox"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	secret := run("", "merchant", "secret", "1", "--site", "acme").stdout
	if other := run("", "merchant", "secret", "1", "--site", "acme", "--rotate").stdout; len(secret) < 30 || other == secret || other != run("", "merchant", "secret", "1", "--site", "acme").stdout {
		t.Errorf("the secret was %q, and is %q", secret, other)
	}
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--profile", "server-to-server"}
	if r := s.run("", serve...); r.code != 1 || !strings.Contains(r.stderr, "HOLDFAST_KEYS_FILE") {
		t.Errorf("without keys: %d, %s", r.code, r.stderr)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "holdfast-data", "holdfast.keys")); err == nil {
		t.Error("other keys were made for a database that needs its own")
	}
	s.must("keys", "make", "--keys-file", "others")
	if r := s.run("", append(serve, "--keys-file", "others")...); r.code != 1 || !strings.Contains(r.stderr, "which is not in HOLDFAST_KEYS_FILE") {
		t.Errorf("with other keys: %d, %s", r.code, r.stderr)
	}
	run("", "merchant", "create", "Shop", "--site", "acme", "--currency", "GBP", "--mode", "live")
	if r := s.run("", "merchant", "list", "--site", "acme"); r.code != 1 || !strings.Contains(r.stderr, "merchants in mode live (1)") {
		t.Errorf("in the other profile: %d, %s", r.code, r.stderr)
	}
	p := s.start(append(serve, "--keys-file", "keys")...)
	p.stop()
}

// TestASiteNeedsNoSetUpForItsKeys: with SQLite the key file is next to the database.
func TestASiteNeedsNoSetUpForItsKeys(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP")
	file := filepath.Join(s.dir, "holdfast-data", "holdfast.keys")
	made, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of keys: %v, %v", info, err)
	}
	secret := s.must("merchant", "secret", "1")
	if kept, err := os.ReadFile(file); string(kept) != string(made) || err != nil {
		t.Errorf("a second command has changed the keys, %v", err)
	}
	database, err := os.ReadFile(filepath.Join(s.dir, "holdfast-data", "holdfast.db"))
	if err != nil || len(secret) < 30 || strings.Contains(string(database), strings.TrimSpace(secret)) {
		t.Errorf("a copy of the database has the secret %q, %v", secret, err)
	}
	if entries, err := filepath.Glob(filepath.Join(s.dir, "holdfast-data", "holdfast.keys*")); len(entries) != 1 || err != nil {
		t.Errorf("files of keys: %v, %v", entries, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"merchant", "secret", "1"}, {"serve", "--listen", "127.0.0.1:0"}} {
		if r := s.run("", args...); r.code != 1 || !strings.Contains(r.stderr, "HOLDFAST_KEYS_FILE") {
			t.Errorf("%v without the keys: %d, %s", args, r.code, r.stderr)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("other keys were made for a database that needs its own")
	}
}
