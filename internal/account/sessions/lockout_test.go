package sessions_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"

	"github.com/pquerna/otp/totp"
)

// attack sends failed logins for a name from an address.
func attack(t *testing.T, h *apptest.House, name, address string, times int) {
	t.Helper()
	for range times {
		_, err := h.Sessions.Login(t.Context(), sessions.Login{Username: name, Password: "a guess of twelve", Address: address})
		if !errs.Is(err, errs.LoginFailed) && !errs.Is(err, errs.TooMany) {
			t.Fatalf("a guess is answered with %v", err)
		}
	}
}

func logIn(t *testing.T, h *apptest.House, in sessions.Login, want errs.Kind, what string) sessions.Session {
	t.Helper()
	in.Password = apptest.GoodPassword
	session, err := h.Sessions.Login(t.Context(), in)
	apptest.WantKind(t, err, want, what)
	return session
}

// The attack: fifteen failures from anywhere locked an account for 15 minutes, and one more each 15 minutes kept it locked.
func TestNobodyLocksAnotherOut(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		h.User(t, "ada", access.MemberAdmin)
		for i := range 2 * sessions.AttackFailures {
			attack(t, h, "ada", fmt.Sprintf("203.0.113.%d", i), 1)
		}
		attack(t, h, "ada", "198.51.100.1", 15)
		logIn(t, h, sessions.Login{Username: "ada", Address: "198.51.100.1"}, errs.TooMany, "the attacker's own address")
		logIn(t, h, sessions.Login{Username: "ada", Address: "192.0.2.7"}, errs.Internal, "a new device of the owner")
		logIn(t, h, sessions.Login{Username: "Ada", Address: ""}, errs.Internal, "the owner at the command line")
	})
}

// The attack: behind an unconfigured proxy all clients have one address, and one of them locked out all others.
func TestAnAddressThatAllShareHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		const proxy = "10.0.0.1"
		h.User(t, "ada", access.MemberAdmin)
		h.User(t, "bob", access.MemberAdmin)
		known := logIn(t, h, sessions.Login{Username: "ada", Address: "192.0.2.7"}, errs.Internal, "the first login")
		for i := range 2 * sessions.AttackFailures {
			attack(t, h, fmt.Sprintf("nobody %d", i), proxy, 1)
		}
		attack(t, h, "ada", proxy, 15)
		ada := sessions.Login{Username: "ada", Address: proxy}
		logIn(t, h, sessions.Login{Username: "bob", Address: proxy}, errs.Internal, "whoever has not failed")
		logIn(t, h, ada, errs.TooMany, "the account that is attacked, on a new device")
		for why, device := range map[string]string{
			"no device": "", "nonsense": "eyJ", "an access token": known.Token, "a refresh token": known.RefreshToken,
		} {
			ada.Devices = []string{device}
			logIn(t, h, ada, errs.TooMany, why)
		}
		ada.Devices = []string{"eyJ", known.Device}
		again := logIn(t, h, ada, errs.Internal, "on a device that has logged in before")
		bob := sessions.Login{Username: "bob", Address: proxy, Devices: []string{known.Device}}
		attack(t, h, "bob", proxy, 15)
		logIn(t, h, bob, errs.TooMany, "with the device of another user")

		// A device's own failures count, whatever its address.
		ada.Devices = []string{again.Device}
		for i := range 5 {
			wrong := ada
			wrong.Password, wrong.Address = "a guess of twelve", fmt.Sprintf("192.0.2.%d", i)
			_, err := h.Sessions.Login(t.Context(), wrong)
			apptest.WantKind(t, err, errs.LoginFailed, "a guess on a known device")
		}
		logIn(t, h, ada, errs.TooMany, "a known device that guesses")
		h.Now.Move(credentials.DeviceLifetime)
		attack(t, h, "ada", proxy, 15)
		logIn(t, h, ada, errs.TooMany, "a device that was known long ago")
	})
}

// An address that tries many accounts has one try for each.
func TestOneTryForWhoGuessesEverywhere(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		h.User(t, "ada", access.MemberAdmin)
		ada := sessions.Login{Username: "ada", Address: "2001:db8::1"}
		attack(t, h, "ada", ada.Address, 1)
		logIn(t, h, ada, errs.Internal, "after one failure")
		for i := range sessions.AttackFailures { // from one network of IPv6
			attack(t, h, fmt.Sprintf("nobody %d", i), fmt.Sprintf("2001:db8::%x", i), 1)
		}
		attack(t, h, "ada", ada.Address, 1)
		logIn(t, h, ada, errs.TooMany, "after one failure at an address that guesses")
		h.Now.Move(time.Second)
		logIn(t, h, ada, errs.Internal, "a second later")
	})
}

func TestTheRightCodeOfASecondFactorDoesNotWait(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ada := h.User(t, "ada", access.Operator)
		secret, _, err := h.Accounts.BeginTwoFactor(t.Context(), access.System(1), ada.ID)
		apptest.WantKind(t, err, errs.Internal, "the secret")
		code := func() string {
			text, err := totp.GenerateCode(secret, h.Now.Read())
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		_, err = h.Accounts.ConfirmTwoFactor(t.Context(), access.System(1), ada.ID, code())
		apptest.WantKind(t, err, errs.Internal, "the confirmation")
		const proxy = "10.0.0.1"
		attack(t, h, "ada", proxy, 15)
		h.Now.Move(time.Minute)
		attack(t, h, "ada", proxy, 1)
		in := sessions.Login{Username: "ada", Address: proxy, Code: code()}
		logIn(t, h, sessions.Login{Username: "ada", Address: proxy, Code: "000000"}, errs.TooMany, "a wrong code")
		guess := in
		guess.Password = "a guess of twelve"
		_, err = h.Sessions.Login(t.Context(), guess)
		apptest.WantKind(t, err, errs.LoginFailed, "a right code with a wrong password")
		logIn(t, h, in, errs.TooMany, "the same code again: it was good for one password")
		h.Now.Move(time.Minute)
		attack(t, h, "ada", proxy, 1)
		in.Code = code()
		logIn(t, h, in, errs.Internal, "the right code")
	})
}

// TestALinkWaitsWithLogins: passwords from links share the hashing limit with logins.
func TestALinkWaitsWithLogins(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		in := people.UserFields{Username: "eve", Email: "eve@example.com"}
		_, secret, err := h.Links.Invite(t.Context(), access.System(1), in, access.ReadOnly, false)
		apptest.WantKind(t, err, errs.Internal, "an invitation")
		empty := h.Sessions.FillHashing()
		err = h.Links.Choose(t.Context(), secret, "", "short", "192.0.2.7")
		apptest.WantKind(t, err, errs.Invalid, "what needs no hash")
		err = h.Links.Choose(t.Context(), secret, "", "a password of my own", "192.0.2.7")
		apptest.WantKind(t, err, errs.TooMany, "with too many from the address")
		empty()
		err = h.Links.Choose(t.Context(), secret, "", "a password of my own", "192.0.2.7")
		apptest.WantKind(t, err, errs.Internal, "after them")
	})
}

// TestWrongCodesCountForTheAccount: the second factor cannot be guessed from many addresses by someone with the
// password.
func TestWrongCodesCountForTheAccount(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		ada := h.User(t, "ada", access.Operator)
		before, err := h.Login(t, "ada", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "a login before")
		secret, _, err := h.Accounts.BeginTwoFactor(t.Context(), access.System(1), ada.ID)
		apptest.WantKind(t, err, errs.Internal, "the secret")
		code := func() string {
			text, err := totp.GenerateCode(secret, h.Now.Read())
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		_, err = h.Accounts.ConfirmTwoFactor(t.Context(), access.System(1), ada.ID, code())
		apptest.WantKind(t, err, errs.Internal, "the confirmation")
		_, err = h.Sessions.Refresh(t.Context(), "", before.RefreshToken)
		apptest.WantKind(t, err, errs.JWTInvalid, "a refresh token from before the second factor")
		h.Now.Move(time.Minute)
		try := func(n int, code string, kind errs.Kind) {
			t.Helper()
			logIn(t, h, sessions.Login{Username: "ada", Address: fmt.Sprintf("10.0.0.%d", n), Code: code}, kind, fmt.Sprint("from address ", n))
		}
		for n := range 5 { // the fifth one makes the next wait
			try(n, "000000", errs.TwoFactorInvalid)
		}
		try(10, "000000", errs.TooMany)
		try(11, code(), errs.TooMany)
		try(12, "", errs.TwoFactorRequired) // without a code, one is requested
		_, err = h.Login(t, "ada", "a guess of twelve")
		apptest.WantKind(t, err, errs.LoginFailed, "who has no password learns nothing")
		h.Now.Move(2 * time.Second)
		try(13, code(), errs.Internal)
		h.Now.Move(time.Minute)
		for n := range 4 {
			try(20+n, "000000", errs.TwoFactorInvalid)
		}
		try(30, code(), errs.Internal) // the count restarted with the success
	})
}
