// Command pocketbase is the peer of bench: PocketBase as a library, with one collection that has the fields and indexes
// of a booking. It is a separate module, so that PocketBase's dependencies stay out of the product. `load` creates the
// data, and `serve` serves it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pocketbase:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("pocketbase", flag.ContinueOnError)
	dir := flags.String("dir", "pb_data", "data folder")
	rows := flags.Int64("rows", 50_000, "rows to load")
	full := flags.Bool("full", false, "sync each commit, like the product; PocketBase does not by default")
	if len(args) == 0 {
		return errors.New("expected load or serve")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	app := pocketbase.NewWithConfig(pocketbase.Config{DefaultDataDir: *dir, HideStartBanner: true, DBConnect: connect(*full)})
	if err := app.Bootstrap(); err != nil {
		return err
	}
	switch args[0] {
	case "load":
		return load(app, *dir, *rows)
	case "serve":
		return serve(app, out)
	case "version":
		return version(out)
	}
	return fmt.Errorf("expected load, serve or version, not %q", args[0])
}

// connect opens the database as PocketBase does, or with the same settings plus a full sync.
func connect(full bool) core.DBConnectFunc {
	if !full {
		return core.DefaultDBConnect
	}
	return func(path string) (*dbx.DB, error) {
		return dbx.Open("sqlite", path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=journal_size_limit(200000000)"+
			"&_pragma=synchronous(FULL)&_pragma=foreign_keys(ON)&_pragma=temp_store(MEMORY)&_pragma=cache_size(-32000)")
	}
}

func version(out io.Writer) error {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		if d.Path == "github.com/pocketbase/pocketbase" {
			fmt.Fprintln(out, d.Version)
		}
	}
	return nil
}

// serve serves on any free port.
func serve(app core.App, out io.Writer) error {
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		e.Listener, e.InstallerFunc = listener, nil
		if err := e.Next(); err != nil {
			return err
		}
		fmt.Fprintf(out, "serving on http://%s\n", listener.Addr())
		return nil
	})
	return apis.Serve(app, apis.ServeConfig{HttpAddr: "127.0.0.1:0"})
}

// texts, numbers and switches are the fields, named like a booking's columns.
var (
	texts = strings.Fields(`uuid author author_name content firstname surname email reference currencies country language suppliers
		status other_protection`)
	numbers = strings.Fields(`site_id channel_id author_id start_day end_day pax total net held open_authorised locked_payments
		payments version`)
	switches = strings.Fields(`modal_draft total_changed deleted`)
	// indexes are the columns after the site, as in the product's schema.
	indexes = []string{"channel_id, id", "end_day, id", "email, id", "surname, id", "reference, id", "created, id"}
)

// collection creates the collection. It requires a token and allows everything with one, so that each request is
// authenticated, as with the product.
func collection(app core.App) error {
	c := core.NewBaseCollection("bookings")
	signedIn := `@request.auth.id != ""`
	c.ListRule, c.ViewRule, c.CreateRule = &signedIn, &signedIn, &signedIn
	for _, name := range texts {
		c.Fields.Add(&core.TextField{Name: name})
	}
	for _, name := range numbers {
		c.Fields.Add(&core.NumberField{Name: name})
	}
	for _, name := range switches {
		c.Fields.Add(&core.BoolField{Name: name})
	}
	c.Fields.Add(&core.AutodateField{Name: "created", OnCreate: true}, &core.AutodateField{Name: "modified", OnCreate: true, OnUpdate: true})
	c.AddIndex("bookings_uuid", true, "uuid", "")
	for i, columns := range indexes {
		c.AddIndex(fmt.Sprintf("bookings_%d", i), false, "site_id, "+columns, "")
	}
	c.AddIndex("bookings_deleted", false, "site_id", "deleted = TRUE")
	return app.Save(c)
}

// load creates the collection with its rows, and a user whose token is written to the file token.
func load(app core.App, dir string, rows int64) error {
	if err := app.RunAllMigrations(); err != nil {
		return err
	}
	if err := collection(app); err != nil {
		return err
	}
	const step = 50_000
	for first := int64(1); first <= rows; first += step {
		_, err := app.NonconcurrentDB().NewQuery(rowsQuery).Bind(dbx.Params{"first": first, "last": min(rows, first+step-1)}).Execute()
		if err != nil {
			return err
		}
	}
	if _, err := app.NonconcurrentDB().NewQuery("ANALYZE").Execute(); err != nil {
		return err
	}
	users, err := app.FindCollectionByNameOrId("users")
	if err != nil {
		return err
	}
	user := core.NewRecord(users)
	user.SetEmail("bench@example.org")
	user.SetRandomPassword()
	if err := app.Save(user); err != nil {
		return err
	}
	token, err := user.NewAuthToken()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600)
}

// rowsQuery creates rows like those of the product's book.
const rowsQuery = `WITH RECURSIVE numbers (i) AS (SELECT {:first} UNION ALL SELECT i + 1 FROM numbers WHERE i < {:last})
INSERT INTO bookings (id, uuid, site_id, channel_id, author_id, author, author_name, content, firstname, surname, email, start_day,
	end_day, pax, reference, total, currencies, country, language, modal_draft, net, held, open_authorised, locked_payments, payments,
	total_changed, suppliers, status, other_protection, deleted, version, created, modified)
SELECT printf('b%014d', i), printf('%08d-0000-4000-8000-%012d', i * 48271 % 89999999, i), 1, 1 + i % 100, 0, 'load', 'load',
	'Seven nights, half board', 'Ada', 'Lovelace' || i % 5000, 'traveller' || i || '@example.org', 20600 + i % 900, 20607 + i % 900, 2,
	'B-' || i, 10000 + i * 7919 % 90000, 'EUR', 'FR', 'enGB', FALSE, 10000 + i * 7919 % 90000, 10000 + i * 7919 % 90000, 0, 0, 1, FALSE,
	'' || (1 + i % 20), 'paid', 'none', FALSE, 1, '2026-01-01 00:00:00.000Z', '2026-01-01 00:00:00.000Z' FROM numbers`
