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

	"holdfast/internal/db"
	"holdfast/internal/travel"
)

// claim takes the idempotency key of a request for ten seconds, as the same request does at a process of an earlier
// version that is still answering it.
func (k *talk) claim(t *testing.T, r *http.Request) {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	must(t, err)
	r.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s\n%s", r.Method, r.URL.EscapedPath(), body))
	key := travel.IdempotencyKey{Key: k.keyOf(t, r), Hash: hex.EncodeToString(sum[:])}
	must(t, k.world.core.Store.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO idempotency_keys (site_id, user_id, key, request_hash, claimed_until, created_at)
			VALUES (1, $1, $2, $3, $4, $5)`,
			userID(k.as), key.Key, key.Hash, db.Micros(tx.Now.Add(10*time.Second)), db.Micros(tx.Now))
		return err
	}))
}
