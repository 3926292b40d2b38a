package onboarding_test

import (
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

// TestAChannelThatIsKeptSaysWhatToDo: bookings in the trash are retained, and so is their channel. It can be closed
// instead, as the error says.
func TestAChannelThatIsKeptSaysWhatToDo(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		ctx := t.Context()
		admin := w.Actor
		admin.Role, admin.UserID = access.MemberAdmin, 7
		for _, mode := range []merchant.AccountMode{merchant.ModeTest, merchant.ModeDraft, merchant.ModeProtectionOnly} {
			c := w.Channel(mode, "GBP")
			made := w.Booking(c, 500, "2024-12-01")
			refused := func(when string) {
				t.Helper()
				for role, says := range map[access.Role]string{access.MemberAdmin: "ask the operator to close it", access.Operator: "Close it instead (account_mode closed)"} {
					by := admin
					by.Role = role
					err := w.App.Channels.Delete(ctx, by, c.ID, 0)
					apptest.WantKind(t, err, errs.InUse, when)
					if err == nil || !strings.Contains(err.Error(), "even in the trash") || !strings.Contains(err.Error(), says) {
						t.Errorf("%s, %s, %s: %v", mode, when, role, err)
					}
				}
			}
			refused("with a booking")
			if err := w.App.Bookings.Delete(ctx, admin, made.ID, 0); err != nil {
				t.Fatal(err)
			}
			refused("with one in the trash")
			closed := merchant.ModeClosed
			if _, err := w.App.Channels.Change(ctx, w.Actor, c.ID, merchant.ChannelFields{Mode: &closed}); err != nil {
				t.Errorf("closing a channel of the mode %s: %v", mode, err)
			}
			content, total := "A week", int64(500)
			_, err := w.App.Bookings.Create(ctx, w.Actor, booking.BookingFields{
				ChannelID: &c.ID, Content: &content, Firstname: &made.Firstname, Surname: &made.Surname, Email: &made.Email, End: &made.End, Total: &total,
				Currency: &made.Currency, Country: &made.Country,
			})
			apptest.WantKind(t, err, errs.Invalid, "a booking of a closed channel")
		}
		empty := w.Channel(merchant.ModeDraft, "GBP")
		if err := w.App.Channels.Delete(ctx, admin, empty.ID, 0); err != nil {
			t.Errorf("one that never had a booking: %v", err)
		}
	})
}
