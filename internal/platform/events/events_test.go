package events_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

// Many writers and one reader: see TestAReaderMissesNothing.
const (
	writers      = 8
	writesOfEach = 12
)

// TestAReaderMissesNothing: while many write concurrently, and commit in any order, a reader that follows the cursor
// sees each event once, and those of one object in the order of their writes.
func TestAReaderMissesNothing(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Events.Batch = 3
		var group sync.WaitGroup
		written := make(chan struct{})
		for n := range writers {
			group.Go(func() {
				for i := range writesOfEach {
					err := w.App.DB.WriteAs(t.Context(), w.Actor, func(tx *store.Tx) error { return interleaved(tx, int64(n), i) })
					if err != nil {
						t.Error(err)
					}
					if n%2 == 0 { // several processes assign positions at the same time
						if _, err := w.App.Events.Place(t.Context(), w.Site.ID); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		go func() { group.Wait(); close(written) }()
		seen, after, last := map[string]int{}, "", map[int64]string{}
		for over := false; ; {
			page, err := w.App.Events.List(t.Context(), w.Actor, events.Filter{After: after, Size: 5, Types: []string{"booking.updated"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Items {
				seen[fmt.Sprintf("%d %s", e.ObjectID, e.Details)]++
				if string(e.Details) <= last[e.ObjectID] {
					t.Errorf("of object %d %s comes after %s", e.ObjectID, e.Details, last[e.ObjectID])
				}
				last[e.ObjectID] = string(e.Details)
			}
			after = page.Next
			if over && !page.More && len(page.Items) == 0 {
				break
			}
			select {
			case <-written:
				over = true
			default:
			}
		}
		for name, times := range seen {
			if times != 1 {
				t.Errorf("%s was seen %d times", name, times)
			}
		}
		if len(seen) != writers*writesOfEach {
			t.Errorf("%d events were seen, %d were written", len(seen), writers*writesOfEach)
		}
		var rows, different, highest, head int
		err := w.App.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*), COUNT(DISTINCT e.position), MAX(e.position), MAX(h.position)
				FROM events e JOIN event_heads h ON h.site_id = e.site_id`, nil, &rows, &different, &highest, &head)
		})
		if err != nil || rows != writers*writesOfEach || different != rows || highest != rows || head != rows {
			t.Errorf("%d events have %d positions up to %d, and the head says %d; %v", rows, different, highest, head, err)
		}
	})
}

// interleaved writes an event and draws its id at once; the commit comes later. Of two writers the one with the higher id
// is often first.
func interleaved(tx *store.Tx, object int64, i int) error {
	events.Record(tx, 1, event.BookingUpdated, object+1, event.Details{Status: fmt.Sprintf("%03d", i)})
	if err := tx.QueryRow(`SELECT 1`, nil, new(int64)); err != nil {
		return err
	}
	for range (object * 7) % 5 * 3 { // some commit sooner than others
		var one int
		if err := tx.QueryRow(`SELECT 1`, nil, &one); err != nil {
			return err
		}
	}
	return nil
}

// TestAnEarlierIDThatIsSeenLater: a write that draws its id first and commits last is last in the feed.
func TestAnEarlierIDThatIsSeenLater(t *testing.T) {
	t.Parallel()
	// SQLite has one writer, so its ids are drawn in the order of the commits.
	w := apptest.NewWorld(t, dbtest.Engines[1].Database(t))
	drawn, committed := make(chan struct{}), make(chan struct{})
	slow := make(chan error)
	go func() {
		slow <- w.App.DB.WriteAs(t.Context(), w.Actor, func(tx *store.Tx) error {
			events.Record(tx, w.Site.ID, event.BookingUpdated, 1, event.Details{})
			err := tx.QueryRow(`SELECT 1`, nil, new(int64))
			close(drawn)
			<-committed
			return err
		})
	}()
	<-drawn
	record(t, w, 2)
	first := read(t, w, "")
	close(committed)
	if err := <-slow; err != nil {
		t.Fatal(err)
	}
	second := read(t, w, first.Next)
	if len(first.Items) != 1 || first.Items[0].ObjectID != 2 || len(second.Items) != 1 || second.Items[0].ObjectID != 1 {
		t.Fatalf("first %+v, then %+v", first.Items, second.Items)
	}
	if second.Items[0].ID >= first.Items[0].ID {
		t.Error("the ids were drawn in the order of the commits: the test shows nothing")
	}
}

func record(t *testing.T, w *apptest.World, objects ...int64) {
	t.Helper()
	err := w.App.DB.WriteAs(t.Context(), w.Actor, func(tx *store.Tx) error {
		for _, id := range objects {
			events.Record(tx, w.Site.ID, event.BookingUpdated, id, event.Details{})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, w *apptest.World, after string) events.Page {
	t.Helper()
	page, err := w.App.Events.List(t.Context(), w.Actor, events.Filter{After: after, Size: events.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestEventsOfASavepointThatIsTakenBack: rolled-back events are not in the feed, and all others are there once.
func TestEventsOfASavepointThatIsTakenBack(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		refused := errors.New("refused")
		err := w.App.DB.WriteAs(t.Context(), w.Actor, func(tx *store.Tx) error {
			put := func(id int64) { events.Record(tx, w.Site.ID, event.BookingUpdated, id, event.Details{}) }
			put(1)
			put(1)
			err := tx.Savepoint(func() error { put(2); return refused })
			put(3)
			if !errors.Is(err, refused) {
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if page := read(t, w, ""); len(page.Items) != 2 || page.Items[0].ObjectID != 1 || page.Items[1].ObjectID != 3 {
			t.Errorf("in the feed: %+v", page.Items)
		}
	})
}

// TestAnEventOfAWriteIsStoredOnce, however many others there are, and though some are stored before the end of the write.
func TestAnEventOfAWriteIsStoredOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		const many = 20
		err := w.App.DB.WriteAs(t.Context(), w.Actor, func(tx *store.Tx) error {
			for last := int64(1); last <= many; last++ {
				for id := int64(1); id <= last; id++ {
					events.Record(tx, w.Site.ID, event.BookingUpdated, id, event.Details{})
				}
				if last%3 == 0 {
					if err := tx.QueryRow(`SELECT 1`, nil, new(int64)); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		committed := map[int64]int{}
		for _, e := range read(t, w, "").Items {
			committed[e.ObjectID]++
		}
		for id := int64(1); id <= many; id++ {
			if committed[id] != 1 {
				t.Errorf("event %d is stored %d times", id, committed[id])
			}
		}
	})
}

// TestAQuietSiteIsNotWritten: if all events have positions, readers do not wait for the holder of the feed.
func TestAQuietSiteIsNotWritten(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		record(t, w, 1)
		read(t, w, "")
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			if _, err := tx.Exec(`UPDATE event_heads SET position = position`); err != nil {
				return err
			}
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Second) // only a defect waits for it
			defer stop()
			placed, err := w.App.Events.Place(ctx, w.Site.ID)
			if placed != 0 {
				t.Errorf("%d are placed", placed)
			}
			return err
		})
	})
}

// TestOldEventsAreRemoved: after 90 days by the real clock, in batches. A cursor before them is rejected with the
// oldest one; all others continue.
func TestOldEventsAreRemoved(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Events.Batch = 2
		record(t, w, 1, 2, 3)
		early := read(t, w, "")
		if len(early.Items) != 3 {
			t.Fatalf("%+v", early.Items)
		}
		begin, err := w.App.Events.List(t.Context(), w.Actor, events.Filter{Size: 1})
		if err != nil || len(begin.Items) != 1 || !begin.More {
			t.Fatalf("%+v, %v", begin, err)
		}
		w.Advance(89 * 24 * time.Hour)
		record(t, w, 4)
		read(t, w, "")
		if more, err := w.App.Events.Forget(t.Context()); err != nil || more || len(read(t, w, begin.Next).Items) != 3 {
			t.Fatalf("after 89 days: %v, %v", more, err)
		}
		w.Advance(2 * 24 * time.Hour)
		for want := true; ; want = false { // the second piece has one event that is due
			more, err := w.App.Events.Forget(t.Context())
			if err != nil || more != want {
				t.Fatalf("more is %v, %v", more, err)
			}
			if !more {
				break
			}
		}
		_, err = w.App.Events.List(t.Context(), w.Actor, events.Filter{After: begin.Next, Size: 1})
		gone, ok := errors.AsType[*errs.Error](err)
		if !ok || gone.Kind != errs.CursorGone {
			t.Fatalf("a cursor in front of removed events: %v", err)
		}
		for _, after := range []string{"", gone.Oldest, early.Next} {
			if page := read(t, w, after); len(page.Items) != 1 || page.Items[0].ObjectID != 4 {
				t.Errorf("after %q: %+v", after, page.Items)
			}
		}
	})
}

// TestASiteWhoseEventsStayStopsNoOther: an error at one site is reported, and the old events of the next one are
// deleted.
func TestASiteWhoseEventsStayStopsNoOther(t *testing.T) {
	t.Parallel()
	pgtest.NotOverNodes(t)
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		record(t, w, 1)
		other := apptest.Over(t, w, w.App.DB.Store)
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) (err error) {
			other.Site, err = dbtest.InsertSite(tx, merchant.Site{Path: "beside", Name: "Beside", Sandbox: true, Policy: terms.DefaultPolicy("GBP")})
			return err
		})
		other.Actor = access.System(other.Site.ID)
		record(t, other, 1)
		held := read(t, w, "").Items[0]
		begin := read(t, other, "")
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error { // something refers to the event of the first site
			_, err := tx.Exec(`CREATE UNIQUE INDEX events_held ON events (site_id, id)`) // for SQLite, which has none
			if err == nil {
				_, err = tx.Exec(`CREATE TABLE held (site_id BIGINT, id BIGINT, FOREIGN KEY (site_id, id) REFERENCES events (site_id, id))`)
			}
			if err == nil {
				_, err = tx.Exec(`INSERT INTO held (site_id, id) VALUES ($1, $2)`, held.SiteID, held.ID)
			}
			return err
		})
		w.Advance(events.Kept + time.Second)
		if _, err := w.App.Events.Forget(t.Context()); err == nil || !strings.Contains(err.Error(), "old events of site 1:") {
			t.Errorf("no error is reported: %v", err)
		}
		if n := len(read(t, w, "").Items); n != 1 {
			t.Errorf("the first site has %d events", n)
		}
		if page := read(t, other, ""); len(page.Items) != 0 || page.Next != begin.Next {
			t.Errorf("the other site has %+v", page)
		}
	})
}

// TestLastID: all events up to now have ids up to it, and the next one has a higher one. Only a restore uses it.
func TestLastID(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		record(t, w, 1)
		var last int64
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) (err error) {
			last, err = events.LastID(tx)
			return err
		})
		record(t, w, 2)
		if found := read(t, w, "").Items; len(found) != 2 || found[0].ID > last || found[1].ID <= last {
			t.Errorf("%d is behind the first of %+v", last, found)
		}
	})
}

// TestACursorFromBeforeARestore: positions may refer to other events.
func TestACursorFromBeforeARestore(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		none := read(t, w, "now")
		record(t, w, 1)
		page := read(t, w, none.Next)
		if len(page.Items) != 1 {
			t.Fatalf("behind the cursor of an empty feed: %+v", page.Items)
		}
		w.Advance(time.Second)
		if err := w.App.DB.Store.Write(t.Context(), store.Deployment, events.Restored); err != nil {
			t.Fatal(err)
		}
		_, err := w.App.Events.List(t.Context(), w.Actor, events.Filter{After: page.Next, Size: 1})
		if !errs.Is(err, errs.CursorGone) {
			t.Errorf("a cursor from before: %v", err)
		}
		if again := read(t, w, ""); len(again.Items) != 1 || again.Next == page.Next {
			t.Errorf("from the oldest: %+v", again)
		}
	})
}

// TestEventsAreForThoseWhoMayReadTheirObjects: statements and disputes need finance, and a token that is
// limited to reading sees no limits.
func TestEventsAreForThoseWhoMayReadTheirObjects(t *testing.T) {
	t.Parallel()
	disputes := []event.Type{event.DisputeOpened, event.DisputeUpdated, event.DisputeClosed, event.DisputeDue}
	for _, c := range []struct {
		role      access.Role
		abilities string
		hidden    []event.Type
	}{
		{access.Operator, "", nil},
		{access.Finance, "", nil},
		{access.ReadOnly, "", append([]event.Type{event.StatementIssued, event.StatementPaid}, disputes...)},
		{access.Operator, "read", append([]event.Type{
			event.LimitCrossed, event.StatementIssued, event.StatementPaid, event.ProposalOpened, event.ProposalDecided,
		}, disputes...)},
	} {
		actor := access.Actor{SiteID: 1, Role: c.role}
		actor.Abilities = access.ParseAbilities(c.abilities)
		readable := event.Readable(actor, event.Types)
		if len(readable)+len(c.hidden) != len(event.Types) {
			t.Errorf("%s %q reads %v", c.role, c.abilities, readable)
		}
		for _, kind := range readable {
			for _, hidden := range c.hidden {
				if kind == hidden {
					t.Errorf("%s %q reads %s", c.role, c.abilities, kind)
				}
			}
		}
	}
}

// TestAnotherSiteHasAFeedOfItsOwn: its events are not seen, and its positions do not move.
func TestAnotherSiteHasAFeedOfItsOwn(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		other := sites.Clock{SiteID: w.Site.ID + 1}
		err := w.App.DB.WriteBy(t.Context(), sites.ClockFor(w.Actor), func(tx *store.Tx) error {
			events.Record(tx, other.SiteID, event.BookingUpdated, 1, event.Details{})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		record(t, w, 2)
		if page := read(t, w, ""); len(page.Items) != 1 || page.Items[0].Position != 1 || page.Items[0].ObjectID != 2 {
			t.Errorf("%+v", page.Items)
		}
	})
}
