package people

import (
	"database/sql"
	"errors"
	"strings"

	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

const userColumns = `id, username, email, display_name, password_hash, operator, two_factor_secret,
	two_factor_confirmed_at, two_factor_last_step, refresh_generation, refresh_began_at, created_at, modified_at, proven`

// openMark separates a user name that still has to be chosen from the letters that make it unique. User names cannot contain it.
const openMark = "~"

func scanUser(scan func(dest ...any) error) (User, error) {
	var u User
	var confirmed sql.NullInt64
	var began, created, modified int64
	err := scan(&u.ID, &u.Username, &u.Email, &u.DisplayName, &u.PasswordHash, &u.Operator, &u.SealedTOTP,
		&confirmed, &u.TwoFactorLastStep, &u.RefreshGeneration, &began, &created, &modified, &u.Proven)
	u.Username, u.Open, _ = strings.Cut(u.Username, openMark)
	u.TwoFactorConfirmedAt, u.RefreshBeganAt = store.MaybeInstant(confirmed), store.Instant(began)
	u.CreatedAt, u.ModifiedAt = store.Instant(created), store.Instant(modified)
	return u, err
}

// InsertUser stores a new user and returns it with its id. The first refresh token of the user begins now.
func InsertUser(tx *store.Tx, u User) (User, error) {
	u.RefreshGeneration, u.RefreshBeganAt, u.CreatedAt, u.ModifiedAt = 1, tx.Now, tx.Now, tx.Now
	name := u.Username
	if u.Open != "" {
		name += openMark + u.Open
	}
	var err error
	if u.ID, err = tx.NextID("users", store.Deployment); err != nil {
		return u, err
	}
	_, err = tx.Exec(`INSERT INTO users (username, email, display_name, password_hash, operator, two_factor_secret,
			two_factor_last_step, refresh_generation, refresh_began_at, created_at, modified_at, proven, id)
		VALUES ($1, $2, $3, $4, $5, '', 0, $6, $7, $7, $7, $8, $9)`,
		name, u.Email, u.DisplayName, u.PasswordHash, u.Operator, u.RefreshGeneration, store.Micros(tx.Now), u.Proven, u.ID)
	return u, err
}

// User reads a user by id, or returns store.ErrNotFound.
func UserByID(tx *store.Tx, id int64) (User, error) {
	return scanUser(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+userColumns+` FROM users WHERE id = $1`, []any{id}, dest...)
	})
}

// UserNamed reads a user by name, which is in lower case, or returns store.ErrNotFound.
func UserNamed(tx *store.Tx, Username string) (User, error) {
	return scanUser(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+userColumns+` FROM users WHERE username = $1`, []any{Username}, dest...)
	})
}

// SetPasswordHash changes the password. Call it by sessions.ChangePassword, which ends what began with the old one.
func SetPasswordHash(tx *store.Tx, userID int64, hash string) error {
	return store.ExecOne(tx, `UPDATE users SET password_hash = $2, refresh_generation = refresh_generation + 1,
		refresh_began_at = $3, modified_at = $3 WHERE id = $1`, userID, hash, store.Micros(tx.Now))
}

// IsOpenAt reports whether a user of a site still has to choose a user name to replace the given one.
func IsOpenAt(tx *store.Tx, siteID int64, username string) (bool, error) {
	return store.Exists(tx, `SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.site_id = $1 AND substr(u.username, 1, length(CAST($2 AS TEXT))) = $2`, siteID, username+openMark)
}

// ChooseUsername changes a user's name permanently. If the name is taken, the error is Invalid for the field `username`.
func ChooseUsername(tx *store.Tx, userID int64, name string) error {
	var problems errs.Problems
	name = usernameOf(&problems, name)
	if err := problems.Err(); err != nil {
		return err
	}
	if user, err := UserNamed(tx, name); err == nil && user.ID != userID {
		return errs.WrongField("username", "This user name is already taken.")
	} else if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return store.ExecOne(tx, `UPDATE users SET username = $2, modified_at = $3 WHERE id = $1`, userID, name, store.Micros(tx.Now))
}

// Rename gives a user another name to show.
func Rename(tx *store.Tx, userID int64, name string) error {
	return store.ExecOne(tx, `UPDATE users SET display_name = $2, modified_at = $3 WHERE id = $1`, userID, name, store.Micros(tx.Now))
}

// SetAddress gives a user another e-mail address, which is proven.
func SetAddress(tx *store.Tx, userID int64, address string) error {
	return store.ExecOne(tx, `UPDATE users SET email = $2, proven = TRUE, modified_at = $3 WHERE id = $1`, userID, address, store.Micros(tx.Now))
}

// RehashPassword stores another hash of the same password, unless the stored hash was changed in the meantime.
func RehashPassword(tx *store.Tx, u User, hash string) error {
	_, err := tx.Exec(`UPDATE users SET password_hash = $2 WHERE id = $1 AND password_hash = $3`, u.ID, hash, u.PasswordHash)
	return err
}

// EndRefresh ends the refresh tokens of a generation, and with them all access tokens that came from them. If they have ended
// already, it returns store.ErrNotFound.
func EndRefresh(tx *store.Tx, userID, generation int64) error {
	return store.ExecOne(tx, `UPDATE users SET refresh_generation = refresh_generation + 1, refresh_began_at = $3
		WHERE id = $1 AND refresh_generation = $2`, userID, generation, store.Micros(tx.Now))
}

// BeginTwoFactor stores the sealed secret of a second factor that is not confirmed yet. If the user has a confirmed one, it
// returns store.ErrNotFound.
func BeginTwoFactor(tx *store.Tx, userID int64, sealed string) error {
	return store.ExecOne(tx, `UPDATE users SET two_factor_secret = $2, two_factor_last_step = 0, modified_at = $3
		WHERE id = $1 AND two_factor_confirmed_at IS NULL`, userID, sealed, store.Micros(tx.Now))
}

// ConfirmTwoFactor confirms the second factor with the code of a step, and stores the hashes of new recovery codes. If
// it is confirmed already, it returns store.ErrNotFound.
func ConfirmTwoFactor(tx *store.Tx, userID, step int64, hashes []string) error {
	err := store.ExecOne(tx, `UPDATE users SET two_factor_confirmed_at = $3, two_factor_last_step = $2, modified_at = $3,
			refresh_generation = refresh_generation + 1, refresh_began_at = $3
		WHERE id = $1 AND two_factor_confirmed_at IS NULL AND two_factor_secret <> ''`, userID, step, store.Micros(tx.Now))
	if err != nil {
		return err
	}
	for _, hash := range hashes {
		if _, err := tx.Exec(`INSERT INTO recovery_codes (user_id, hash) VALUES ($1, $2)`, userID, hash); err != nil {
			return err
		}
	}
	return nil
}

// RemoveTwoFactor removes the second factor of a user and its recovery codes.
func RemoveTwoFactor(tx *store.Tx, userID int64) error {
	err := store.ExecOne(tx, `UPDATE users SET two_factor_secret = '', two_factor_confirmed_at = NULL, two_factor_last_step = 0,
		modified_at = $2 WHERE id = $1`, userID, store.Micros(tx.Now))
	if err != nil {
		return err
	}
	_, err = tx.Exec(`DELETE FROM recovery_codes WHERE user_id = $1`, userID)
	return err
}

// UseStep uses up the codes of a step and of all steps before it. If they are used up already, it returns
// store.ErrNotFound.
func UseStep(tx *store.Tx, userID, step int64) error {
	return store.ExecOne(tx, `UPDATE users SET two_factor_last_step = $2 WHERE id = $1 AND two_factor_last_step < $2`, userID, step)
}

// UseRecoveryCode uses up one recovery code. If the user has no unused one with that hash, it returns store.ErrNotFound.
func UseRecoveryCode(tx *store.Tx, userID int64, hash string) error {
	return store.ExecOne(tx, `UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND hash = $2 AND used_at IS NULL`,
		userID, hash, store.Micros(tx.Now))
}

// SetMembership gives a user a role on a site, replacing any earlier role there. It does not accept an invitation.
func SetMembership(tx *store.Tx, m Membership) error {
	_, err := tx.Exec(`INSERT INTO memberships (site_id, user_id, role, can_sign_off_payout, created_at, accepted)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (site_id, user_id) DO UPDATE SET role = $3, can_sign_off_payout = $4`,
		m.SiteID, m.UserID, m.Role, m.CanSignOffPayout, store.Micros(tx.Now), m.Accepted)
	if err != nil {
		return err
	}
	return sites.Changed(tx, m.SiteID)
}

// AcceptInvitations records that a user has accepted the invitation to a site, or to all sites if siteID is 0.
func AcceptInvitations(tx *store.Tx, userID, siteID int64) error {
	_, err := tx.Exec(`UPDATE memberships SET accepted = TRUE WHERE user_id = $1 AND ($2 = 0 OR site_id = $2) AND NOT accepted`, userID, siteID)
	return err
}

// LockMembership keeps a user's access to a site until the write ends. Without access it returns store.ErrNotFound.
func LockMembership(tx *store.Tx, siteID, userID int64) error {
	return store.ExecOne(tx, `UPDATE memberships SET role = role WHERE site_id = $1 AND user_id = $2`, siteID, userID)
}

// RemoveMembership takes a user's access to a site away, or returns store.ErrNotFound.
func RemoveMembership(tx *store.Tx, siteID, userID int64) error {
	if err := store.ExecOne(tx, `DELETE FROM memberships WHERE site_id = $1 AND user_id = $2`, siteID, userID); err != nil {
		return err
	}
	return sites.Changed(tx, siteID)
}

// MembershipsOf reads the roles of a user on sites, in order of the sites' ids.
func MembershipsOf(tx *store.Tx, userID int64) ([]Membership, error) {
	var list []Membership
	err := tx.Query(`SELECT site_id, user_id, role, can_sign_off_payout, accepted FROM memberships WHERE user_id = $1 ORDER BY site_id`,
		[]any{userID}, func(scan func(dest ...any) error) error {
			var m Membership
			err := scan(&m.SiteID, &m.UserID, &m.Role, &m.CanSignOffPayout, &m.Accepted)
			list = append(list, m)
			return err
		})
	return list, err
}

// UnknownUser replaces store.ErrNotFound by the error that the user does not exist. It returns any other error as it is.
func UnknownUser(err error) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "User not found.")
}
