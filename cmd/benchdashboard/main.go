// Command benchdashboard measures every kind of page of the dashboard over a database of SQLite: how long its first byte takes,
// and how many bytes it sends compressed. It works on a copy of the file, finds the pages by their links, from the start page on,
// as an operator sees them, and asks for each several times. A file of keys beside the database is used. `make bench-dashboard` runs it.
package main

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/base64"
	"flag"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/travel"
	"holdfast/internal/web/dashboard"
	"holdfast/internal/web/shell"
)

const (
	base       = "http://127.0.0.1"
	user       = "benchdashboard"
	repeatedly = 5   // measurements of each page
	mostPages  = 300 // kinds of pages
)

func main() {
	path := flag.String("database", "holdfast-data/holdfast.db", "file of a SQLite database")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *path); err != nil {
		fmt.Fprintln(os.Stderr, "benchdashboard:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, path string) error {
	folder, err := os.MkdirTemp("", "holdfast-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a folder that stays does no harm
	copied := filepath.Join(folder, "holdfast.db")
	if err := copyFile(path, copied); err != nil {
		return err
	}
	store, err := db.OpenExisting(ctx, "sqlite:"+copied, time.Now)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // it goes with its folder
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	fresh := []byte(base64.StdEncoding.EncodeToString([]byte(rand.Text() + rand.Text())[:32]))
	c := &core.Core{
		Store: store, Clock: time.Now, Random: rand.Reader, NewUUID: uuid.NewString, Log: slog.New(slog.DiscardHandler),
		Cost: auth.PasswordCost{MemoryKiB: 8, Iterations: 1, Parallelism: 1},
		Keys: func() (auth.SealKeys, error) {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "holdfast.keys"))
			if os.IsNotExist(err) { // nothing in it is sealed yet
				text, err = fresh, nil
			}
			if err != nil {
				return auth.SealKeys{}, err
			}
			return auth.ParseSealKeys(string(text))
		},
	}
	a := app.New(c)
	defer a.Close()
	frame, err := dashboard.New(shell.Config{
		Log: c.Log, Base: base, Profile: string(travel.ProtectionOnlyProfile), Clock: time.Now,
		AddressOf: func(*http.Request) string { return "127.0.0.1" },
	}, a)
	if err != nil {
		return err
	}
	password := rand.Text()
	fields := travel.UserFields{Username: user, Email: user + "@example.com", Password: password}
	if _, err := a.Accounts.CreateUser(ctx, auth.System(0), fields, auth.Operator, false); err != nil {
		return err
	}
	v := &visitor{pages: frame, cookies: map[string]string{}}
	signedIn := v.ask(ctx, http.MethodPost, shell.Path+"/sign-in", url.Values{"username": {user}, "password": {password}}.Encode())
	if signedIn.Code != http.StatusSeeOther {
		return fmt.Errorf("signing in is answered with %d", signedIn.Code)
	}
	return v.walk(ctx, out)
}

// copyFile copies a database that nobody writes to, with what its log holds.
func copyFile(from, to string) error {
	for _, end := range []string{"", "-wal"} {
		content, err := os.Open(from + end)
		if os.IsNotExist(err) && end != "" {
			continue
		} else if err != nil {
			return err
		}
		made, err := os.Create(to + end)
		if err == nil {
			_, err = io.Copy(made, content)
			_ = made.Close() // the copy is read at once: what is missing is noticed there
		}
		_ = content.Close() // it was only read
		if err != nil {
			return err
		}
	}
	return nil
}

// visitor is a browser without a window.
type visitor struct {
	pages   http.Handler
	cookies map[string]string
}

func (v *visitor) ask(ctx context.Context, method, path, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, base+path, strings.NewReader(form))
	r.Header.Set("Origin", base)
	r.Header.Set("Accept-Encoding", "gzip")
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer := httptest.NewRecorder()
	v.pages.ServeHTTP(answer, r)
	for _, c := range answer.Result().Cookies() {
		v.cookies[c.Name] = c.Value
	}
	return answer
}

var (
	links   = regexp.MustCompile(`<a [^>]*?href="(/dashboard[^"#]*)"`)
	objects = regexp.MustCompile(`/[0-9]+(/|$)`)
)

// kindOf is the page that an address shows: the same for each booking.
func kindOf(address string) string {
	path, _, _ := strings.Cut(address, "?")
	return objects.ReplaceAllString(objects.ReplaceAllString(path, "/#$1"), "/#$1")
}

// walk measures one page of each kind, and prints the slowest first.
func (v *visitor) walk(ctx context.Context, out io.Writer) error {
	type row struct {
		kind   string
		status int
		median time.Duration
		bytes  int
	}
	var rows []row
	seen := map[string]bool{}
	queue := []string{shell.Path + "/"}
	for len(queue) > 0 && len(rows) < mostPages {
		address := queue[0]
		queue = queue[1:]
		if seen[kindOf(address)] {
			continue
		}
		seen[kindOf(address)] = true
		var times []time.Duration
		var answer *httptest.ResponseRecorder
		for range repeatedly {
			began := time.Now()
			answer = v.ask(ctx, http.MethodGet, address, "")
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		rows = append(rows, row{kindOf(address), answer.Code, times[len(times)/2], answer.Body.Len()})
		if to := answer.Header().Get("Location"); to != "" {
			queue = append(queue, to)
		}
		for _, found := range links.FindAllStringSubmatch(plain(answer), -1) {
			if link := html.UnescapeString(found[1]); !strings.Contains(link, "format=") {
				queue = append(queue, link)
			}
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return int(b.median - a.median) })
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "first byte\tbytes sent\tstatus\t  page\t")
	for _, r := range rows {
		fmt.Fprintf(table, "%.1f ms\t%d\t%d\t  %s\t\n", float64(r.median.Microseconds())/1000, r.bytes, r.status, r.kind)
	}
	return table.Flush()
}

// plain is the text of an answer.
func plain(answer *httptest.ResponseRecorder) string {
	if answer.Header().Get("Content-Encoding") != "gzip" {
		return answer.Body.String()
	}
	zip, err := gzip.NewReader(answer.Body)
	if err != nil {
		return ""
	}
	text, _ := io.ReadAll(zip) // a text that was cut has no more links
	return string(text)
}
