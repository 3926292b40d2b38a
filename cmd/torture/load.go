package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How much is sent, and how much memory the program may use for it (docs/reliability.md).
const (
	largeBodies  = 40
	bodySize     = 1_000_000
	crowd        = 300
	crowdTime    = 5 * time.Second
	reportRows   = 20_000
	mostResident = 150 // MB
	mostHashing  = 250 // MB, when passwords are hashed: four hashes take 76 MB, and as much again waits for garbage collection

	loginPath = "/auth/rest/jwt-auth/v1/token"
)

// load is the scenario: strangers and clients send too much, and everyone else must still be served.
func load(r *run) error {
	for round := r.first; round < r.first+r.count(1); round++ {
		if err := r.besieged(round); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	if r.count(1) > 1 {
		r.refusedInAll()
	}
	return nil
}

// besieged is one round: all attacks on one book, each on a freshly started program.
func (r *run) besieged(round int) (err error) {
	b := &book{r: r, name: "SQLite"}
	if b.house, err = r.newHouse(fmt.Sprintf("load-%d", round), ""); err != nil {
		return err
	}
	defer b.end()
	if err := b.begin(); err != nil {
		return err
	}
	user, err := b.signIn()
	if err != nil {
		return err
	}
	b.server.kill()
	for _, path := range []string{loginPath, "/modal/v1/sessions"} {
		for _, kind := range []string{"zeros", "digits"} {
			name := fmt.Sprintf("%d bodies of 1 MB of %s, %s", largeBodies, kind, path)
			s := &siege{book: b, user: user, name: name}
			err := s.hold(round, func() error { return s.sendBodies(path, kind) })
			if err != nil {
				return err
			}
		}
	}
	for _, who := range []string{oneToken, manyAddresses, noToken} {
		s := &siege{book: b, user: user, name: fmt.Sprintf("%d callers, %s", crowd, who)}
		if err := s.hold(round, func() error { return s.sendCallers(who) }); err != nil {
			return err
		}
	}
	bare := &siege{book: b, name: fmt.Sprintf("%d callers, a server that only refuses", crowd), random: r.random("bare", round)}
	if err := bare.surroundBare(); err != nil {
		return err
	}
	for _, from := range []string{"one address", "as many addresses"} {
		s := &siege{book: b, user: user, name: fmt.Sprintf("%d logins from %s", crowd, from), hashes: true}
		if err := s.hold(round, func() error { return s.sendLogins(from == "one address") }); err != nil {
			return err
		}
	}
	if err := b.fill(); err != nil {
		return err
	}
	name := fmt.Sprintf("%d long reports at a time, %d bookings", len(longReports), reportRows)
	s := &siege{book: b, user: user, name: name}
	return s.hold(round, s.askReports)
}

// siege is one attack.
type siege struct {
	book   *book
	user   string // the access token of a user unrelated to the attack
	name   string
	hashes bool // the attack causes passwords to be hashed
	random *rand.Rand
	crowd  tally // the responses to the attackers
}

// hold starts the program, attacks it while others use it, and compares the results with the guarantees.
func (s *siege) hold(round int, attack func() error) (err error) {
	r, b := s.book.r, s.book
	s.random = r.random(s.name, round)
	if b.server, err = b.house.start("serve"); err != nil {
		return err
	}
	defer b.server.kill()
	if _, err := b.server.ready(patience); err != nil {
		return err
	}
	var other, probe tally
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() { other.goOn(stop, b.server.from("127.0.0.1", s.user), api+"bookings?per_page=10") })
	work.Go(func() { probe.goOn(stop, b.server.from("127.0.0.1", ""), "/readyz") })
	before, err := b.server.used()
	if err == nil {
		err = attack()
	}
	close(stop)
	work.Wait()
	if err != nil {
		return err
	}
	after, err := b.server.used()
	if err != nil {
		return err
	}
	s.judge(&other, &probe, after)
	r.figure(s.name, "at most %d MB resident, %.1f s CPU time; %s; another caller: %s; `/readyz`: %s",
		after.peak, after.cpu-before.cpu, &s.crowd, &other, &probe)
	return nil
}

// judge checks the guarantees. Speed depends on the machine, so it is only a figure.
func (s *siege) judge(other, probe *tally, after usage) {
	r := s.book.r
	for n, t := range []*tally{&s.crowd, other, probe} {
		who := []string{"the attackers", "another caller", "GET /readyz"}[n]
		for _, problem := range t.problems {
			r.fail("%s: %s: %s", s.name, who, problem)
		}
		if t.broken > len(t.problems) {
			r.fail("%s: %s: %d more like this", s.name, who, t.broken-len(t.problems))
		}
	}
	most := mostResident
	if s.hashes {
		most = mostHashing
	}
	if after.peak > most {
		r.fail("%s: the program used %d MB", s.name, after.peak)
	}
	if other.answered == 0 || len(other.refused) > 0 {
		r.fail("%s: another caller got %d responses and %d rejections", s.name, other.answered, len(other.refused))
	}
	if probe.answered == 0 || len(probe.refused) > 0 {
		r.fail("%s: GET /readyz got %d responses and %d rejections", s.name, probe.answered, len(probe.refused))
	}
}

// usage is what a process has used since its start.
type usage struct {
	peak int     // resident memory in MB
	cpu  float64 // seconds of processor time
}

// used reads the process's usage from the system, which counts processor time in hundredths of a second.
func (s *server) used() (u usage, err error) {
	folder := filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid))
	status, err := os.ReadFile(filepath.Join(folder, "status"))
	if err != nil {
		return u, err
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(peak, &u.peak); err != nil {
		return u, fmt.Errorf("no peak of memory in %s/status: %w", folder, err)
	}
	u.peak /= 1024
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return u, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // the name before it may contain spaces
	const user, system = 11, 12
	if len(fields) <= system {
		return u, fmt.Errorf("%s/stat has %d fields", folder, len(fields))
	}
	for _, field := range []string{fields[user], fields[system]} {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return u, err
		}
		u.cpu += float64(ticks) / 100
	}
	return u, nil
}

// sendBodies sends large bodies, all at once. Some come from the same address.
func (s *siege) sendBodies(path, kind string) error {
	body := bodyOf(kind, s.random)
	// 413: the body has too many values. 400, for digits: the fields are missing, or there is a card number.
	s.crowd.expected = []int{http.StatusRequestEntityTooLarge, http.StatusBadRequest}
	s.crowd.mayBeCut = true
	addresses := 1 + s.random.IntN(largeBodies)
	var work sync.WaitGroup
	for range largeBodies {
		c := s.book.server.from(attacker(s.random.IntN(addresses)), "")
		work.Go(func() {
			defer c.http.CloseIdleConnections()
			s.crowd.ask(c, http.MethodPost, path, body)
		})
	}
	work.Wait()
	return s.book.r.ctx.Err()
}

// bodyOf is a body that is expensive for a server that builds every value or checks every digit for card numbers.
func bodyOf(kind string, random *rand.Rand) []byte {
	if kind == "zeros" {
		return []byte(`{"x":[` + strings.Repeat("0,", bodySize/2-5) + `0]}`)
	}
	body := bytes.NewBufferString(`{"x":"`)
	for body.Len() < bodySize-4 {
		body.WriteByte(byte('0' + random.IntN(10)))
		body.WriteString([]string{"", " ", "-"}[random.IntN(3)])
	}
	body.WriteString(`"}`)
	return body.Bytes()
}

// attacker is an address of this machine that only attackers use.
func attacker(n int) string { return fmt.Sprintf("127.0.%d.%d", 1+n/200, 1+n%200) }

// fill imports a book that is large enough for long reports.
func (b *book) fill() error {
	var text strings.Builder
	text.WriteString("booking_reference,channel_id,countries,currencies,date,total,firstname,surname,email,content," +
		"payment_reference,transaction_types,paid_at,payment_currencies,payment_total,booking_total\n")
	first := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range reportRows {
		fmt.Fprintf(&text, "L-%d,%d,PT,EUR,%s,%d,Ana,Sousa,ana@example.org,A week,LP-%d,purchase,2026-01-10 09:30:00,"+
			"EUR,50000,50000\n", n, channel, first.AddDate(0, 0, n%600).Format(time.DateOnly), 100_000+n, n)
	}
	if err := os.WriteFile(filepath.Join(b.house.dir, "load.csv"), []byte(text.String()), 0o600); err != nil {
		return err
	}
	_, err := b.house.must("import", "payments", "load.csv", "--site", "demo", "--mode", "protection-only",
		"--cover-start", "effective")
	return err
}

// password is the password of the sandbox's admin.
func (b *book) password() (string, error) {
	text, err := os.ReadFile(filepath.Join(b.house.dir, "holdfast-data", "demo-credentials.json"))
	if err != nil {
		return "", err
	}
	var kept struct {
		Password string `json:"admin_password"`
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		return "", err
	}
	return kept.Password, nil
}

// signIn logs in as the sandbox's admin. The access token lives longer than a round lasts.
func (b *book) signIn() (token string, err error) {
	right, err := b.password()
	if err != nil {
		return "", err
	}
	a, err := b.server.caller("").ask(http.MethodPost, loginPath, nil, credentials("demo-admin", right))
	if err != nil {
		return "", err
	}
	var made struct {
		Token string `json:"token"`
	}
	err = a.as(&made)
	if err == nil && made.Token == "" {
		err = fmt.Errorf("the login got %d %s", a.status, lastOf(string(a.body)))
	}
	return made.Token, err
}

// crowdTimer is a context that ends when the crowd stops.
func (s *siege) crowdTimer() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.book.r.ctx, crowdTime)
}
