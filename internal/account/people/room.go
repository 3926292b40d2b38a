package people

import (
	"io"
	"log/slog"

	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
)

// Room is shared by the use cases of people.
type Room struct {
	*sites.DB
	Vault  *secrets.Vault
	Random io.Reader            // for tokens, keys and codes
	Cost   secrets.PasswordCost // of hashing a password
	Log    *slog.Logger
}
