package schedules

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Fields are the fields of a schedule. nil: unchanged.
type Fields struct {
	Problems   errs.Problems
	Name       *string
	View       *string
	Format     *Format
	Every      *Every
	On         *int64
	Recipients *[]string // user names
	Owner      *string   // for the command line, which has no user: whose permissions the report uses
	IfVersion  int64

	users []int64 // the recipients
}

// look generates a schedule's page once, so that no report is scheduled that cannot be created.
func (o *Schedules) look(ctx context.Context, actor access.Actor, in Fields) error {
	if o.Make == nil || in.View == nil || actor.UserID == 0 && in.Owner == nil {
		return nil
	}
	view, problem := tidy(*in.View)
	if problem != "" {
		return errs.WrongField("view", "%s", problem)
	}
	userID := actor.UserID
	if userID == 0 { // the command line schedules it for a user
		owner, ok, err := o.ownerNamed(ctx, actor.SiteID, *in.Owner)
		if err != nil || !ok {
			return err // missing access is reported together with the other errors
		}
		userID = owner.ID
	}
	want := Want{UserID: userID, SiteID: actor.SiteID, View: view, Format: CSV, On: civil.DayOf(o.Clock().Add(actor.Ahead))}
	want.Since = want.On - 7
	if actor.SiteID != 0 {
		err := o.Store.Read(ctx, actor.SiteID, func(tx *store.Tx) error {
			site, err := sites.Alone(tx, actor.SiteID)
			want.Site = site.Path
			return err
		})
		if err != nil {
			return err
		}
	}
	_, err := o.Make(ctx, want)
	return err
}

// lookAgain generates the page of a changed schedule, if its page or its owner changes.
func (o *Schedules) lookAgain(ctx context.Context, actor access.Actor, id int64, in Fields) error {
	if in.View == nil && in.Owner == nil {
		return nil
	}
	if actor.UserID == 0 { // the command line: omitted fields stay as stored
		stored, _, err := o.Get(ctx, actor, id)
		if err != nil {
			return err
		}
		if in.View == nil {
			in.View = &stored.View
		}
		if in.Owner == nil {
			in.Owner = &stored.Owner
		}
	}
	return o.look(ctx, actor, in)
}

// momentary are the query values for a report's date or a list's page: scheduled reports have their own.
var momentary = []string{"as_of", "known_at", "from", "period", "page", "format"}

// ownerNamed returns a user by name, if they may see reports here.
func (o *Schedules) ownerNamed(ctx context.Context, siteID int64, name string) (user people.User, ok bool, err error) {
	err = o.Store.Read(ctx, siteID, func(tx *store.Tx) error {
		user, ok, err = reader(tx, siteID, name)
		return err
	})
	return user, ok, err
}

// tidy removes the date and empty values from a URL. problem is the URL's error.
func tidy(view string) (tidied, problem string) {
	u, err := url.Parse(strings.TrimSpace(view))
	switch {
	case len(view) > MaxView:
		return "", "The address is too long."
	case err != nil || u.Scheme != "" || u.Host != "" || u.Fragment != "" || !strings.HasPrefix(u.Path, "/") || strings.Contains(u.Path, ".."):
		return "", "Enter a page address, such as /exposure?by=channel."
	}
	values := u.Query()
	for name, list := range values {
		if slices.Contains(momentary, name) || len(list) == 1 && list[0] == "" {
			values.Del(name)
		}
	}
	if len(values) == 0 {
		return u.Path, ""
	}
	return u.Path + "?" + values.Encode(), ""
}

// on sets and validates the given fields of a schedule. With whole, all are required.
func (in *Fields) on(tx *store.Tx, actor access.Actor, o Schedule, whole bool) (Schedule, error) {
	problems := in.Problems.Clone()
	take(&problems, whole, "name", in.Name, &o.Name)
	take(&problems, whole, "view", in.View, &o.View)
	take(&problems, whole, "format", in.Format, &o.Format)
	take(&problems, whole, "every", in.Every, &o.Every)
	take(&problems, whole, "on", in.On, &o.On)
	check.Line(&problems, "name", o.Name)
	if in.View != nil {
		var problem string
		if o.View, problem = tidy(*in.View); problem != "" {
			problems.Wrong("view", "%s", problem)
		}
	}
	if in.Format != nil && o.Format != CSV && o.Format != XLSX {
		problems.Wrong("format", "Must be one of %s, %s.", CSV, XLSX)
	}
	if in.Every != nil && o.Every != Week && o.Every != Month {
		problems.Wrong("every", "Must be one of %s, %s.", Week, Month)
	}
	if most := map[Every]int64{Week: 7, Month: 31}[o.Every]; most > 0 && (o.On < 1 || o.On > most) && !problems.Has("on") {
		problems.Wrong("on", "Enter a number from 1 to %d.", most)
	}
	if err := in.owner(tx, actor, &o, whole, &problems); err != nil {
		return o, err
	}
	if err := in.recipients(tx, actor, &o, whole, &problems); err != nil {
		return o, err
	}
	if card.HoldsCardNumber(o.Name) || card.HoldsCardNumber(o.View) {
		problems.Wrong("name", "This contains a card number.")
	}
	return o, problems.Err()
}

// take sets a field if it was given.
func take[T ~string | ~int64](p *errs.Problems, whole bool, name string, given *T, to *T) {
	var zero T
	switch {
	case given != nil && *given != zero:
		*to = *given
	case (given != nil || whole) && !p.Has(name):
		p.Missing(name)
	}
}

// owner sets whose permissions a report is created with: those of the person who schedules it. The program itself names a person.
func (in *Fields) owner(tx *store.Tx, actor access.Actor, o *Schedule, whole bool, problems *errs.Problems) error {
	if actor.UserID != 0 {
		if in.Owner != nil && !strings.EqualFold(strings.TrimSpace(*in.Owner), actor.Username) {
			problems.Wrong("owner", "The report uses the permissions of the person who schedules it: %s.", actor.Username)
		}
		if whole {
			o.OwnerID, o.Owner = actor.UserID, actor.Username
		}
		return nil
	}
	if in.Owner == nil {
		if whole {
			problems.Missing("owner")
		}
		return nil
	}
	user, ok, err := reader(tx, actor.SiteID, *in.Owner)
	if err != nil {
		return err
	}
	if !ok {
		problems.Wrong("owner", "%s does not have access to this report.", *in.Owner)
	}
	o.OwnerID, o.Owner = user.ID, user.Username
	return nil
}

// recipients resolves the people who receive a report: each must be able to see it. Other e-mail addresses are not allowed:
// their access could never be checked.
func (in *Fields) recipients(tx *store.Tx, actor access.Actor, o *Schedule, whole bool, problems *errs.Problems) error {
	if in.Recipients == nil || len(*in.Recipients) == 0 {
		if whole || in.Recipients != nil {
			problems.Missing("recipients")
		}
		return nil
	}
	if len(*in.Recipients) > MaxRecipients {
		problems.Wrong("recipients", "Enter at most %d people.", MaxRecipients)
		return nil
	}
	o.Recipients, in.users = nil, nil
	for _, name := range *in.Recipients {
		user, ok, err := reader(tx, actor.SiteID, name)
		switch {
		case err != nil:
			return err
		case !ok: // the same for unknown users, so that user names cannot be probed
			problems.Wrong("recipients", "%s is not a user with access to this report. Enter user names.", name)
		case !slices.Contains(in.users, user.ID):
			in.users, o.Recipients = append(in.users, user.ID), append(o.Recipients, user.Username)
		}
	}
	return nil
}

// reader finds a user by name who may see reports of a site, or with 0 of all sites.
func reader(tx *store.Tx, siteID int64, name string) (user people.User, ok bool, err error) {
	user, err = people.UserNamed(tx, strings.ToLower(strings.TrimSpace(name)))
	if err == nil {
		_, ok, err = accessOf(tx, siteID, user)
	}
	if errors.Is(err, store.ErrNotFound) {
		return user, false, nil
	}
	return user, ok, err
}

// accessOf returns a user's current access to a site. ok means that they may see its reports. Invited users without a password may not.
func accessOf(tx *store.Tx, siteID int64, user people.User) (actor access.Actor, ok bool, err error) {
	if siteID == 0 {
		actor, _ = user.ActorAt(people.Membership{})
	} else if actor, err = sessions.AccessNow(tx, siteID, user.ID, 0); errors.Is(err, store.ErrNotFound) {
		return actor, false, nil
	} else if err == nil {
		actor.SiteID = siteID
	}
	return actor, err == nil && may(actor) == nil && !secrets.NoPassword(user.PasswordHash), err
}

// ownerOf checks whether the person who scheduled a report may still see it. reason says why not.
func ownerOf(tx *store.Tx, o Schedule) (user people.User, reason string, err error) {
	user, err = people.UserByID(tx, o.OwnerID)
	if err == nil {
		var ok bool
		if _, ok, err = accessOf(tx, o.SiteID, user); err == nil && !ok {
			return user, user.Username + " scheduled this report but can no longer view it.", nil
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return user, "The person who scheduled this report no longer has access.", nil
	}
	return user, "", err
}
