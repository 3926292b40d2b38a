package webhooks

import (
	"encoding/base64"
	"io"
	"time"

	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// How secrets are made and replaced.
const (
	secretPrefix = "whsec_"
	secretBytes  = 32
	overlap      = 24 * time.Hour // during which a replaced secret also signs
)

const sealedSecret = "webhook_secret"

var sealedColumns = []secrets.SealedColumn{
	{Table: "webhook_secrets", Column: "secret", Key: []string{"site_id", "id"}, Field: sealedSecret},
}

// NewSecret makes a secret as Standard Webhooks has them.
func NewSecret(random io.Reader) (string, error) {
	key := make([]byte, secretBytes)
	if _, err := io.ReadFull(random, key); err != nil {
		return "", err
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(key), nil
}

// newSecret makes the secret of an endpoint that this write has made or locked.
func (w *Webhooks) newSecret(tx *store.Tx, siteID, endpointID int64) (secret string, err error) {
	if secret, err = NewSecret(w.Random); err != nil {
		return "", err
	}
	id, err := tx.NextID("webhook_secrets", siteID)
	if err != nil {
		return "", err
	}
	sealed, err := w.Vault.Seal(secret, secrets.PlaceOf(sealedSecret, siteID, id))
	if err != nil {
		return "", err
	}
	_, err = tx.Exec(`INSERT INTO webhook_secrets (site_id, id, endpoint_id, secret, made_at, ends_at) VALUES ($1, $2, $3, $4, $5, 0)`,
		siteID, id, endpointID, sealed, store.Micros(sites.RealNow(tx)))
	return secret, err
}

// endSecrets ends the newest secret of an endpoint at an instant and deletes the earlier ones: together with the next
// one, at most two are valid.
func endSecrets(tx *store.Tx, siteID, endpointID int64, at time.Time) error {
	if _, err := tx.Exec(`DELETE FROM webhook_secrets WHERE site_id = $1 AND endpoint_id = $2 AND ends_at > 0`,
		siteID, endpointID); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE webhook_secrets SET ends_at = $3 WHERE site_id = $1 AND endpoint_id = $2`,
		siteID, endpointID, store.Micros(at))
	return err
}

// sealedOne is a sealed secret.
type sealedOne struct {
	id     int64
	sealed string
}

// validSecrets reads the secrets of an endpoint that sign now, the newest first.
func validSecrets(tx *store.Tx, siteID, endpointID int64) (list []sealedOne, err error) {
	err = tx.Query(`SELECT id, secret FROM webhook_secrets WHERE site_id = $1 AND endpoint_id = $2
			AND (ends_at = 0 OR ends_at > $3) ORDER BY id DESC LIMIT 2`,
		[]any{siteID, endpointID, store.Micros(sites.RealNow(tx))}, func(scan func(dest ...any) error) error {
			var s sealedOne
			err := scan(&s.id, &s.sealed)
			list = append(list, s)
			return err
		})
	return list, err
}

// open opens secrets.
func (w *Webhooks) openSecrets(siteID int64, list []sealedOne) (opened []string, err error) {
	for _, s := range list {
		secret, err := w.Vault.OpenOften(s.sealed, secrets.PlaceOf(sealedSecret, siteID, s.id))
		if err != nil {
			return nil, err
		}
		opened = append(opened, secret)
	}
	return opened, nil
}
