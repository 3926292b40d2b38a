// Package secrets generates secrets, hashes them, encrypts them for the database, and signs with them. It owns the table
// sealed_columns. Start at NewSecret and SealKeys.
package secrets

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	sealKeyBytes   = 32 // AES-256
	sealKeyIDChars = 10
	sealVersion    = "s1" // the version of the form of sealed texts
)

// SealKeys are the keys that encrypt secrets in the database. The first key seals and all keys open, so that secrets
// stay readable after a new key was added. The keys are in a file outside the database: a thief needs both.
type SealKeys struct {
	keys []sealKey
}

type sealKey struct {
	id  string
	key []byte
}

// ErrUnknownSealKey is the cause of the error when a secret was encrypted with a key that is not in the file. It may be
// the wrong file, or an old one.
var ErrUnknownSealKey = errors.New("encrypted with a key that is not in the file")

// ParseSealKeys reads a key file: one key of 32 bytes per line, in base64. The first one encrypts. # starts a comment.
// Invalid lines, duplicate keys and a file without keys are errors.
func ParseSealKeys(text string) (SealKeys, error) {
	var ring SealKeys
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != sealKeyBytes {
			return SealKeys{}, fmt.Errorf("line %d is not a base64 key of %d bytes", n, sealKeyBytes)
		}
		// The id is computed from the key, so that two keys never have the same one.
		id := sealKeyID(key)
		if _, twice := ring.find(id); twice {
			return SealKeys{}, fmt.Errorf("line %d repeats key %s", n, id)
		}
		ring.keys = append(ring.keys, sealKey{id, key})
	}
	if err := lines.Err(); err != nil {
		return SealKeys{}, err
	}
	if len(ring.keys) == 0 {
		return SealKeys{}, errors.New("the file contains no key")
	}
	return ring, nil
}

// NewSealKey makes a random key, as a line of the file.
func NewSealKey(random io.Reader) (line string, err error) {
	key := make([]byte, sealKeyBytes)
	if _, err := io.ReadFull(random, key); err != nil {
		return "", fmt.Errorf("generating a key: %w", err)
	}
	return base64.StdEncoding.EncodeToString(key), nil
}

func sealKeyID(key []byte) string {
	sum := sha256.Sum256(append([]byte("id of a sealing key\n"), key...))
	return hex.EncodeToString(sum[:])[:sealKeyIDChars]
}

// IDs lists the ids of the keys, the one that encrypts first.
func (r SealKeys) IDs() []string {
	ids := make([]string, len(r.keys))
	for i, k := range r.keys {
		ids[i] = k.id
	}
	return ids
}

func (r SealKeys) find(id string) (sealKey, bool) {
	for _, k := range r.keys {
		if k.id == id {
			return k, true
		}
	}
	return sealKey{}, false
}

// Seal encrypts a secret for one place, such as "1/4/credentials". Open needs the same place. It is an error when
// there are no keys.
func (r SealKeys) Seal(random io.Reader, plain []byte, place string) (string, error) {
	if len(r.keys) == 0 {
		return "", errors.New("no key to encrypt secrets with")
	}
	box, err := r.keys[0].box()
	if err != nil {
		return "", err
	}
	nonce := make([]byte, box.NonceSize())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return "", fmt.Errorf("generating a nonce: %w", err)
	}
	sealed := box.Seal(nonce, nonce, plain, []byte(place))
	return strings.Join([]string{sealVersion, r.keys[0].id, base64.RawStdEncoding.EncodeToString(sealed)}, "."), nil
}

// Open decrypts a text that Seal made for the same place. It is an error when the text was changed, when it is for
// another place, or when its key is not in the file (ErrUnknownSealKey).
func (r SealKeys) Open(sealed, place string) ([]byte, error) {
	version, rest, _ := strings.Cut(sealed, ".")
	id, text, ok := strings.Cut(rest, ".")
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if version != sealVersion || !ok || err != nil {
		return nil, fmt.Errorf("the encrypted text of %s has an unknown format", place)
	}
	key, ok := r.find(id)
	if !ok {
		return nil, fmt.Errorf("the encrypted text of %s was %w (key %s)", place, ErrUnknownSealKey, id)
	}
	box, err := key.box()
	if err != nil {
		return nil, err
	}
	if len(raw) < box.NonceSize() {
		return nil, fmt.Errorf("the encrypted text of %s is too short", place)
	}
	plain, err := box.Open(nil, raw[:box.NonceSize()], raw[box.NonceSize():], []byte(place))
	if err != nil {
		return nil, fmt.Errorf("the encrypted text of %s was changed or belongs elsewhere", place)
	}
	return plain, nil
}

// SealedHead is how many characters of a sealed text SealedWith needs.
const SealedHead = len(sealVersion) + 1 + sealKeyIDChars + 1

// IsSealed reports whether a text was sealed. No secret of ours begins like a sealed text: none has a dot.
func IsSealed(text string) bool { return strings.HasPrefix(text, sealVersion+".") }

// SealedWith returns the id of the key that sealed a text, or "" when it is not a sealed text.
func SealedWith(sealed string) string {
	parts := strings.SplitN(sealed, ".", 3)
	if len(parts) != 3 || parts[0] != sealVersion {
		return ""
	}
	return parts[1]
}

func (k sealKey) box() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
