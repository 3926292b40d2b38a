package dbtest

import (
	"testing"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/identity"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

// ASite makes a site with that path and a user who is a member of it.
func ASite(t *testing.T, store *db.DB, path string) (travel.Site, auth.User) {
	t.Helper()
	var site travel.Site
	var user auth.User
	Write(t, store, func(tx *db.Tx) (err error) {
		site, err = InsertSite(tx, travel.Site{Path: path, Name: "Site " + path, Policy: travel.DefaultPolicy("GBP")})
		if err != nil {
			return err
		}
		if user, err = identity.InsertUser(tx, auth.User{Username: "user-of-" + path, Email: "u@example.com"}); err != nil {
			return err
		}
		return identity.SetMembership(tx, auth.Membership{SiteID: site.ID, UserID: user.ID, Role: auth.MemberAdmin})
	})
	return site, user
}

// InsertSite makes a site with its first policy.
func InsertSite(tx *db.Tx, s travel.Site) (travel.Site, error) {
	made, err := core.InsertSite(tx, s)
	if err == nil {
		made.Policy, err = merchants.InsertPolicy(tx, made.ID, s.Policy)
	}
	return made, err
}
