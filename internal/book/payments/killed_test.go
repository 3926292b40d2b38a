package payments_test

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"holdfast/internal/app"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"

	"github.com/google/uuid"
)

// killedVariable makes this test program the process that is killed: it has the database, and the ids of site, channel
// and bookings.
const killedVariable = "HOLDFAST_TEST_KILLED"

// kills is how often a program is killed on each engine. `make torture` kills the real one some hundred times.
const kills = 2

// TestAProcessIsKilled has another process write payments for some bookings, kills it at a random moment, and looks for
// acknowledged payments. Then each payment is repeated, like a client that does not know the outcome.
func TestAProcessIsKilled(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		var bookings []booking.Booking
		arguments := fmt.Sprint(w.URL, " ", w.Site.ID, " ", c.ID)
		for range 3 {
			b := w.Booking(c, 1_000_000, "2024-08-31")
			bookings = append(bookings, b)
			arguments += fmt.Sprint(" ", b.ID)
		}
		random := mathrand.New(mathrand.NewPCG(1, 1))
		asked, sums := 0, map[int64]int64{}
		for round := range kills {
			arguments := fmt.Sprint(arguments, " ", round)
			known := killAfter(t, arguments, 1+random.IntN(8))
			for i, b := range bookings {
				for n := 0; ; n++ {
					in := movedPart(c.ID, b.ID, round, i, n)
					before := stored(t, w, in.Reference)
					id, acknowledged := known[in.Reference]
					if acknowledged && (len(before) != 1 || before[0].ID != id) {
						t.Errorf("%s was acknowledged as %d, and is stored as %v", in.Reference, id, before)
					}
					w.Must(in) // again, or for the first time
					after := stored(t, w, in.Reference)
					if len(after) != 1 || len(before) == 1 && before[0].ID != after[0].ID {
						t.Errorf("%s is stored as %v, and was as %v before it was asked for again", in.Reference, after, before)
					}
					asked++
					sums[b.ID] += *in.Total
					if !acknowledged { // the last one that the other process asked for
						break
					}
				}
			}
		}
		for _, b := range bookings {
			if got := w.ReadBooking(b.ID); got.Total-got.Unpaid() != sums[b.ID] {
				t.Errorf("of booking %d is open %d, and the payments come to %d", b.ID, got.Unpaid(), sums[b.ID])
			}
		}
		list, err := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{}, apptest.Everything)
		if err != nil || len(list.Items) != asked {
			t.Errorf("%d transactions, want %d; %v", len(list.Items), asked, err)
		}
	})
}

// payment is the nth payment for a booking in a round.
func movedPart(channel, b int64, round, i, n int) payment.NewTransaction {
	in := apptest.Report(payment.Purchase, booking.Booking{ID: b, ChannelID: channel, Currency: "EUR"}, int64(100+n))
	in.Reference = fmt.Sprintf("K-%d-%d-%d", round, i, n)
	return in
}

func stored(t *testing.T, w *apptest.World, reference string) []payment.Transaction {
	t.Helper()
	list, err := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{Reference: reference}, apptest.Everything)
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// killAfter starts the other process, and kills it after so many acknowledgements. It returns the ids of acknowledged
// payments by reference.
func killAfter(t *testing.T, arguments string, after int) map[string]int64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheOneThatIsKilled$")
	cmd.Env = append(os.Environ(), killedVariable+"="+arguments)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]int64{}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		var reference string
		var id int64
		// The last line may be truncated: then the response did not arrive.
		if _, bad := fmt.Sscanf(line, "stored %s %d\n", &reference, &id); bad == nil && strings.HasSuffix(line, "\n") {
			known[reference] = id
		} else if err == nil {
			t.Errorf("the other process says %q", line)
		}
		if len(known) == after {
			_ = cmd.Process.Kill() // it has ended, if it is not there
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // it was killed
	if len(known) < after {
		t.Fatalf("the other process ended after %d payments", len(known))
	}
	return known
}

// TestTheOneThatIsKilled is the other process. It writes until it is killed, and prints what is stored. Without the
// variable set by TestAProcessIsKilled it does nothing.
func TestTheOneThatIsKilled(t *testing.T) {
	arguments := strings.Fields(os.Getenv(killedVariable))
	if len(arguments) == 0 {
		return
	}
	var site, channel, round int64
	var bookings [3]int64
	_, err := fmt.Sscan(strings.Join(arguments[1:], " "), &site, &channel, &bookings[0], &bookings[1], &bookings[2], &round)
	if err != nil {
		t.Fatal(err)
	}
	w := &apptest.World{}
	w.SetClock(apptest.Began)
	service := app.New(app.Config{
		Store: dbtest.Open(t, arguments[0], w.Now), Clock: w.Now, Random: rand.Reader, NewUUID: uuid.NewString,
		Log: slog.New(slog.DiscardHandler), Keys: apptest.Keys,
	})
	var work sync.WaitGroup
	var mu sync.Mutex
	for i, booking := range bookings {
		work.Go(func() {
			for n := range 1000 {
				in := movedPart(channel, booking, int(round), i, n)
				made, _, err := service.Payments.Create(t.Context(), access.System(site), in)
				if err != nil {
					t.Errorf("%s: %v", in.Reference, err)
					return
				}
				mu.Lock()
				_, _ = io.WriteString(os.Stdout, fmt.Sprintf("stored %s %d\n", in.Reference, made.ID)) // the other side counts
				mu.Unlock()
			}
		})
	}
	work.Wait()
}
