package core

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/travel"
)

// Kind says how proposals of one kind are carried out. Carry does what an approved proposal asks for, in the write that
// approves it. It checks everything again, because things may have changed since the proposal was made. After runs when
// that write is durable; it may be nil. Effect says what an open proposal would change now; it only reads, and may be nil
// where the proposal has its effect from the beginning.
type Kind struct {
	Carry  func(tx *db.Tx, actor auth.Actor, p travel.Proposal) (result any, err error)
	Effect func(tx *db.Tx, p travel.Proposal) (travel.Effect, error)
	After  func(ctx context.Context, actor auth.Actor) error
}

// Kinds are all kinds of proposals. Each room registers its own.
type Kinds struct {
	mu    sync.Mutex
	kinds map[travel.ProposalKind]Kind
}

// Register says how proposals of a kind are carried out.
func (k *Kinds) Register(of travel.ProposalKind, kind Kind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	db.Keep(&k.kinds, of, kind)
}

func (k *Kinds) of(kind travel.ProposalKind) (Kind, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.kinds[kind]
	return found, ok
}

// PayloadOf decodes what a proposal asks for.
func PayloadOf[T any](p travel.Proposal) (payload T, err error) {
	if err := json.Unmarshal([]byte(p.Payload), &payload); err != nil {
		return payload, fmt.Errorf("payload of proposal %d: %w", p.ID, err)
	}
	return payload, nil
}

// MadeID is the result of a proposal that adds one thing, such as a policy or a limit: the id of the new thing.
type MadeID struct {
	ID int64 `json:"id"`
}
