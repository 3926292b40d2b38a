package identity

import (
	"sync"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/platform/core"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// rememberedCallers is how many callers a process remembers.
const rememberedCallers = 1000

// memory holds the callers whose API tokens were let in during the last minute, as of a version of their site. Whatever a caller may do,
// each write that changes it gives the site another version (see core.Changed).
type memory struct {
	mu sync.RWMutex
	of map[tokenAt]Caller
}

// tokenAt is an API token, and the path of the site to which it was sent.
type tokenAt struct {
	path string
	id   int64
}

// find returns a caller, unless the use of the token is to be recorded again.
func (m *memory) find(at tokenAt, now time.Time) (Caller, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c, ok := m.of[at]
	return c, ok && now.Sub(c.Token.LastUsedAt) < touchEvery
}

// keep remembers a caller who was let in.
func (m *memory) keep(at tokenAt, c Caller, now time.Time) {
	if c.Version == 0 {
		return
	}
	if now.Sub(c.Token.LastUsedAt) >= touchEvery {
		c.Token.LastUsedAt = now // it is being recorded
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of) >= rememberedCallers {
		m.of = map[tokenAt]Caller{}
	}
	m.of[at] = c
}

// Remembered is Authenticate without a look into the database, for an API token that was let in during the last minute. The actor does
// not count yet: see access.Remembered. If ok is false, Authenticate finds out more.
func (s *Sessions) Remembered(path, bearer, address string) (actor access.Actor, ok bool) {
	id, secret, ok := secrets.ParseToken(bearer)
	if !ok {
		return actor, false
	}
	now := s.Clock()
	caller, ok := s.memory.find(tokenAt{path, id}, now)
	if !ok {
		return actor, false
	}
	actor, err := caller.enter(secret, address, false, now)
	actor.Remembered = &access.Remembered{Version: caller.Version}
	return actor, err == nil
}

// changedForTokensOf is core.Changed for all sites on which API tokens act as a user.
func changedForTokensOf(tx *store.Tx, userID int64) error {
	var sites []int64
	err := tx.Each(`SELECT DISTINCT site_id FROM api_tokens WHERE user_id = $1 ORDER BY site_id`, []any{userID}, func(scan func(dest ...any) error) error {
		var id int64
		err := scan(&id)
		sites = append(sites, id)
		return err
	})
	for _, id := range sites {
		if err == nil {
			err = core.Changed(tx, id)
		}
	}
	return err
}
