package identity

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// Bounds of the record of when tokens were last used.
const (
	touchEvery   = time.Minute
	touchesAhead = 256
)

// Tokens is what can be done with API tokens (section 4.1). It also keeps the record of their last use, which a
// request hands over and does not wait for.
type Tokens struct {
	*core.Core
	uses chan tokenUse
	done chan struct{}

	mu     sync.RWMutex // held while a use is handed over, so that Close never meets a sender
	closed bool
}

type tokenUse struct {
	token   auth.APIToken
	at      time.Time
	reached chan struct{} // no use, but a mark: closed once everything before it is written
}

func NewTokens(core *core.Core) *Tokens {
	t := &Tokens{Core: core, uses: make(chan tokenUse, touchesAhead), done: make(chan struct{})}
	go t.record()
	return t
}

// List reads the API tokens of the actor's site.
func (t *Tokens) List(ctx context.Context, actor auth.Actor) (list []auth.APIToken, err error) {
	if err := actor.Require(auth.Read); err != nil {
		return nil, err
	}
	err = t.Store.Read(ctx, func(tx *db.Tx) (err error) {
		list, err = TokensOf(tx, actor.SiteID)
		return err
	})
	return list, err
}

// Create makes an API token that acts as the actor, and returns it with its text, which cannot be had again.
func (t *Tokens) Create(ctx context.Context, actor auth.Actor, in travel.TokenFields) (made auth.APIToken, text string, err error) {
	if err := actor.Require(auth.ManageTokens); err != nil {
		return auth.APIToken{}, "", err
	}
	if actor.UserID == 0 {
		return auth.APIToken{}, "", fault.New(fault.Forbidden, "A token acts as a user: the program itself cannot have one.")
	}
	secret, err := auth.NewSecret(t.Random)
	if err != nil {
		return auth.APIToken{}, "", err
	}
	err = t.WriteAs(ctx, actor, func(tx *db.Tx) error {
		problems := in.Problems.Clone()
		in.Check(tx.Now, &problems)
		if err := problems.Err(); err != nil {
			return err
		}
		// Taking the site first makes creates wait for each other, so that the count is true.
		if err := core.LockSite(tx, actor.SiteID); err != nil {
			return err
		}
		n, err := CountTokens(tx, actor.SiteID)
		if err != nil {
			return err
		}
		if n >= auth.MaxTokens {
			return fault.New(fault.TokenLimit, "A site has at most %d API tokens, expired ones included: delete one first.", auth.MaxTokens)
		}
		token := auth.APIToken{SiteID: actor.SiteID, UserID: actor.UserID, Name: *in.Name, SecretHash: auth.HashSecret(secret)}
		if in.Expires != nil && *in.Expires != civil.NoDay {
			token.ExpiresAt = auth.ExpiryOf(*in.Expires)
		}
		if made, err = InsertToken(tx, token); err != nil {
			return err
		}
		return core.Record(tx, actor, "token.create", tokenObject(made.ID), nil, auditToken(made))
	})
	return made, auth.FormatToken(made.ID, secret), err
}

// Delete ends one API token of the actor's site.
func (t *Tokens) Delete(ctx context.Context, actor auth.Actor, id int64) error {
	if err := actor.Require(auth.ManageTokens); err != nil {
		return err
	}
	err := t.WriteAs(ctx, actor, func(tx *db.Tx) error {
		if err := DeleteToken(tx, actor.SiteID, id); err != nil {
			return err
		}
		return core.Record(tx, actor, "token.delete", tokenObject(id), struct{}{}, nil)
	})
	return core.NotFoundAs(fault.TokenNotFound, err, "There is no API token %d.", id)
}

// DeleteAll ends all API tokens of the actor's site.
func (t *Tokens) DeleteAll(ctx context.Context, actor auth.Actor) error {
	if err := actor.Require(auth.ManageTokens); err != nil {
		return err
	}
	return t.WriteAs(ctx, actor, func(tx *db.Tx) error {
		if err := DeleteTokens(tx, actor.SiteID); err != nil {
			return err
		}
		return core.Record(tx, actor, "token.delete_all", "tokens", struct{}{}, nil)
	})
}

func tokenObject(id int64) string { return fmt.Sprintf("token %d", id) }

// used hands the use of a token over to the record. Where too many wait it is dropped: the next one will do.
func (t *Tokens) used(token auth.APIToken, at time.Time) {
	if at.Sub(token.LastUsedAt) < touchEvery {
		return
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.closed {
		return
	}
	select {
	case t.uses <- tokenUse{token: token, at: at}:
	default:
	}
}

// record writes down uses of tokens, all that wait in one transaction, until Close.
func (t *Tokens) record() {
	defer close(t.done)
	for first := range t.uses {
		batch := []tokenUse{first}
		for len(t.uses) > 0 && len(batch) < touchesAhead { // this is the only reader: what waits stays
			batch = append(batch, <-t.uses)
		}
		err := t.Store.Write(context.Background(), func(tx *db.Tx) (err error) {
			for _, use := range batch {
				if use.reached == nil {
					err = errors.Join(err, TouchToken(tx, use.token.SiteID, use.token.ID, use.at, use.at.Add(-touchEvery)))
				}
			}
			return err
		})
		if err != nil {
			t.Log.Warn("the last use of API tokens could not be recorded", "tokens", len(batch), "error", err)
		}
		for _, use := range batch {
			if use.reached != nil {
				close(use.reached)
			}
		}
	}
}

// Flush waits until every use of a token so far is on record.
func (t *Tokens) Flush() {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.closed {
		return
	}
	mark := tokenUse{reached: make(chan struct{})}
	t.uses <- mark
	<-mark.reached
}

// Close ends the record, when all that waits in it is written.
func (t *Tokens) Close() {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.uses)
	}
	t.mu.Unlock()
	<-t.done
}
