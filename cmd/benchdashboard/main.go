// Command benchdashboard measures every kind of dashboard page on a SQLite database: time to first byte, processor
// time, and compressed size. It works on a copy of the file, follows the links from the start page as an operator, and
// requests each page several times: the first time without any cache. It uses the key file next to the database. `make
// bench-dashboard` runs it; -only selects one kind of page, and -profile writes a CPU profile.
package main

import (
	"cmp"
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
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
	"holdfast/internal/web/dashboard"
	"holdfast/internal/web/kit"

	"github.com/google/uuid"
)

const (
	base       = "http://127.0.0.1"
	user       = "benchdashboard"
	repeatedly = 5   // measurements of each page
	mostPages  = 300 // kinds of pages
)

func main() {
	path := flag.String("database", "holdfast-data/holdfast.db", "path of a SQLite database")
	only := flag.String("only", "", "only measure this page, such as /dashboard/sites/demo/exposure")
	profile := flag.String("profile", "", "write a CPU profile to this file")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *path, *only, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "benchdashboard:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, path, only, profile string) error {
	folder, err := os.MkdirTemp("", "holdfast-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a leftover folder is harmless
	copied := filepath.Join(folder, "holdfast.db")
	if err := copyFile(path, copied); err != nil {
		return err
	}
	store, err := store.OpenExisting(ctx, "sqlite:"+copied, time.Now)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // it goes with its folder
	if err := store.Migrate(ctx); err != nil {
		return err
	}
	fresh := []byte(base64.StdEncoding.EncodeToString([]byte(rand.Text() + rand.Text())[:32]))
	c := app.Config{
		Store: store, Clock: time.Now, Random: rand.Reader, NewUUID: uuid.NewString, Log: slog.New(slog.DiscardHandler),
		Cost: secrets.PasswordCost{MemoryKiB: 8, Iterations: 1, Parallelism: 1},
		Keys: func() (secrets.SealKeys, error) {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "holdfast.keys"))
			if os.IsNotExist(err) { // nothing in it is sealed yet
				text, err = fresh, nil
			}
			if err != nil {
				return secrets.SealKeys{}, err
			}
			return secrets.ParseSealKeys(string(text))
		},
	}
	a := app.New(c)
	defer a.Close()
	frame, err := dashboard.New(kit.Config{
		Log: c.Log, Base: base, Profile: string(merchant.ProtectionOnlyProfile), Clock: time.Now,
	}, a)
	if err != nil {
		return err
	}
	password := rand.Text()
	fields := people.UserFields{Username: user, Email: user + "@example.com", Password: password}
	if _, err := a.Accounts.CreateUser(ctx, access.System(0), fields, access.Operator, false); err != nil {
		return err
	}
	v := &visitor{pages: frame, cookies: map[string]string{}}
	signedIn := v.ask(ctx, http.MethodPost, kit.Path+"/sign-in", url.Values{"username": {user}, "password": {password}}.Encode())
	if signedIn.Code != http.StatusSeeOther {
		return fmt.Errorf("sign-in failed with status %d", signedIn.Code)
	}
	if profile != "" {
		file, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // the profile is no result
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	return v.walk(ctx, out, only)
}

// copyFile copies a database that is not in use, including its log.
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
			_ = made.Close() // the copy is read right away: missing data is noticed there
		}
		_ = content.Close() // it was only read
		if err != nil {
			return err
		}
	}
	return nil
}

// visitor is a minimal browser.
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
	linksOfPage = regexp.MustCompile(`<a [^>]*?href="(/dashboard[^"#]*)"`)
	objects     = regexp.MustCompile(`/[0-9]+(/|$)`)
)

// kindOf returns the page that a URL shows, without ids: the same for each booking.
func kindOf(address string) string {
	path, _, _ := strings.Cut(address, "?")
	return objects.ReplaceAllString(objects.ReplaceAllString(path, "/#$1"), "/#$1")
}

// measured are the measurements of one kind of page.
type measured struct {
	kind          string
	status, bytes int
	first, median time.Duration // until the first byte
	used          time.Duration // median processor time, including garbage collection
}

// measure requests a page several times.
func (v *visitor) measure(ctx context.Context, address string) (m measured, answer *httptest.ResponseRecorder) {
	var times, used []time.Duration
	for range repeatedly {
		began, before := time.Now(), processor()
		answer = v.ask(ctx, http.MethodGet, address, "")
		times, used = append(times, time.Since(began)), append(used, processor()-before)
	}
	m = measured{kind: kindOf(address), status: answer.Code, bytes: answer.Body.Len(), first: times[0]}
	slices.Sort(times)
	slices.Sort(used)
	m.median, m.used = times[repeatedly/2], used[repeatedly/2]
	return m, answer
}

// processor returns the processor time of this process so far.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// walk measures one page of each kind, or only one page, and prints the slowest first.
func (v *visitor) walk(ctx context.Context, out io.Writer, only string) error {
	var rows []measured
	seen := map[string]bool{}
	queue := []string{cmp.Or(only, kit.Path+"/")}
	for len(queue) > 0 && len(rows) < mostPages {
		address := queue[0]
		queue = queue[1:]
		if seen[kindOf(address)] {
			continue
		}
		seen[kindOf(address)] = true
		row, answer := v.measure(ctx, address)
		rows = append(rows, row)
		if only != "" {
			break
		}
		if to := answer.Header().Get("Location"); to != "" {
			queue = append(queue, to)
		}
		for _, found := range linksOfPage.FindAllStringSubmatch(plain(answer), -1) {
			if link := html.UnescapeString(found[1]); !strings.Contains(link, "format=") {
				queue = append(queue, link)
			}
		}
	}
	slices.SortFunc(rows, func(a, b measured) int { return int(max(b.first, b.median) - max(a.first, a.median)) })
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "first time\tmedian\tprocessor\tbytes sent\tstatus\t  page\t")
	in := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	for _, r := range rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t  %s\t\n", in(r.first), in(r.median), in(r.used), r.bytes, r.status, r.kind)
	}
	return table.Flush()
}

// plain returns the decompressed body of a response.
func plain(answer *httptest.ResponseRecorder) string {
	if answer.Header().Get("Content-Encoding") != "gzip" {
		return answer.Body.String()
	}
	zip, err := gzip.NewReader(answer.Body)
	if err != nil {
		return ""
	}
	text, _ := io.ReadAll(zip) // a truncated page has no more links
	return string(text)
}
