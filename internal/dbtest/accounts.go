package dbtest

import (
	"testing"

	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/identity"
	"holdfast/internal/travel"
)

// Write runs fn in a write that must succeed.
func Write(t *testing.T, db *db.DB, fn func(tx *db.Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// Read runs fn in a read that must succeed.
func Read(t *testing.T, db *db.DB, fn func(tx *db.Tx) error) {
	t.Helper()
	if err := db.Read(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// ASite makes a site with that path and a user who is a member of it.
func ASite(t *testing.T, database *db.DB, path string) (travel.Site, auth.User) {
	t.Helper()
	var site travel.Site
	var user auth.User
	Write(t, database, func(tx *db.Tx) (err error) {
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
