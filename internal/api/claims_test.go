package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/store"

	"go.yaml.in/yaml/v3"
)

// claim takes the idempotency key of a request for ten seconds, like the same request in another process that has not
// responded yet.
func (k *talk) claim(t *testing.T, r *http.Request) {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	must(t, err)
	r.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s\n%s", r.Method, r.URL.EscapedPath(), body))
	key := access.IdempotencyKey{Key: k.keyOf(t, r), Hash: hex.EncodeToString(sum[:])}
	must(t, k.world.app.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO idempotency_keys (site_id, key, request_hash, claimed_until, created_at)
			VALUES (1, $1, $2, $3, $4)`,
			key.Key, key.Hash, store.Micros(tx.Now.Add(10*time.Second)), store.Micros(tx.Now))
		return err
	}))
}

// TestEveryChangeTakesAKey: every operation that creates or changes something takes an idempotency key, and its
// description says so. Exceptions are anonymous senders and responses with a secret that is shown once.
func TestEveryChangeTakesAKey(t *testing.T) {
	t.Parallel()
	without := []string{
		"login", "refreshLogin", "deleteRefresh", "createToken", "openModalSession", "takeProcessorEvent",
	}
	for key, op := range theDescription(t).operations {
		method, _, _ := strings.Cut(key, " ")
		takes := slices.ContainsFunc(op.Parameters, func(p reference) bool { return strings.HasSuffix(p.Ref, "/IdempotencyKey") })
		if want := method != http.MethodGet && !slices.Contains(without, strings.TrimSuffix(op.ID, "AtSite")); takes != want {
			t.Errorf("%s (%s) takes a key: %v, want %v", key, op.ID, takes, want)
		}
		for status, of := range op.Responses {
			var answer struct {
				Headers map[string]yaml.Node `yaml:"headers"`
			}
			must(t, of.Decode(&answer))
			if _, says := answer.Headers["Idempotent-Replayed"]; says != (takes && status[0] == '2') {
				t.Errorf("%s (%s), %s says that it may be a repetition: %v", key, op.ID, status, says)
			}
		}
	}
}
