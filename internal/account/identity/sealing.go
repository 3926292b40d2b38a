package identity

import (
	"encoding/hex"
	"fmt"

	"holdfast/internal/account/credentials"
	"holdfast/internal/platform/core"
)

// The fields of the sealed secrets of this room, for their places (see core.PlaceOf).
const (
	sealedTOTP   = "two_factor"
	sealedSigner = "signs_logins"
	sealedLink   = "password_link"
)

// sealedColumns are the columns of this room whose texts are sealed.
var sealedColumns = []core.SealedColumn{
	{Table: "users", Column: "two_factor_secret", Key: []string{"id"}, Field: sealedTOTP},
	{Table: "jwt_keys", Column: "secret", Key: []string{"id"}, Field: sealedSigner},
	{Table: "password_links", Column: "secret", Key: []string{"hash"}, Field: sealedLink},
}

// secretOf opens the secret of a user's second factor. It is "" without one.
func secretOf(c *core.Core, u User) (string, error) {
	return c.Open(u.SealedTOTP, core.PlaceOf(sealedTOTP, u.ID))
}

// openKeys opens the secrets of keys.
func openKeys(c *core.Core, stored []StoredKey) ([]credentials.Key, error) {
	var keys []credentials.Key
	for _, s := range stored {
		secret, err := c.Open(s.Sealed, core.PlaceOf(sealedSigner, s.ID))
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
func sealKey(c *core.Core, k credentials.Key) (StoredKey, error) {
	sealed, err := c.Seal(hex.EncodeToString(k.Secret), core.PlaceOf(sealedSigner, k.ID))
	k.Secret = nil
	return StoredKey{k, sealed}, err
}
