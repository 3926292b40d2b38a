package sessions

import (
	"encoding/hex"
	"fmt"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/platform/secrets"
)

// The fields of the sealed secrets of this room, for their places (see secrets.PlaceOf).
const (
	sealedTOTP   = "two_factor"
	sealedSigner = "signs_logins"
)

// sealedColumns are the columns of this room whose texts are sealed.
var sealedColumns = []secrets.SealedColumn{
	{Table: "users", Column: "two_factor_secret", Key: []string{"id"}, Field: sealedTOTP},
	{Table: "jwt_keys", Column: "secret", Key: []string{"id"}, Field: sealedSigner},
	{Table: "password_links", Column: "secret", Key: []string{"hash"}, Field: people.SealedLink},
}

// secretOf opens the secret of a user's second factor. It is "" without one.
func secretOf(c *people.Room, u people.User) (string, error) {
	return c.Vault.Open(u.SealedTOTP, secrets.PlaceOf(sealedTOTP, u.ID))
}

// openKeys opens the secrets of keys.
func openKeys(c *people.Room, stored []StoredKey) ([]credentials.Key, error) {
	var keys []credentials.Key
	for _, s := range stored {
		secret, err := c.Vault.Open(s.Sealed, secrets.PlaceOf(sealedSigner, s.ID))
		if err != nil {
			return nil, err
		}
		k := s.Key
		if k.Secret, err = hex.DecodeString(secret); err != nil {
			return nil, fmt.Errorf("the JWT key %s is not hexadecimal", k.ID) // err would show a part of the key
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// sealKey seals the secret of a key.
func sealKey(c *people.Room, k credentials.Key) (StoredKey, error) {
	sealed, err := c.Vault.Seal(hex.EncodeToString(k.Secret), secrets.PlaceOf(sealedSigner, k.ID))
	k.Secret = nil
	return StoredKey{k, sealed}, err
}
