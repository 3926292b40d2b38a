// Package underwriting handles a merchant's request to have a channel protected, from the application to the
// operator's decision. It owns the tables protection_*. Start at Requests.Save. The required information is in
// facts.go.
package underwriting

import (
	"context"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Requests are the use cases of asking for protection. A channel has one request at most. An operator's yes changes no
// channel: its mode is changed by a proposal, as always (onboarding.Channels.Change).
type Requests struct{ *sites.DB }

// State is the state of a request.
type State string

// The states of a request.
const (
	Writing   State = "writing"   // the people of the site write it; it is in no queue yet
	Asked     State = "asked"     // it waits for the operator
	Questions State = "questions" // the operator wants to know more, as the note says
	Taken     State = "taken"
	Refused   State = "refused"
)

// Request is a request for the protection of a channel.
type Request struct {
	SiteID, ChannelID     int64
	State                 State // "" if the request has not been started
	Facts                 Facts
	Note                  string // the last word of the operator
	AskedBy, AnsweredBy   string
	AskedAt, AnsweredAt   time.Time // by the real clock; zero: never
	ModifiedAt            time.Time
	Version               int64
	Documents             []Document // empty in lists
	SitePath, ChannelName string     // set in lists
	Sandbox               bool       // of its site; set in lists
}

// Open says whether its author may change it now.
func (r Request) Open() bool {
	return r.State == "" || r.State == Writing || r.State == Questions || r.State == Refused
}

// Get reads the request of a channel with its documents, without their content. Where there is none, the state is "". siteID is
// that of the actor, or for an operator any. The error is SettingNotFound for a channel that is not there.
func (r *Requests) Get(ctx context.Context, actor access.Actor, siteID, channelID int64) (Request, error) {
	by, err := on(actor, siteID)
	if err != nil {
		return Request{}, err
	}
	found, err := sites.Read(ctx, r.DB, by, func(tx *store.Tx) (Request, error) { return read(tx, siteID, channelID) })
	return found, unknownChannel(err, channelID)
}

// on is the actor on a site: their own, or for an operator any.
func on(actor access.Actor, siteID int64) (access.Actor, error) {
	if siteID != actor.SiteID && !actor.Everywhere() {
		return actor, errs.New(errs.SettingNotFound, "Site %d not found.", siteID)
	}
	actor.SiteID = siteID
	return actor, nil
}

// read reads the request of a channel, which must exist.
func read(tx *store.Tx, siteID, channelID int64) (Request, error) {
	channel, err := merchants.Channel(tx, siteID, channelID)
	if err != nil {
		return Request{}, err
	}
	found, err := requestOf(tx, siteID, channelID)
	if err != nil {
		return found, err
	}
	found.ChannelName = channel.Name
	found.Documents, err = documentsOf(tx, siteID, channelID)
	return found, err
}

// Waiting reads one page of the requests waiting for the operator on all sites, the longest waiting first. It is for
// operators, not for API tokens, which are limited to one site.
func (r *Requests) Waiting(ctx context.Context, actor access.Actor, page store.Page) (list store.List[Request], err error) {
	return r.In(ctx, actor, []State{Asked}, page)
}

// In reads one page of the requests in some states, on all sites; see Waiting. Drafts are not listed.
func (r *Requests) In(ctx context.Context, actor access.Actor, states []State, page store.Page) (list store.List[Request], err error) {
	if err := actor.Require(access.SetChannelMode); err != nil {
		return list, err
	}
	if !actor.Everywhere() {
		return list, errs.New(errs.Forbidden, "An API token can only see the requests of its own site.")
	}
	return sites.ReadPage(ctx, r.DB, actor, page, func(tx *store.Tx) (store.List[Request], error) { return inStates(tx, states, page) })
}

// Unwritten is the version of a request that has not been started yet.
const Unwritten = -1

// Save stores the merchant's facts. With ask, the request goes to the operator, and all required facts must be present. Errors:
// Forbidden, Invalid, Missing, SettingNotFound, Precondition when it has been saved since ifVersion (0 for any, Unwritten for
// a request that was not there), and NotPossible with the reason protection_asked while the operator has it, or channel_mode for
// a channel that cannot be protected.
func (r *Requests) Save(ctx context.Context, actor access.Actor, channelID int64, facts Facts, ask bool, ifVersion int64) (Request, error) {
	saved, err := r.change(ctx, actor, channelID, func(tx *store.Tx, before Request) (after Request, action string, err error) {
		if ifVersion != Unwritten || before.Version != 0 {
			if err := errs.CheckVersion(ifVersion, before.Version); err != nil {
				return after, "", err
			}
		}
		if err := facts.check(ask); err != nil {
			return after, "", err
		}
		after, action = before, "protection.write"
		after.Facts = facts
		if after.State != Questions || ask { // the operator's question stays visible until it is answered
			after.State = Writing
		}
		if ask {
			after.State, after.AskedBy, after.AskedAt, action = Asked, actor.Username, sites.RealNow(tx), askAction
		}
		return after, action, nil
	})
	return saved, err
}

// change changes a request that its author may change, and records that in the audit.
func (r *Requests) change(
	ctx context.Context, actor access.Actor, channelID int64, fn func(tx *store.Tx, before Request) (after Request, action string, err error),
) (Request, error) {
	if err := actor.Require(access.WriteChannels); err != nil {
		return Request{}, err
	}
	changed, err := sites.Write(ctx, r.DB, actor, func(tx *store.Tx) (Request, error) {
		before, err := locked(tx, actor.SiteID, channelID)
		if err != nil {
			return before, err
		}
		if !before.Open() {
			return before, errs.NotPossibleBecause("protection_asked", "The request is with the operator or has been decided. It cannot be changed now.")
		}
		after, action, err := fn(tx, before)
		if err != nil {
			return before, err
		}
		return save(tx, actor, before, after, action)
	})
	return changed, unknownChannel(err, channelID)
}

// CanAsk reports whether protection can be requested for a channel.
func CanAsk(c merchant.Channel) bool {
	return !c.WasTest && (c.Mode == merchant.ModeDraft || c.Mode == merchant.ModeAffiliate || c.Mode == merchant.ModeClosed)
}

// lockChannel locks a channel to the end of the write. Its version stays: nothing of the channel itself changes, so a form of its
// settings that is open elsewhere can still be saved.
func lockChannel(tx *store.Tx, siteID, channelID int64) (merchant.Channel, error) {
	channel, err := merchants.LockChannel(tx, siteID, channelID)
	if err != nil {
		return channel, err
	}
	return merchants.LeaveChannel(tx, channel)
}

// locked reads the request of a channel that can be protected, with the channel locked, so that two people do not change it concurrently.
func locked(tx *store.Tx, siteID, channelID int64) (Request, error) {
	channel, err := lockChannel(tx, siteID, channelID)
	if err != nil {
		return Request{}, err
	}
	if !CanAsk(channel) {
		return Request{}, errs.NotPossibleBecause("channel_mode",
			"A channel in mode %s cannot request protection. Create a channel in mode draft.", channel.Mode)
	}
	return read(tx, siteID, channelID)
}

// Reported as an event, and recorded in the audit log.
const (
	askAction    = "protection.ask"
	answerAction = "protection.answer"
)

// Stored reads the request of a channel, for higher layers. The error is store.ErrNotFound if the channel does not
// exist; if no request has been started, its state is "".
func Stored(tx *store.Tx, siteID, channelID int64) (Request, error) {
	return read(tx, siteID, channelID)
}

// store writes a request, its audit record and its event.
func save(tx *store.Tx, actor access.Actor, before, after Request, action string) (Request, error) {
	after.SiteID, after.ModifiedAt = actor.SiteID, sites.RealNow(tx)
	after.Version++
	if err := put(tx, after); err != nil {
		return before, err
	}
	details := event.Details{Status: string(after.State), Before: string(before.State)}
	switch action {
	case askAction:
		events.Record(tx, after.SiteID, event.ChannelProtectionAsked, after.ChannelID, details)
	case answerAction:
		events.Record(tx, after.SiteID, event.ChannelProtectionAnswered, after.ChannelID, details)
	}
	var was any
	if before.State != "" {
		was = audited(before)
	}
	return after, audit.Record(tx, actor, action, object(after.ChannelID), was, audited(after))
}

// TakeBack gives a request that waits for the operator back to its author.
func (r *Requests) TakeBack(ctx context.Context, actor access.Actor, channelID int64) (Request, error) {
	if err := actor.Require(access.WriteChannels); err != nil {
		return Request{}, err
	}
	changed, err := sites.Write(ctx, r.DB, actor, func(tx *store.Tx) (Request, error) {
		before, err := locked(tx, actor.SiteID, channelID)
		if err == nil && before.State != Asked {
			err = errs.NotPossibleBecause("protection_not_asked", "The request is not waiting for the operator.")
		}
		if err != nil {
			return before, err
		}
		after := before
		after.State = Writing
		return save(tx, actor, before, after, "protection.take_back")
	})
	return changed, unknownChannel(err, channelID)
}

// Discard removes a request that its author may change, with its documents. Then its channel can be deleted.
func (r *Requests) Discard(ctx context.Context, actor access.Actor, channelID int64) error {
	if err := actor.Require(access.WriteChannels); err != nil {
		return err
	}
	err := r.WriteAs(ctx, actor, func(tx *store.Tx) error {
		before, err := locked(tx, actor.SiteID, channelID)
		switch {
		case err != nil:
			return err
		case before.State == "":
			return nil
		case !before.Open():
			return errs.NotPossibleBecause("protection_asked", "The request is with the operator or has been decided. It cannot be removed now.")
		}
		if err := remove(tx, actor.SiteID, channelID); err != nil {
			return err
		}
		return audit.Record(tx, actor, "protection.discard", object(channelID), audited(before), nil)
	})
	return unknownChannel(err, channelID)
}

// Answer is the operator's answer to a request: Questions, Taken or Refused, with a note to the merchant. A question and
// a refusal need one.
type Answer struct {
	State     State
	Note      string
	IfVersion int64
}

// Answer decides on a waiting request. An accepted request can be decided again while its channel is not protected. Where the
// channel is protected already, a request that still waits can only be taken. Errors: Forbidden, Invalid, Missing,
// SettingNotFound, Precondition, and NotPossible (protection_not_asked, or channel_mode).
func (r *Requests) Answer(ctx context.Context, actor access.Actor, siteID, channelID int64, in Answer) (Request, error) {
	if err := actor.Require(access.SetChannelMode); err != nil {
		return Request{}, err
	}
	by, err := on(actor, siteID)
	if err != nil {
		return Request{}, err
	}
	in.Note = strings.TrimSpace(in.Note)
	if err := in.check(); err != nil {
		return Request{}, err
	}
	answered, err := sites.Write(ctx, r.DB, by, func(tx *store.Tx) (Request, error) {
		channel, err := lockChannel(tx, siteID, channelID)
		if err != nil {
			return Request{}, err
		}
		before, err := read(tx, siteID, channelID)
		if err == nil {
			err = errs.CheckVersion(in.IfVersion, before.Version)
		}
		if err == nil && before.State != Asked && before.State != Taken {
			err = errs.NotPossibleBecause("protection_not_asked", "The request is not waiting for an answer.")
		}
		if err == nil && channel.Covered() && (before.State == Taken || in.State != Taken) {
			err = errs.NotPossibleBecause("channel_mode", "The channel is already protected. To end that, change its mode.")
		}
		if err != nil {
			return before, err
		}
		after := before
		after.State, after.Note, after.AnsweredBy, after.AnsweredAt = in.State, in.Note, actor.Username, sites.RealNow(tx)
		return save(tx, by, before, after, answerAction)
	})
	return answered, unknownChannel(err, channelID)
}

func (a Answer) check() error {
	var problems errs.Problems
	switch a.State {
	case Questions, Refused:
		if a.Note == "" {
			problems.Missing("note")
		}
	case Taken:
	default:
		problems.Wrong("state", "Must be one of: %s, %s, %s.", Questions, Taken, Refused)
	}
	check.Note(&problems, "note", a.Note)
	return noCard(problems.Err(), a.Note)
}

func unknownChannel(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Channel %d not found.", id)
}

func object(channelID int64) string { return fmt.Sprintf("channel %d", channelID) }

// audited is the audited part of a request.
func audited(r Request) any {
	return struct {
		State State  `json:"state"`
		Facts Facts  `json:"facts"`
		Note  string `json:"note"`
	}{r.State, r.Facts, r.Note}
}
