package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
)

// keysCmd groups what is done with the keys of the deployment: those that sign logins lie in the database, those that
// seal the channels' access to processors in a file beside it.
type keysCmd struct {
	Make   keysMakeCmd   `cmd:"" help:"Make the file of keys that seal secrets, or add a key to its end."`
	List   keysListCmd   `cmd:"" help:"List the keys that seal secrets, and how many secrets each has sealed."`
	Rotate keysRotateCmd `cmd:"" help:"Sign logins with a new key, and seal all secrets anew with a new one."`
}

// readKeys reads the file of keys, at each use: a running server goes on with new ones at once.
func (p *program) readKeys() (auth.SealKeys, error) {
	text, err := os.ReadFile(p.KeysFile)
	if err != nil {
		return auth.SealKeys{}, fmt.Errorf("HOLDFAST_KEYS_FILE: %w", err)
	}
	keys, err := auth.ParseSealKeys(string(text))
	if err != nil {
		return auth.SealKeys{}, fmt.Errorf("HOLDFAST_KEYS_FILE %s: %w", p.KeysFile, err)
	}
	return keys, nil
}

// errNoKeysFile is for commands that are about nothing else.
var errNoKeysFile = fault.WrongField("keys-file", "Name the file with --keys-file or HOLDFAST_KEYS_FILE.")

// newKeyLine draws a key, with a remark that says when.
func newKeyLine() (string, error) {
	line, err := auth.NewSealKey(rand.Reader)
	if err != nil {
		return "", err
	}
	return line + " # made " + time.Now().UTC().Format(time.DateTime) + " GMT\n", nil
}

// keysMakeCmd makes the file, or adds a key.
type keysMakeCmd struct{}

// Help says what a key at the end is for.
func (keysMakeCmd) Help() string {
	return "The first key of the file seals, all of them open. A key at the end only opens, until \"holdfast keys rotate " +
		"--use ID\" puts it first: where several machines have a copy of the file, give the new one to all of them in between. " +
		"Keep the file apart from copies of the database: who has both has the secrets."
}

// Run makes or extends the file.
func (keysMakeCmd) Run(p *program) error {
	if p.KeysFile == "" {
		return errNoKeysFile
	}
	if err := p.addKey(); err != nil {
		return err
	}
	keys, err := p.readKeys()
	if err != nil {
		return err
	}
	ids := keys.IDs()
	if len(ids) == 1 {
		p.printf("%s holds the key %s; only you can read it\n", p.KeysFile, ids[0])
		return nil
	}
	p.printf("%s holds the key %s at its end, which opens; `holdfast keys rotate --use %[2]s` lets it seal\n", p.KeysFile, ids[len(ids)-1])
	return nil
}

const keysHead = "# Keys that seal what is secret in holdfast's database. The first one seals, all of them open.\n"

// addKey adds a key to the end of the file, and makes the file where there is none.
func (p *program) addKey() error {
	line, err := newKeyLine()
	if err != nil {
		return err
	}
	return p.changeKeys(func(text string, exists bool) (string, error) {
		if !exists {
			return keysHead + line, nil
		}
		return strings.TrimRight(text, "\n") + "\n" + line, nil
	})
}

// changeKeys replaces the file as a whole, so that whoever reads it meanwhile sees the one or the other. The new file
// is the lock: two changes at once would lose a key, and with it what it has sealed.
func (p *program) changeKeys(change func(text string, exists bool) (string, error)) (err error) {
	next := p.KeysFile + ".new"
	file, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: another change of the keys is under way, or one has died; if so, remove that file", next)
	}
	if err != nil {
		return fmt.Errorf("HOLDFAST_KEYS_FILE cannot be changed: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(next) // nothing was sealed with what is in it
		}
	}()
	old, err := os.ReadFile(p.KeysFile)
	exists := !errors.Is(err, fs.ErrNotExist)
	if err != nil && exists {
		return errors.Join(fmt.Errorf("HOLDFAST_KEYS_FILE: %w", err), file.Close())
	}
	text, err := change(string(old), exists)
	if err == nil {
		_, err = auth.ParseSealKeys(text)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("HOLDFAST_KEYS_FILE %s: %w", p.KeysFile, err), file.Close())
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Rename(next, p.KeysFile); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(p.KeysFile))
}

// syncFolder makes a renaming durable: secrets must never be sealed with a key that a power cut takes away.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// keysListCmd lists the keys that seal.
type keysListCmd struct{}

// Run prints their ids, and nothing else of them.
func (keysListCmd) Run(ctx context.Context, p *program) error {
	if p.KeysFile == "" {
		return errNoKeysFile
	}
	keys, err := p.readKeys()
	if err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	used, err := p.app.Secrets.SealingKeys(ctx, auth.System(0))
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "KEY\tUSE\tSECRETS")
	for i, id := range keys.IDs() {
		use := "opens"
		if i == 0 {
			use = "seals"
		}
		fmt.Fprintf(out, "%s\t%s\t%d\n", id, use, used[id])
		delete(used, id)
	}
	for _, id := range slices.Sorted(maps.Keys(used)) {
		fmt.Fprintf(out, "%s\tmissing\t%d\n", id, used[id])
	}
	return out.Flush()
}

// keysRotateCmd rotates the keys.
type keysRotateCmd struct {
	Use  string `placeholder:"ID" help:"Seal with this key of the file, in place of a new one."`
	Only string `placeholder:"WHAT" enum:",logins,secrets" default:"" help:"Rotate the keys of logins or of secrets alone."`
}

// Run rotates them. Running servers notice by themselves.
func (c keysRotateCmd) Run(ctx context.Context, p *program) error {
	if p.KeysFile == "" && (c.Use != "" || c.Only == "secrets") {
		return errNoKeysFile
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	if c.Only != "secrets" && c.Use == "" {
		if err := p.app.Sessions.RotateKeys(ctx, auth.System(0)); err != nil {
			return err
		}
		p.printf("tokens are signed with a new key from now on; those signed before stay good\n")
	}
	if p.KeysFile == "" || c.Only == "logins" {
		return nil
	}
	if err := p.changeKeys(func(text string, exists bool) (string, error) {
		if !exists {
			return "", errors.New("there is no such file; `holdfast keys make` makes it")
		}
		return putFirst(text, c.Use)
	}); err != nil {
		return err
	}
	sealed, err := p.app.Secrets.SealAnew(ctx, auth.System(0))
	if err != nil {
		return err
	}
	keys, err := p.readKeys()
	if err != nil {
		return err
	}
	p.printf("secrets are sealed with the key %s from now on; %d were sealed anew. The keys before it stay in %s, for copies of the database.\n",
		keys.IDs()[0], sealed, p.KeysFile)
	return nil
}

// putFirst puts a key before all others: the one of that id, or a new one.
func putFirst(text, id string) (string, error) {
	var head, first, rest string // remarks at the top stay there
	if id == "" {
		var err error
		if first, err = newKeyLine(); err != nil {
			return "", err
		}
	}
	for line := range strings.Lines(text) {
		keys, err := auth.ParseSealKeys(line)
		switch {
		case err == nil && keys.IDs()[0] == id:
			first = strings.TrimRight(line, "\n") + "\n"
		case err != nil && rest == "":
			head += line
		default:
			rest += line
		}
	}
	if first == "" {
		return "", fmt.Errorf("it has no key %q", id)
	}
	return head + first + rest, nil
}
