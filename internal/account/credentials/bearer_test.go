package credentials_test

import (
	"testing"

	"holdfast/internal/account/credentials"
	"holdfast/internal/platform/secrets"
)

func TestBearerIsTakenForAnAPITokenOrAJWT(t *testing.T) {
	access, err := credentials.SignAccess(ringOf(t, keyMade(t, 1, noon)), credentials.Claims{UserID: 1}, noon)
	if err != nil {
		t.Fatal(err)
	}
	for bearer, want := range map[string]bool{"73|s3cret": true, "x|": true, access: false, "": false, "nonsense": false} {
		if got := secrets.IsAPIToken(bearer); got != want {
			t.Errorf("IsAPIToken(%q) = %v, want %v", bearer, got, want)
		}
	}
}
