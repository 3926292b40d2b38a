package payments_test

import (
	"testing"
	"time"

	"holdfast/internal/apptest"
	"holdfast/internal/fault"
	"holdfast/internal/takeover"
	"holdfast/internal/travel"
)

// TestAnAuthorisationEndsWhenItsTimeIsOver: whoever asks finds it ended, although the job that ends authorisations has not
// run. Each reader is the first one who comes after the seven days.
func TestAnAuthorisationEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(travel.ModeProtectionOnly, "EUR")
		page := travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
		var b travel.Booking
		var a travel.Transaction
		listed := func(status travel.TransactionStatus) bool {
			list, err := w.App.Payments.List(t.Context(), w.Actor,
				travel.TransactionFilter{Bookings: []int64{b.ID}, Statuses: []travel.TransactionStatus{status}}, page)
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Items) == 1
		}
		late := func(row *travel.ImportedPayment) {
			row.Channel, row.ChannelID, row.Booking.ImportKey = "", c.ID, b.ImportKey
			row.Payment.EffectiveAt = w.Now().Truncate(time.Second)
		}
		for name, ended := range map[string]func() bool{
			"GET": func() bool {
				got := w.ReadTransaction(a.ID)
				return got.Status == travel.StatusExpired && got.TotalRemaining() == 0
			},
			"the list of expired ones":  func() bool { return listed(travel.StatusExpired) },
			"the list of complete ones": func() bool { return !listed(travel.StatusComplete) },
			"the booking":               func() bool { return w.ReadBooking(b.ID).Sums == (travel.BookingSums{}) },
			"the list of bookings": func() bool {
				list, err := w.App.Bookings.List(t.Context(), w.Actor,
					travel.BookingFilter{Include: []int64{b.ID}, Statuses: []travel.BookingStatus{travel.BookingAuthorized}}, page)
				return err == nil && len(list.Items) == 0
			},
			"a capture": func() bool {
				w.Refused(apptest.Linked(travel.Capture, a, b, 1), fault.NotPossible, "authorisation_expired")
				return true
			},
			"a void": func() bool {
				w.Refused(apptest.Linked(travel.Void, a, b, 1), fault.NotPossible, "authorisation_expired")
				return true
			},
			"a payment of all that the booking costs": func() bool {
				return w.Must(apptest.Report(travel.Purchase, b, 120_000)).Status == travel.StatusComplete
			},
			"a smaller total": func() bool {
				total := int64(1)
				_, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, travel.BookingFields{Total: &total})
				return err == nil
			},
			"an import": func() bool {
				report, refused := w.Imported(takeover.ImportOptions{}, apptest.ARow(2, "due", late, apptest.Paying(120_000)))
				return report.Payments.Created == 1 && len(refused) == 0
			},
		} {
			report, refused := w.Imported(takeover.ImportOptions{}, apptest.ARow(2, name, late, func(row *travel.ImportedPayment) {
				authorize := travel.Authorize
				row.Booking.ImportKey, row.Payment.Type = "B-"+name, &authorize
			}, apptest.Paying(120_000)))
			if report.Payments.Created != 1 {
				t.Fatalf("%s: %v", name, refused)
			}
			list, err := w.App.Payments.List(t.Context(), w.Actor, travel.TransactionFilter{Reference: "P-" + name}, page)
			if err != nil {
				t.Fatal(err)
			}
			a = list.Items[0]
			b = w.ReadBooking(a.Payments[0].BookingID)
			w.Advance(a.EffectiveAt.Add(travel.AuthorisationLife).Sub(w.Now()) - time.Microsecond)
			if listed(travel.StatusExpired) || w.ReadTransaction(a.ID).Status != travel.StatusComplete {
				t.Errorf("%s: it has ended too early", name)
			}
			w.Advance(time.Microsecond)
			if !ended() {
				t.Errorf("%s: the authorisation has not ended", name)
			}
			if got := w.ReadTransaction(a.ID); got.Status != travel.StatusExpired {
				t.Errorf("%s: it is %s afterwards", name, got.Status)
			}
		}
	})
}
