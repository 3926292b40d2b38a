package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/travel"
)

// claim takes the idempotency key of a request as the same request would that came a moment earlier and is still being
// answered.
func (k *talk) claim(t *testing.T, r *http.Request) {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	must(t, err)
	r.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s\n%s", r.Method, r.URL.EscapedPath(), body))
	key := travel.IdempotencyKey{Key: k.keyOf(t, r), Hash: hex.EncodeToString(sum[:])}
	must(t, k.world.core.Store.Write(t.Context(), func(tx *db.Tx) error {
		_, mine, err := core.ClaimKey(tx, 1, userID(k.as), key, tx.Now.Add(30*time.Second))
		if err == nil && !mine {
			t.Errorf("the key %s is taken", key.Key)
		}
		return err
	}))
}
