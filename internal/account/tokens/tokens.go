// Package tokens creates and deletes API tokens, and records their last use. It owns the tables api_tokens and token_uses. Start
// at Tokens.
package tokens

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of the record of when tokens were last used.
const (
	TouchEvery = time.Minute // a token that is used more often is not recorded each time
	usesAhead  = 256         // may wait to be recorded
)

// Tokens lists, makes and deletes API tokens. It also records when they were last used, in the background: requests do
// not wait for that.
type Tokens struct {
	*people.Room
	uses chan tokenUse
	done chan struct{}

	mu     sync.RWMutex // held while a use is sent, because uses must not be closed then
	closed bool
}

type tokenUse struct {
	token   APIToken
	at      time.Time
	reached chan struct{} // not nil: this is no use but a mark, and closed when all uses before it are recorded
}

// NewTokens makes the use cases and starts the record of last uses, which ends with Close.
func NewTokens(room *people.Room) *Tokens {
	t := &Tokens{Room: room, uses: make(chan tokenUse, usesAhead), done: make(chan struct{})}
	go t.record()
	return t
}

// List reads all API tokens of the actor's site.
func (t *Tokens) List(ctx context.Context, actor access.Actor) (list []APIToken, err error) {
	if err := actor.Require(access.Read); err != nil {
		return nil, err
	}
	err = t.Store.Read(ctx, actor.SiteID, func(tx *store.Tx) (err error) {
		list, err = TokensOf(tx, actor.SiteID)
		return err
	})
	return list, err
}

// Create makes an API token that acts as the actor on the site of the call, whose user must have access to the site. It returns the token with its text, which is not shown again.
func (t *Tokens) Create(ctx context.Context, actor access.Actor, in TokenFields) (made APIToken, text string, err error) {
	if err := actor.Require(access.ManageTokens); err != nil {
		return APIToken{}, "", err
	}
	if actor.UserID == 0 {
		return APIToken{}, "", errs.New(errs.Forbidden, "API tokens act as a user, and the program itself is not a user.")
	}
	secret, err := secrets.NewSecret(t.Random)
	if err != nil {
		return APIToken{}, "", err
	}
	err = t.WriteAs(ctx, actor, func(tx *store.Tx) error {
		problems := in.Problems.Clone()
		token := APIToken{SiteID: actor.SiteID, UserID: actor.UserID, SecretHash: secrets.HashSecret(secret)}
		in.Check(tx.Now, &problems)
		token.Abilities, token.Networks = access.TokenLimits(in.Abilities, in.Addresses, &problems)
		if err := problems.Err(); err != nil {
			return err
		}
		// With the site locked, no other request makes a token between the count and the insert.
		if err := sites.Lock(tx, actor.SiteID); err != nil {
			return err
		}
		if err := keepAccess(tx, actor.SiteID, actor.UserID); err != nil {
			return err
		}
		n, err := CountTokens(tx, actor.SiteID)
		if err != nil {
			return err
		}
		if n >= MaxTokens {
			return errs.New(errs.TokenLimit, "A site can have at most %d API tokens, including expired ones. Delete one first.", MaxTokens)
		}
		token.Name = *in.Name
		if in.Expires != nil && *in.Expires != civil.NoDay {
			token.ExpiresAt = secrets.ExpiryOf(*in.Expires)
		}
		if made, err = InsertToken(tx, token); err != nil {
			return err
		}
		return audit.Record(tx, actor, "token.create", tokenObject(made.ID), nil, auditToken(made))
	})
	return made, secrets.FormatToken(made.ID, secret), err
}

// Delete deletes one API token of the actor's site.
func (t *Tokens) Delete(ctx context.Context, actor access.Actor, id int64) error {
	if err := actor.Require(access.ManageTokens); err != nil {
		return err
	}
	err := idempotency.OnceGone(ctx, t.DB, actor, id, func(tx *store.Tx) error {
		if err := deleteToken(tx, actor.SiteID, id); err != nil {
			return err
		}
		return RecordTokenEnd(tx, actor, id)
	})
	return store.NotFoundAs(errs.TokenNotFound, err, "API token %d not found.", id)
}

// keepAccess refuses a user without access to a site: it may have ended after it was checked. Until the write ends,
// it cannot be revoked.
func keepAccess(tx *store.Tx, siteID, userID int64) error {
	user, err := people.UserByID(tx, userID)
	if err != nil || user.Operator {
		return people.UnknownUser(err)
	}
	err = people.LockMembership(tx, siteID, userID)
	if errors.Is(err, store.ErrNotFound) {
		return access.ErrOtherSite()
	}
	return err
}

// RecordTokenEnd writes the end of a token into the audit.
func RecordTokenEnd(tx *store.Tx, actor access.Actor, id int64) error {
	return audit.Record(tx, actor, "token.delete", tokenObject(id), struct{}{}, nil)
}

// DeleteAll deletes all API tokens of the actor's site.
func (t *Tokens) DeleteAll(ctx context.Context, actor access.Actor) error {
	if err := actor.Require(access.ManageTokens); err != nil {
		return err
	}
	return idempotency.OnceGone(ctx, t.DB, actor, actor.SiteID, func(tx *store.Tx) error {
		if err := deleteTokens(tx, actor.SiteID); err != nil {
			return err
		}
		return audit.Record(tx, actor, "token.delete_all", "tokens", struct{}{}, nil)
	})
}

func tokenObject(id int64) string { return fmt.Sprintf("token %d", id) }

// Used hands the use of a token over to the record. If too many wait, it is dropped: a later use will be recorded.
func (t *Tokens) Used(token APIToken, at time.Time) {
	if at.Sub(token.LastUsedAt) < TouchEvery {
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

// record records uses of tokens until Close: all pending uses of a site in one transaction.
func (t *Tokens) record() {
	defer close(t.done)
	for first := range t.uses {
		batch := []tokenUse{first}
		for len(t.uses) > 0 && len(batch) < usesAhead { // there is no other receiver, so this does not block
			batch = append(batch, <-t.uses)
		}
		bySite := map[int64][]tokenUse{}
		for _, use := range batch {
			if use.reached == nil {
				bySite[use.token.SiteID] = append(bySite[use.token.SiteID], use)
			}
		}
		for site, uses := range bySite {
			err := t.Store.Write(context.Background(), site, func(tx *store.Tx) (err error) {
				for _, use := range uses {
					err = errors.Join(err, TouchToken(tx, site, use.token.ID, use.at, use.at.Add(-TouchEvery)))
				}
				return err
			})
			if err != nil {
				t.Log.Warn("last use of API tokens not recorded", "site", site, "tokens", len(uses), "error", err)
			}
		}
		for _, use := range batch {
			if use.reached != nil {
				close(use.reached)
			}
		}
	}
}

// Flush waits until all uses so far are recorded.
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

// Close records the uses that wait, and ends the record.
func (t *Tokens) Close() {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.uses)
	}
	t.mu.Unlock()
	<-t.done
}

type auditedToken struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	UserID    int64  `json:"user_id"`
	ExpiresAt string `json:"expires_at,omitempty"`

	Abilities []string `json:"abilities,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

func auditToken(t APIToken) any {
	shape := auditedToken{ID: t.ID, Name: t.Name, UserID: t.UserID, Abilities: t.Abilities.Names(), Addresses: t.NetworkTexts()}
	if !t.ExpiresAt.IsZero() {
		shape.ExpiresAt = civil.FormatInstant(t.ExpiresAt)
	}
	return shape
}
