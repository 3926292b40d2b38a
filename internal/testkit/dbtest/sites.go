package dbtest

import (
	"testing"

	"holdfast/internal/account/people"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// ASite creates a site with this path and a member of it.
func ASite(t *testing.T, db *store.DB, path string) (merchant.Site, people.User) {
	t.Helper()
	var site merchant.Site
	var user people.User
	Write(t, db, func(tx *store.Tx) (err error) {
		site, err = InsertSite(tx, merchant.Site{Path: path, Name: "Site " + path, Policy: terms.DefaultPolicy("GBP")})
		if err != nil {
			return err
		}
		if user, err = people.InsertUser(tx, people.User{Username: "user-of-" + path, Email: "u@example.com"}); err != nil {
			return err
		}
		return people.SetMembership(tx, people.Membership{SiteID: site.ID, UserID: user.ID, Role: access.MemberAdmin, Accepted: true})
	})
	return site, user
}

// InsertSite creates a site with its first policy.
func InsertSite(tx *store.Tx, s merchant.Site) (merchant.Site, error) {
	made, err := sites.Insert(tx, s)
	if err == nil {
		made.Policy, err = merchants.InsertPolicy(tx, made.ID, s.Policy)
	}
	return made, err
}
