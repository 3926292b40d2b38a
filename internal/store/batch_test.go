package store_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// leftRows are rows that a write of these tests leaves to its end, by table. Children refer to parents.
var (
	leftRows = store.NewLocal[struct{ parents, children [][]any }]()
	leaving  = store.NewDeferral(func(tx *store.Tx) error {
		rows := leftRows.Of(tx)
		if err := tx.InsertRows("left_parents", "id", rows.parents); err != nil {
			return err
		}
		return tx.InsertRows("left_children", "parent", rows.children)
	}, "left_parents", "left_children")
)

// leave leaves a parent to the end of the write if it has an id, and a child of each of the others.
func leave(tx *store.Tx, parent int, of ...int) {
	rows := leftRows.Of(tx)
	if parent != 0 {
		rows.parents = append(rows.parents, []any{parent})
	}
	for _, id := range of {
		rows.children = append(rows.children, []any{id})
	}
	tx.Defer(leaving)
}

// onLeftTables runs a test on both engines, with the tables of leave.
func onLeftTables(t *testing.T, test func(t *testing.T, store *store.DB)) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		dbtest.Write(t, db, func(tx *store.Tx) error {
			if _, err := tx.Exec("CREATE TABLE left_parents (id BIGINT PRIMARY KEY)"); err != nil {
				return err
			}
			_, err := tx.Exec("CREATE TABLE left_children (parent BIGINT NOT NULL REFERENCES left_parents (id))")
			return err
		})
		test(t, db)
	})
}

// atOnce runs short writes that all wait for one transaction, in their order. It returns their errors, and the statements
// that ran. The transaction begins with one more write, which changes nothing and is refused.
func atOnce(t *testing.T, store *store.DB, writes ...func(tx *store.Tx) error) (errs []error, ran []dbtest.Statement) {
	t.Helper()
	return atOnceThen(t, store, func(int) {}, writes...)
}

// atOnceThen is atOnce, and tells which write was answered.
func atOnceThen(
	t *testing.T, store *store.DB, answer func(i int), writes ...func(tx *store.Tx) error,
) (errs []error, ran []dbtest.Statement) {
	t.Helper()
	calls := make([]func() error, len(writes))
	for i, write := range writes {
		calls[i] = func() error { return store.WriteShort(t.Context(), write) }
	}
	return callsAtOnce(t, store, answer, calls...)
}

// callsAtOnce is atOnceThen for calls that each make one short write.
func callsAtOnce(
	t *testing.T, db *store.DB, answer func(i int), calls ...func() error,
) (errs []error, ran []dbtest.Statement) {
	t.Helper()
	errs = make([]error, len(calls))
	ran = dbtest.Statements(db, func() {
		var busy, all sync.WaitGroup
		queued, answered := make(chan struct{}), make(chan struct{})
		hold := func(until chan struct{}) {
			busy.Add(1)
			begun := sync.OnceFunc(busy.Done)
			all.Go(func() {
				err := db.WriteShort(t.Context(), func(*store.Tx) error {
					begun()
					<-until
					return errNotThisOne
				})
				if !errors.Is(err, errNotThisOne) {
					t.Errorf("a write that only waits answers %v", err)
				}
			})
			busy.Wait()
		}
		db.SetSlowWriter(time.Millisecond) // so each of the writers takes one of these calls
		hold(queued)
		for range db.Writers() - 1 {
			hold(answered)
		}
		var waiting sync.WaitGroup
		for i, call := range calls {
			waiting.Go(func() {
				errs[i] = call()
				answer(i)
			})
			db.AwaitQueued(i + 1)
		}
		close(queued)
		waiting.Wait()
		close(answered)
		all.Wait()
	})
	return errs, ran
}

// stored lists what is in both tables, in order.
func leftStored(t *testing.T, db *store.DB) (parents, children []int64) {
	t.Helper()
	dbtest.Read(t, db, func(tx *store.Tx) (err error) {
		if parents, err = store.Ids(tx, "SELECT id FROM left_parents ORDER BY id"); err == nil {
			children, err = store.Ids(tx, "SELECT parent FROM left_children ORDER BY parent")
		}
		return err
	})
	return parents, children
}

// inserts counts the INSERTs into a table.
func inserts(ran []dbtest.Statement, table string) int {
	return len(slices.DeleteFunc(slices.Clone(ran), func(s dbtest.Statement) bool {
		return !strings.HasPrefix(s.Query, "INSERT INTO "+table+" ")
	}))
}

// TestWritesAtOnceShareTheirInserts: what each of several writes leaves to its end goes in with what the others leave. Each
// refers to its own rows, so a parent goes in before its children, though another write has left children already.
func TestWritesAtOnceShareTheirInserts(t *testing.T) {
	onLeftTables(t, func(t *testing.T, db *store.DB) {
		const many = 8
		writes := make([]func(tx *store.Tx) error, many)
		for i := range writes {
			writes[i] = func(tx *store.Tx) error { leave(tx, i+1, i+1, i+1); return nil }
		}
		errs, ran := atOnce(t, db, writes...)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		parents, children := leftStored(t, db)
		if len(parents) != many || len(children) != 2*many {
			t.Errorf("stored %v and %v", parents, children)
		}
		if p, c := inserts(ran, "left_parents"), inserts(ran, "left_children"); p != 1 || c != 1 {
			t.Errorf("%d statements insert parents and %d children, want 1 and 1", p, c)
		}
		runs := 0
		errs, ran = atOnce(t, db,
			func(tx *store.Tx) error { runs++; leave(tx, 0, 1); return nil },
			func(tx *store.Tx) error { leave(tx, 20, 20); return nil },
			func(tx *store.Tx) error { leave(tx, 21, 21); return nil },
			func(tx *store.Tx) error { leave(tx, 22, 22); return nil })
		if err := errors.Join(errs...); err != nil || runs != 1 {
			t.Errorf("a child of an old parent, and then new ones with their children: %d runs, %v", runs, err)
		}
		if p, c := inserts(ran, "left_parents"), inserts(ran, "left_children"); p != 1 || c != 1 {
			t.Errorf("%d statements insert parents and %d children after one without a parent, want 1 and 1", p, c)
		}
		runs = 0
		insert := func(table, column string, id int) func(tx *store.Tx) error {
			return func(tx *store.Tx) error { return tx.InsertRows(table, column, [][]any{{id}}) }
		}
		errs, _ = atOnce(t, db,
			func(tx *store.Tx) error {
				runs++
				tx.Defer(store.DeferralOf(insert("left_children", "parent", 1)))
				tx.Defer(store.DeferralOf(insert("left_parents", "id", 30)))
				return nil
			},
			func(tx *store.Tx) error { leave(tx, 31, 31); return nil })
		if err := errors.Join(errs...); err != nil || runs != 1 {
			t.Errorf("a child of an old parent before a new parent, and then one with its child: %d runs, %v", runs, err)
		}
	})
}

// TestAWriteSeesWhatOthersLeft: a write that asks for the rows of an earlier one finds them, though they wait.
func TestAWriteSeesWhatOthersLeft(t *testing.T) {
	onLeftTables(t, func(t *testing.T, db *store.DB) {
		var seen []int64
		errs, ran := atOnce(t, db,
			func(tx *store.Tx) error { leave(tx, 1, 1); return nil },
			func(tx *store.Tx) (err error) {
				seen, err = store.Ids(tx, "SELECT parent FROM left_children")
				return err
			},
			func(tx *store.Tx) error { leave(tx, 2, 1); return nil },
			func(tx *store.Tx) error { // what it takes back is only its own
				err := tx.Savepoint(func() error {
					_, err := tx.Exec("DELETE FROM left_children WHERE parent = $1", 1)
					return errors.Join(err, errNotThisOne)
				})
				if !errors.Is(err, errNotThisOne) {
					return err
				}
				return nil
			})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(seen, []int64{1}) {
			t.Errorf("a later write saw %v of an earlier one, want 1", seen)
		}
		parents, children := leftStored(t, db)
		if !slices.Equal(parents, []int64{1, 2}) || !slices.Equal(children, []int64{1, 1}) {
			t.Errorf("stored %v and %v, want 1 2 and 1 1; %d statements ran", parents, children, len(ran))
		}
	})
}

// TestAShortWriteThatFailsIsTakenBackAlone: one that is refused before it has changed anything costs the others nothing. One
// that fails later makes them run once more, without what it has written.
func TestAShortWriteThatFailsIsTakenBackAlone(t *testing.T) {
	for name, refuse := range map[string]func(tx *store.Tx) error{
		"refused at once": func(*store.Tx) error { return errNotThisOne },
		"after a change": func(tx *store.Tx) error {
			_, err := tx.Exec("INSERT INTO left_parents (id) VALUES ($1)", 50)
			return errors.Join(err, errNotThisOne)
		},
		"by a rule of the schema": func(tx *store.Tx) error {
			_, err := tx.Exec("INSERT INTO left_children (parent) VALUES ($1)", 51)
			return err
		},
		"at its end": func(tx *store.Tx) error { leave(tx, 52, 53); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			onLeftTables(t, func(t *testing.T, db *store.DB) {
				var runs [3]int
				count := func(i int) func(tx *store.Tx) error {
					return func(tx *store.Tx) error { runs[i]++; leave(tx, i+1, i+1); return nil }
				}
				errs, _ := atOnce(t, db, count(0), refuse, count(1), count(2))
				if errs[1] == nil || errors.Join(errs[0], errs[2], errs[3]) != nil {
					t.Errorf("answered %v", errs)
				}
				parents, children := leftStored(t, db)
				if want := []int64{1, 2, 3}; !slices.Equal(parents, want) || !slices.Equal(children, want) {
					t.Errorf("stored %v and %v, want %v in both", parents, children, want)
				}
				if again := name != "refused at once"; runs[0] > 1 != again {
					t.Errorf("the first one ran %d times", runs[0])
				}
			})
		})
	}
}

// handedOn is what short writes hand on to each other.
var handedOn = store.NewShared[string]()

// TestWhatAShortWriteReadIsHandedOn: to the short writes behind it in the same transaction of SQLite, also by one that is refused. Not
// beyond a write that is not short, and not where others write meanwhile.
func TestWhatAShortWriteReadIsHandedOn(t *testing.T) {
	for _, e := range dbtest.Engines {
		t.Run(e.Name, func(t *testing.T) {
			db := dbtest.Open(t, e.Database(t), dbtest.AtStart)
			var found [4]string
			read := func(i int, then error) func(tx *store.Tx) error {
				return func(tx *store.Tx) error {
					v := handedOn.Of(tx)
					found[i] = *v
					*v += strconv.Itoa(i)
					return then
				}
			}
			short := func(fn func(tx *store.Tx) error) func() error {
				return func() error { return db.WriteShort(t.Context(), fn) }
			}
			long := func() error { return db.Write(t.Context(), read(3, nil)) }
			if e.Name != "sqlite" {
				long = short(read(3, nil)) // the others go into no line
			}
			errs, _ := callsAtOnce(t, db, func(int) {},
				short(read(0, nil)),
				short(read(1, errNotThisOne)),
				short(read(2, nil)),
				long,
				short(func(tx *store.Tx) error {
					if left := *handedOn.Of(tx); left != "" {
						t.Errorf("behind a write that is not short: %q", left)
					}
					return nil
				}),
			)
			if errors.Join(errs[0], errs[2], errs[3], errs[4]) != nil || !errors.Is(errs[1], errNotThisOne) {
				t.Errorf("answered %v", errs)
			}
			want := [4]string{"", "0", "01", ""}
			if e.Name != "sqlite" {
				want = [4]string{}
			}
			if found != want {
				t.Errorf("found %q, want %q", found, want)
			}
		})
	}
}

// TestAWriteThatWaitsForALockHoldsNobodyUp: on PostgreSQL a short write may want a row that another transaction has. It waits
// alone, and those that share a transaction with it are answered meanwhile.
func TestAWriteThatWaitsForALockHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.Engines[1].Database(t), dbtest.AtStart)
	dbtest.Write(t, db, put("wanted"))
	take := func(tx *store.Tx) error {
		_, err := tx.Exec("UPDATE jobs SET attempts = attempts + 1 WHERE name = 'wanted'")
		return err
	}
	locked, free := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		lock := sync.OnceFunc(func() {
			close(locked)
			<-free
		})
		dbtest.Write(t, db, func(tx *store.Tx) error {
			err := take(tx)
			lock()
			return err
		})
	})
	<-locked
	errs, _ := atOnceThen(t, db, func(i int) {
		if i == 1 {
			close(free)
		}
	}, take, put("beside"))
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestWhoseTimeIsOverDoesNotRunAgain: of a shared transaction that is lost, only those writes run again whose callers still wait. The others
// are told at once, even if the database does not answer any more.
func TestWhoseTimeIsOverDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		ran := 0
		short := func(then error) func() error {
			return func() error {
				return db.WriteShort(ctx, func(tx *store.Tx) error {
					ran++
					_, err := tx.Exec("UPDATE jobs SET attempts = attempts + 1")
					if then != nil {
						leave()
					}
					return errors.Join(err, then)
				})
			}
		}
		errs, _ := callsAtOnce(t, db, func(int) {}, short(nil), short(errNotThisOne))
		for i, err := range errs {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("write %d: %v", i, err)
			}
		}
		want := int64(1) // the one that held the writer up, and fails again
		if db.Engine() != "sqlite" {
			want = 2 // once more, in a transaction of its own
		}
		if again := db.Work().Again; ran != 2 || again != want {
			t.Errorf("%d ran, %d again", ran, again)
		}
	})
}
