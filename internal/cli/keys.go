package cli

import (
	"cmp"
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
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// keysCmd groups the key commands. The keys that sign logins are in the database. The keys that seal (encrypt) secrets,
// including the signing keys, are in a file.
type keysCmd struct {
	Make   keysMakeCmd   `cmd:"" help:"Create the file of encryption keys, or append a key to it."`
	List   keysListCmd   `cmd:"" help:"List signing keys and encryption keys."`
	Rotate keysRotateCmd `cmd:"" help:"Sign logins with a new key and re-encrypt all secrets with a new key."`
	Revoke keysRevokeCmd `cmd:"" help:"Revoke a leaked signing key and everything signed with it."`
}

// keysBeside is the default keys file of a SQLite database, next to the database. For PostgreSQL it is "", because no place
// on this machine is guaranteed to last as long as the database.
func (c Config) keysBeside() string {
	path, ok := strings.CutPrefix(c.Database, "sqlite:")
	if !ok || path == "" {
		return ""
	}
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".keys"
}

// findKeys loads the keys, and seals secrets that an earlier version stored in plain text. If no setting names the file, it
// creates one for a database without sealed secrets. A database with sealed secrets needs its existing file.
func (p *program) findKeys(ctx context.Context) error {
	if p.KeysFile == "" {
		if p.KeysFile = p.keysBeside(); p.KeysFile != "" {
			if err := p.makeFirstKey(ctx); err != nil {
				return err
			}
		}
	}
	if p.KeysFile != "" {
		p.app.Vault.Keys = p.readKeys
	}
	if err := p.app.Secrets.SealPlain(ctx); err != nil {
		return fmt.Errorf("cannot encrypt the secrets in the database: %w", err)
	}
	return nil
}

// makeFirstKey creates the keys file if there is none and no secret needs another one. If several programs do so
// concurrently, only one creates it.
func (p *program) makeFirstKey(ctx context.Context) error {
	if _, err := os.Stat(p.KeysFile); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	used, err := p.app.Secrets.SealingKeys(ctx, access.System(0))
	if delete(used, ""); err != nil || len(used) > 0 {
		return err
	}
	line, err := newKeyLine()
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(p.KeysFile), filepath.Base(p.KeysFile)+".*") // with mode 0600
	if err != nil {
		return fmt.Errorf("cannot create the keys file: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(keysHead + line)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Link(file.Name(), p.KeysFile); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return errors.Join(err, syncFolder(filepath.Dir(p.KeysFile)))
}

// readKeys reads the keys file. It is read at each use, so that a running server picks up new keys immediately.
func (p *program) readKeys() (secrets.SealKeys, error) {
	text, err := os.ReadFile(p.KeysFile)
	if err != nil {
		return secrets.SealKeys{}, fmt.Errorf("HOLDFAST_KEYS_FILE: %w", err)
	}
	keys, err := secrets.ParseSealKeys(string(text))
	if err != nil {
		return secrets.SealKeys{}, fmt.Errorf("HOLDFAST_KEYS_FILE %s: %w", p.KeysFile, err)
	}
	return keys, nil
}

// errNoKeysFile is the error of commands that cannot work without the file.
var errNoKeysFile = errs.WrongField("keys-file", "Set --keys-file or HOLDFAST_KEYS_FILE.")

// newKeyLine generates a key with a comment that has its creation time.
func newKeyLine() (string, error) {
	line, err := secrets.NewSealKey(rand.Reader)
	if err != nil {
		return "", err
	}
	return line + " # made " + time.Now().UTC().Format(time.DateTime) + " GMT\n", nil
}

// keysMakeCmd creates the file or appends a key.
type keysMakeCmd struct{}

// Help explains why a new key goes to the end of the file.
func (keysMakeCmd) Help() string {
	return "The first key in the file encrypts. All keys decrypt. A new key at the end only decrypts until \"holdfast " +
		"keys rotate --use ID\" moves it to the top. If several machines have a copy of the file, copy the new file to all of " +
		"them first. Store the file separately from database backups: anyone with both can read the secrets."
}

// Run creates or extends the file.
func (keysMakeCmd) Run(p *program) error {
	if p.KeysFile = cmp.Or(p.KeysFile, p.keysBeside()); p.KeysFile == "" {
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
		p.printf("Created %s with key %s. Only you can read it.\n", p.KeysFile, ids[0])
		return nil
	}
	p.printf("Added key %[2]s to the end of %[1]s. It only decrypts until you run `holdfast keys rotate --use %[2]s`.\n",
		p.KeysFile, ids[len(ids)-1])
	return nil
}

const keysHead = "# Keys of the secrets in holdfast's database. The first key encrypts, all keys decrypt.\n"

// addKey appends a key to the file, and creates the file if it does not exist.
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

// changeKeys replaces the file atomically, so that nobody reads a partial one. The new file is also the lock: concurrent
// changes could lose a key, and with it every secret sealed with it.
func (p *program) changeKeys(change func(text string, exists bool) (string, error)) (err error) {
	next := p.KeysFile + ".new"
	file, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists: another change is in progress, "+
			"or an earlier one was interrupted. In that case, remove this file", next)
	}
	if err != nil {
		return fmt.Errorf("cannot change HOLDFAST_KEYS_FILE: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(next) // the new key has not sealed anything yet
		}
	}()
	old, err := os.ReadFile(p.KeysFile)
	exists := !errors.Is(err, fs.ErrNotExist)
	if err != nil && exists {
		return errors.Join(fmt.Errorf("HOLDFAST_KEYS_FILE: %w", err), file.Close())
	}
	text, err := change(string(old), exists)
	if err == nil {
		_, err = secrets.ParseSealKeys(text)
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

// syncFolder makes a rename durable: a power cut must never lose a key that has sealed a secret.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// keysListCmd lists signing keys and encryption keys.
type keysListCmd struct {
	formFlags
	orderFlags
}

// listedKey is a key in the list. A login key signs, or only verifies what it has signed. A secrets key seals or opens, or is
// missing from the file.
type listedKey struct {
	ID      string `json:"id"`
	Of      string `json:"of"`
	Use     string `json:"use"`
	Secrets *int64 `json:"secrets"` // null for login keys
}

// Run only prints ids: the keys themselves are secret.
func (c keysListCmd) Run(ctx context.Context, p *program) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	var list []listedKey
	logins, err := p.app.Sessions.LoginKeys(ctx, access.System(0))
	if err != nil {
		return err
	}
	for _, k := range logins {
		use := "verifies"
		if k.RetiredAt.IsZero() {
			use = "signs"
		}
		list = append(list, listedKey{ID: k.ID, Of: "logins", Use: use})
	}
	secrets, err := p.keysOfSecrets(ctx)
	if err != nil {
		return err
	}
	list = append(list, secrets...)
	return listing[listedKey]{
		read: func(_ access.Actor, page store.Page) (store.List[listedKey], error) {
			return store.PageOf(list, page, nil), nil
		},
		shape:   func(k listedKey) any { return k },
		columns: columnsOf("key of use secrets"),
		row: func(k listedKey) []cell {
			n := words("")
			if k.Secrets != nil {
				n = count(*k.Secrets)
			}
			return []cell{words(k.ID), words(k.Of), words(k.Use), n}
		},
		none: "No keys.",
	}.print(p, access.System(0), c.formFlags, c.orderFlags, p.clock.Now())
}

// keysOfSecrets lists the keys in the file, and the keys that the database needs but the file lacks. Without a file, as after
// a restore, all of them are missing.
func (p *program) keysOfSecrets(ctx context.Context) (list []listedKey, err error) {
	var keys secrets.SealKeys
	if p.KeysFile != "" {
		if keys, err = p.readKeys(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	used, err := p.app.Secrets.SealingKeys(ctx, access.System(0))
	if err != nil {
		return nil, err
	}
	if len(keys.IDs()) == 0 {
		delete(used, "") // not encrypted yet, so no key is missing
	}
	add := func(id, use string) {
		n := int64(used[id])
		list = append(list, listedKey{id, "secrets", use, &n})
		delete(used, id)
	}
	for i, id := range keys.IDs() {
		add(id, map[bool]string{true: "seals", false: "opens"}[i == 0])
	}
	for _, id := range slices.Sorted(maps.Keys(used)) {
		add(id, "missing")
	}
	return list, nil
}

// keysRevokeCmd revokes a login key.
type keysRevokeCmd struct {
	ID string `arg:"" placeholder:"KEY" help:"Key id, as shown by \"holdfast keys list\"."`
}

// Help explains the consequences.
func (keysRevokeCmd) Help() string {
	return "All instances immediately reject everything signed with the key, so everyone signed in with it must sign in again. If " +
		"it is the current signing key, a new one replaces it. API tokens are not signed and stay valid. To replace a key that " +
		"has not leaked, use \"holdfast keys rotate\", which signs no one out."
}

// Run revokes it.
func (c keysRevokeCmd) Run(ctx context.Context, p *program) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	if err := p.app.Sessions.RevokeKey(ctx, access.System(0), c.ID); err != nil {
		return err
	}
	p.printf("Revoked key %s. Everyone signed in with it must sign in again.\n", c.ID)
	return nil
}

// keysRotateCmd rotates the keys.
type keysRotateCmd struct {
	Use  string `placeholder:"ID" help:"Encrypt with this key from the file instead of a new one."`
	Only string `placeholder:"WHAT" enum:",logins,secrets" default:"" help:"Only rotate the signing key (logins) or the encryption key (secrets) (default: both)."`
}

// Run rotates the keys. Running servers use the new ones immediately.
func (c keysRotateCmd) Run(ctx context.Context, p *program) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	if p.KeysFile == "" && (c.Use != "" || c.Only == "secrets") {
		return errNoKeysFile
	}
	if c.Only != "secrets" && c.Use == "" {
		if err := p.app.Sessions.RotateKeys(ctx, access.System(0)); err != nil {
			return err
		}
		p.printf("Logins are now signed with a new key. Nobody is signed out.\n")
	}
	if p.KeysFile == "" || c.Only == "logins" {
		return nil
	}
	if err := p.changeKeys(func(text string, exists bool) (string, error) {
		if !exists {
			return "", errors.New("the file does not exist. Create it with `holdfast keys make`")
		}
		return putFirst(text, c.Use)
	}); err != nil {
		return err
	}
	sealed, err := p.app.Secrets.SealAnew(ctx, access.System(0))
	if err != nil {
		return err
	}
	keys, err := p.readKeys()
	if err != nil {
		return err
	}
	p.printf("Secrets are now encrypted with key %s. Re-encrypted: %d. ", keys.IDs()[0], sealed)
	p.printf("The old keys stay in %s, because older copies of the database need them.\n", p.KeysFile)
	return nil
}

// putFirst moves the key with that id to the top. Without an id it puts a new key there.
func putFirst(text, id string) (string, error) {
	var head, first, rest string // head: the comments at the top, which stay there
	if id == "" {
		var err error
		if first, err = newKeyLine(); err != nil {
			return "", err
		}
	}
	for line := range strings.Lines(text) {
		keys, err := secrets.ParseSealKeys(line)
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
		return "", errs.WrongField("use", "Key %q is not in the file.", id)
	}
	return head + first + rest, nil
}
