package approvals

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/store"
)

// Kind defines how proposals of one kind are executed. Carry executes an approved proposal, in the write that
// approves it. It checks everything again, because things may have changed since the proposal was made. After runs when
// that write is durable; it may be nil. Effect says what an open proposal would change now; it only reads, and may be nil
// where the proposal has its effect from the beginning.
type Kind struct {
	Carry  func(tx *store.Tx, actor access.Actor, p proposal.Proposal) (result any, err error)
	Effect func(tx *store.Tx, p proposal.Proposal) (proposal.Effect, error)
	After  func(ctx context.Context, actor access.Actor) error
}

// kinds are all kinds of proposals. Each room registers its own.
type kinds struct {
	mu    sync.Mutex
	kinds map[proposal.Kind]Kind
}

// Register says how proposals of a kind are carried out.
func (a *Approvals) Register(of proposal.Kind, kind Kind) {
	a.kinds.mu.Lock()
	defer a.kinds.mu.Unlock()
	if a.kinds.kinds == nil {
		a.kinds.kinds = map[proposal.Kind]Kind{}
	}
	a.kinds.kinds[of] = kind
}

func (k *kinds) of(kind proposal.Kind) (Kind, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.kinds[kind]
	return found, ok
}

// PayloadOf decodes the requested change of a proposal.
func PayloadOf[T any](p proposal.Proposal) (payload T, err error) {
	if err := json.Unmarshal([]byte(p.Payload), &payload); err != nil {
		return payload, fmt.Errorf("payload of proposal %d: %w", p.ID, err)
	}
	return payload, nil
}

// MadeID is the result of a proposal that adds one thing, such as a policy or a limit: the id of the new thing.
type MadeID struct {
	ID int64 `json:"id"`
}
