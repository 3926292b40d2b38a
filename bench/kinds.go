package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/bench/book"
)

// The kinds, by their names in the tables. A ratio compares kinds of the same name.
const (
	getBooking     = "get booking"
	getTransaction = "get transaction"
	listFirst      = "list 100, first page"
	listDeep       = "list 100, deep page"
	listNoCount    = "list 100, without totals"
	listByEmail    = "list by e-mail"
	byChannel      = "exposure by channel"
	byMonth        = "exposure by month"
	runOff         = "run-off"
	byChannelMoved = "exposure, during payments"
	createBooking  = "create booking"
	logPayment     = "log payment, one channel"
	logPayments    = "log payment, 100 channels"
)

// deepPage is the page number of the deep list; a smaller book uses its last page. deepCallers request it: a deep page
// counts as a report, and one caller may run six of those at once.
const (
	deepPage    = 2000
	deepCallers = 6
)

// paymentsAmongReports: one in this many requests of the kind byChannelMoved is a payment.
const paymentsAmongReports = 50

// pool is the number of bookings that receive payments. Half of them belong to one channel.
const pool = 2000

// visitor makes requests to the product.
type visitor struct {
	h        *house
	one, all []int64 // bookings of the first channel, and of all channels in turn
	next     atomic.Int64
	run      string // makes references unique; it has letters between the digits, so that none looks like a card number
}

func (v *visitor) path(rest string) string { return "/" + book.SitePath + "/rest/svc/v2/" + rest }

func (v *visitor) get(name string, callers int, path func(r *rand.Rand, into []byte) []byte) kind {
	return kind{name: name, callers: readers(name, callers), status: http.StatusOK, make: func(r *rand.Rand, into []byte) []byte {
		var room [200]byte
		return request(into, http.MethodGet, string(path(r, append(room[:0], v.path("")...))), v.h.Token, nil)
	}}
}

// readers is the number of callers for a kind that reads.
func readers(name string, callers int) int {
	if name == listDeep {
		return min(callers, deepCallers)
	}
	return callers
}

// fixed is a constant path.
func fixed(rest string) func(*rand.Rand, []byte) []byte {
	return func(_ *rand.Rand, into []byte) []byte { return append(into, rest...) }
}

// deep is the number of the deep page in a book of this size.
func deep(bookings int64) int64 { return max(1, min(deepPage, bookings/100)) }

// kinds returns all kinds in the order of measurement: writes come last.
func (v *visitor) kinds(callers, many int) []kind {
	bookings := v.h.Book.Bookings
	some := func(before, after string) func(*rand.Rand, []byte) []byte {
		return func(r *rand.Rand, into []byte) []byte {
			return append(strconv.AppendInt(append(into, before...), 1+r.Int64N(bookings), 10), after...)
		}
	}
	list := []kind{
		v.get(getBooking, callers, some("bookings/", "")),
		v.get(getTransaction, callers, some("transactions/", "")),
		v.get(listFirst, callers, fixed("bookings?per_page=100")),
		v.get(listNoCount, callers, fixed("bookings?per_page=100&count=false")),
		v.get(listDeep, callers, fixed(fmt.Sprintf("bookings?per_page=100&count=false&page=%d", deep(bookings)))),
		v.get(listByEmail, callers, some("bookings?email=traveller", "@example.org")),
		v.get(byChannel, callers, fixed("exposure?by=channel")),
		v.get(byMonth, callers, fixed("exposure?by=month")),
		v.get(runOff, callers, fixed("exposure/run-off")),
	}
	write := func(name string, callers int, make func(r *rand.Rand, into []byte) []byte) {
		list = append(list, kind{name: name, callers: callers, status: http.StatusCreated, make: make})
	}
	// Jobs keep running for some seconds after payments. They are part of the cost of payments, so kinds with payments
	// come last.
	for _, n := range writers(callers, many) {
		write(createBooking, n, v.booking)
	}
	// Each payment invalidates the cached report.
	exposure := list[slices.IndexFunc(list, func(k kind) bool { return k.name == byChannel })].make
	list = append(list, kind{name: byChannelMoved, callers: callers, status: anySuccess, make: func(r *rand.Rand, into []byte) []byte {
		if r.IntN(paymentsAmongReports) == 0 {
			return v.payment(r, into, v.all, false)
		}
		return exposure(r, into)
	}})
	for _, n := range writers(callers, many) {
		write(logPayment, n, func(r *rand.Rand, into []byte) []byte { return v.payment(r, into, v.one, true) })
	}
	write(logPayments, callers, func(r *rand.Rand, into []byte) []byte { return v.payment(r, into, v.all, false) })
	return list
}

// writers are the numbers of callers for kinds that write.
func writers(callers, many int) []int {
	if many == 0 || many == callers {
		return []int{callers}
	}
	return []int{callers, many}
}

// booking is a booking of any channel.
func (v *visitor) booking(r *rand.Rand, into []byte) []byte {
	n := r.IntN(book.Channels)
	return v.bookingOf(n, 1_000_000_000_000, r, into)
}

func (v *visitor) bookingOf(channel int, total int64, r *rand.Rand, into []byte) []byte {
	var room [600]byte
	body := fmt.Appendf(room[:0], `{"channels":%d,"currencies":%q,"total":%d,"date_start":%q,"date":%q,"countries":"FR","firstname":"Ada",`+
		`"surname":"Lovelace%d","email":"traveller%d@example.org","content":"Seven nights, half board","pax":2,"reference":"B-%da%d","suppliers":[%d]}`,
		v.h.Book.FirstChannel+int64(channel), string(v.h.Book.Currency(channel)), total,
		day(30+r.IntN(100)), day(140+r.IntN(100)), r.IntN(5000), r.IntN(1_000_000), r.IntN(1_000_000), r.IntN(1_000_000), 1+r.IntN(book.Suppliers))
	return request(into, http.MethodPost, v.path("bookings"), v.h.Token, body)
}

// day is the date this many days from now.
func day(ahead int) string { return time.Now().UTC().AddDate(0, 0, ahead).Format(time.DateOnly) }

// payment is a purchase for the next booking in a list.
func (v *visitor) payment(r *rand.Rand, into []byte, bookings []int64, one bool) []byte {
	n := v.next.Add(1)
	at := int(n % int64(len(bookings)))
	channel := 0
	if !one {
		channel = at % book.Channels
	}
	currency, total := string(v.h.Book.Currency(channel)), 1000+r.IntN(90_000)
	var room [600]byte
	body := fmt.Appendf(room[:0], `{"channels":%d,"currencies":%q,"total":%d,"transaction_types":"purchase","payment_methods":"credit-card",`+
		`"payee_name":"Ada","payee_surname":"Lovelace","payee_email":"ada@example.org","countries":"FR","card_types":"visa",`+
		`"bin_number":"424242","last_four_digits":"4242","auth_code":"083219","reference":"%sn%d",`+
		`"bookings":[{"id":%d,"currencies":%q,"total":%d}]}`,
		v.h.Book.FirstChannel+int64(channel), currency, total, v.run, n, bookings[at], currency, total)
	return request(into, http.MethodPost, v.path("transactions"), v.h.Token, body)
}

// prepare creates the bookings that receive payments.
func (v *visitor) prepare(ctx context.Context) error {
	v.one, v.all = make([]int64, pool/2), make([]int64, pool/2)
	errs := make([]error, 16)
	var all sync.WaitGroup
	for caller := range errs {
		all.Go(func() {
			c, err := dial(ctx, v.h.server.address)
			if err != nil {
				errs[caller] = err
				return
			}
			defer c.close()
			r := rand.New(rand.NewPCG(1, uint64(caller)))
			for i := caller; i < pool && errs[caller] == nil; i += len(errs) {
				into, channel := &v.one[i/2], 0
				if i%2 == 1 {
					into, channel = &v.all[i/2], i/2%book.Channels
				}
				*into, errs[caller] = v.make(c, channel, r)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *visitor) make(c *conn, channel int, r *rand.Rand) (int64, error) {
	status, err := c.do(v.bookingOf(channel, 1_000_000_000_000, r, nil))
	if err != nil {
		return 0, err
	}
	var made struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal(c.body, &made); status != http.StatusCreated || err != nil {
		return 0, fmt.Errorf("creating a booking returned status %d: %.300s", status, c.body)
	}
	return made.ID, nil
}
