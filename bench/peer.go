package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/bench/book"
)

// pocketBase is the peer: a separate program with its data folder.
type pocketBase struct {
	b            *bench
	program, dir string
	token        string
}

// newPeer builds the peer and loads its rows, unless an earlier run left them in the folder.
func (b *bench) newPeer(ctx context.Context) (*pocketBase, error) {
	p := &pocketBase{b: b, program: filepath.Join(b.dir, "pocketbase"), dir: filepath.Join(b.dir, fmt.Sprintf("pocketbase-%d", b.size.Bookings))}
	if err := build(ctx, "bench/pocketbase", p.program, "."); err != nil {
		return nil, err
	}
	version, err := exec.CommandContext(ctx, p.program, "version", "-dir", filepath.Join(b.dir, "pocketbase-version")).Output()
	if err != nil {
		return nil, err
	}
	b.result.Machine.Versions["pocketbase"] = strings.TrimSpace(string(version))
	key := filepath.Join(p.dir, "token")
	if _, err := os.Stat(key); err != nil {
		began := time.Now()
		said, err := exec.CommandContext(ctx, p.program, "load", "-dir", p.dir, "-rows", strconv.FormatInt(b.size.Bookings, 10)).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("loading PocketBase: %w\n%s", err, tail(said))
		}
		b.say("  PocketBase with %d rows in %s", b.size.Bookings, time.Since(began).Round(time.Second))
	}
	token, err := os.ReadFile(key)
	p.token = string(token)
	return p, err
}

// subject is the peer with its default settings.
func (p *pocketBase) subject(ctx context.Context) (*subject, error) { return p.serve(ctx, peer) }

// serve starts the peer.
func (p *pocketBase) serve(ctx context.Context, name string, flags ...string) (*subject, error) {
	args := append([]string{"serve", "-dir", p.dir}, flags...)
	server, err := begin(ctx, filepath.Join(p.b.dir, "pocketbase.log"), nil, p.program, args...)
	if err != nil {
		return nil, err
	}
	kinds := p.kinds()
	return p.b.other(name, server, func(k kind) (kind, bool) {
		i := slices.IndexFunc(kinds, func(own kind) bool { return own.name == k.name && own.callers == k.callers })
		if i < 0 {
			return k, false
		}
		return kinds[i], true
	}), nil
}

// syncedTurn measures the peer's writes with a sync at each commit, as in the product. It uses the same database as the
// peer without syncs, so that one must have ended.
func (p *pocketBase) syncedTurn(ctx context.Context, turn int) (list []figures, err error) {
	s, err := p.serve(ctx, syncedPeer, "-full")
	if err != nil {
		return nil, err
	}
	defer s.server.end()
	for _, k := range p.kinds() {
		if k.name != createBooking || !p.b.chosen.MatchString(k.name) {
			continue
		}
		f, err := s.measure(ctx, k)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		p.b.progress(turn, f)
		list = append(list, f)
	}
	return list, nil
}

func (p *pocketBase) kinds() []kind {
	const records = "/api/collections/bookings/records"
	bookings := p.b.size.Bookings
	get := func(name string, path func(r *rand.Rand, into []byte) []byte) kind {
		return kind{name: name, callers: readers(name, p.b.callers), status: http.StatusOK, make: func(r *rand.Rand, into []byte) []byte {
			var room [300]byte
			return request(into, http.MethodGet, string(path(r, append(room[:0], records...))), p.token, nil)
		}}
	}
	list := []kind{
		get(getBooking, func(r *rand.Rand, into []byte) []byte { return fmt.Appendf(into, "/b%014d", 1+r.Int64N(bookings)) }),
		get(listFirst, fixed("?perPage=100&sort=-@rowid")),
		get(listNoCount, fixed("?perPage=100&sort=-@rowid&skipTotal=1")),
		get(listDeep, fixed(fmt.Sprintf("?perPage=100&sort=-@rowid&skipTotal=1&page=%d", deep(bookings)))),
		get(listByEmail, func(r *rand.Rand, into []byte) []byte {
			filter := fmt.Sprintf("site_id=1&&email='traveller%d@example.org'", 1+r.Int64N(bookings))
			return append(append(into, "?filter="...), url.QueryEscape(filter)...)
		}),
	}
	for _, n := range writers(p.b.callers, p.b.many) {
		list = append(list, kind{name: createBooking, callers: n, status: http.StatusOK, make: func(r *rand.Rand, into []byte) []byte {
			var room [900]byte
			body := fmt.Appendf(room[:0], `{"uuid":"%016x-%016x","site_id":1,"channel_id":%d,"author_id":2,"author":"bench","author_name":"bench",`+
				`"content":"Seven nights, half board","firstname":"Ada","surname":"Lovelace%d","email":"traveller%d@example.org","start_day":20700,`+
				`"end_day":%d,"pax":2,"reference":"B-%d","total":1000000000,"net":0,"held":0,"open_authorised":0,"locked_payments":0,"payments":0,`+
				`"currencies":"EUR","country":"FR","language":"enGB","suppliers":"%d","status":"unpaid","other_protection":"none","version":1,`+
				`"modal_draft":false,"total_changed":false,"deleted":false}`,
				r.Uint64(), r.Uint64(), 1+r.IntN(book.Channels), r.IntN(5000), r.IntN(1_000_000), 20_700+r.IntN(300), r.Int64(), 1+r.IntN(book.Suppliers))
			return request(into, http.MethodPost, records, p.token, body)
		}})
	}
	return list
}
