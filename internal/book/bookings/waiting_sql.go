package bookings

import (
	"database/sql"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/lib/digest"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
)

// bookingsMemory is what a write knows about bookings without reading them again.
type bookingsMemory struct {
	held    map[store.Key]*booking.Booking // made or locked by the write: nobody else changes them before it ends
	made    []*booking.Booking             // those of held whose rows are not written yet
	changed []*booking.Booking             // those of held whose rows are, and whose sums are not stored yet
	// The keys of made.
	unwritten map[store.Key]bool
	found     map[store.Key]time.Time // when those of held were last changed when the write began with them
	blank     map[store.Key]bool      // those of held that were blank (see Blank) when the write began with them
	// What is outstanding of them, as stored, and what is to be stored instead.
	outstanding map[store.Key]string
	renewed     map[store.Key]func() string
}

var (
	inBookings  = store.NewLocal[bookingsMemory]()
	waitingNew  = store.NewParentDeferral(flushNew, "bookings")
	waitingSums = store.NewSumDeferral(flushSums, "bookings")

	newSuppliers     = store.NewLocal[[][]any]() // rows of booking_suppliers
	waitingSuppliers = store.NewDeferral(flushSuppliers, "booking_suppliers")
)

// Held returns a booking that this write has made or locked, as the write knows it. ok is false when it has done neither.
func Held(tx *store.Tx, siteID, id int64) (b booking.Booking, ok bool) {
	held := inBookings.Of(tx).held[store.Key{SiteID: siteID, ID: id}]
	if held == nil {
		return b, false
	}
	return *held, true
}

// hold notes that the write has made or locked a booking.
func hold(tx *store.Tx, b *booking.Booking) {
	m, key := inBookings.Of(tx), store.Key{SiteID: b.SiteID, ID: b.ID}
	store.Keep(&m.held, key, b)
	store.Keep(&m.found, key, b.ModifiedAt)
	store.Keep(&m.blank, key, b.Payments == 0 && !b.TotalChanged)
}

// holdLocked is hold for a booking with what is outstanding of it, as stored.
func holdLocked(tx *store.Tx, b booking.Booking, outstanding string) {
	hold(tx, &b)
	store.Keep(&inBookings.Of(tx).outstanding, store.Key{SiteID: b.SiteID, ID: b.ID}, outstanding)
}

// Blank reports whether a booking was blank when this write made or locked it: nothing had ever been paid for it, and its
// total had never changed. Then everything about its payments comes from this write.
func Blank(tx *store.Tx, siteID, id int64) bool {
	return inBookings.Of(tx).blank[store.Key{SiteID: siteID, ID: id}]
}

// Overtaken reports whether another write, whose clock was later than that of this one, has changed a booking before this
// write locked it.
func Overtaken(tx *store.Tx, siteID, id int64) bool {
	return inBookings.Of(tx).found[store.Key{SiteID: siteID, ID: id}].After(tx.Now)
}

// Outstanding returns the text that KeepOutstanding stored with a held booking, or "" if it never did.
func Outstanding(tx *store.Tx, siteID, id int64) string {
	return inBookings.Of(tx).outstanding[store.Key{SiteID: siteID, ID: id}]
}

// KeepOutstanding stores a text with a held booking, for the room that computes what is outstanding of it (E4 of R7). It
// asks for the text when the row is written, with the sums of the booking.
func KeepOutstanding(tx *store.Tx, siteID, id int64, text func() string) error {
	key := store.Key{SiteID: siteID, ID: id}
	store.Keep(&inBookings.Of(tx).renewed, key, text)
	return storeLater(tx, key)
}

// modified is the instant of a change of a booking. It never goes back, though of two writes that wait for each other the one
// with the later clock may come first: see Overtaken.
func modified(tx *store.Tx, b *booking.Booking) time.Time {
	if b.ModifiedAt.After(tx.Now) {
		return b.ModifiedAt
	}
	return tx.Now
}

// flushSums stores the changed sums of bookings, what is outstanding of them, and the status that follows.
func flushSums(tx *store.Tx) error {
	m := inBookings.Of(tx)
	changed := m.changed
	m.changed = nil
	m.renew()
	rows := make([][]any, len(changed))
	for i, b := range changed {
		rows[i] = []any{b.SiteID, b.ID, b.Sums.Net, b.Sums.Held, b.Sums.OpenAuthorised, b.Sums.LockedPayments, b.Payments,
			b.ModalDraft, string(b.StoredStatus()), m.outstanding[store.Key{SiteID: b.SiteID, ID: b.ID}], store.Micros(modified(tx, b)), b.Version}
	}
	err := tx.UpdateRows("bookings", "BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BOOLEAN, TEXT, TEXT, BIGINT, BIGINT",
		`net = v.column3, held = v.column4, open_authorised = v.column5, locked_payments = v.column6, payments = v.column7,
		modal_draft = v.column8, status = v.column9, outstanding = v.column10, modified_at = v.column11, version = v.column12,
		completed = completed AND v.column9 = 'paid'`, rows)
	for _, b := range changed {
		tx.Leave(leftSums{SiteID: b.SiteID, ID: b.ID})
	}
	return err
}

// leftSums is the key of a booking whose sums wait for the end of a transaction that several writes share.
type leftSums store.Key

// renew computes what is outstanding of the bookings for which that has changed.
func (m *bookingsMemory) renew() {
	for key, text := range m.renewed {
		store.Keep(&m.outstanding, key, text())
	}
	m.renewed = nil
}

// insertedBooking are the columns of a new booking.
const insertedBooking = `site_id, id, uuid, channel_id, author_id, author, author_name, content, firstname, surname, email,
	start_day, end_day, pax, reference, total, currencies, country, language, modal_draft, net, held, open_authorised,
	locked_payments, payments, status, deleted, import_key, version, created_at, modified_at, suppliers, other_protection,
	outstanding, digest`

// Insert stores a new booking and returns its id. The row is written later in the same write, with the sums that the booking has
// by then.
func Insert(tx *store.Tx, b booking.Booking) (id int64, err error) {
	ids, err := tx.NewIDs(waitingNew, 1)
	if err != nil {
		return 0, err
	}
	id = ids[0][0]
	b.Suppliers = inOrder(b.Suppliers)
	addBookingSuppliers(tx, b.SiteID, id, b.Suppliers)
	b.ID, b.Version, b.CreatedAt, b.ModifiedAt, b.TransactionIDs = id, 1, tx.Now, tx.Now, nil
	hold(tx, &b)
	m := inBookings.Of(tx)
	m.made = append(m.made, &b)
	store.Keep(&m.unwritten, store.Key{SiteID: b.SiteID, ID: id}, true)
	tx.Defer(waitingNew)
	events.Record(tx, b.SiteID, events.BookingCreated, id, events.Details{Status: statusNow(tx, b)})
	return id, nil
}

// flushNew inserts the new bookings of a write.
func flushNew(tx *store.Tx) error {
	m := inBookings.Of(tx)
	made := m.made
	m.made, m.unwritten = nil, nil
	m.renew()
	rows := make([][]any, len(made))
	for i, b := range made {
		sum, err := digest.Of(b.Facts(inRow(b.Suppliers))...)
		if err != nil {
			return err
		}
		rows[i] = []any{
			b.SiteID, b.ID, b.UUID, b.ChannelID, b.AuthorID, b.Author, b.AuthorName, b.Content, b.Firstname, b.Surname, b.Email,
			store.MaybeDay(b.Start), int64(b.End), b.Pax, b.Reference, b.Total, string(b.Currency), b.Country, b.Language, b.ModalDraft,
			b.Sums.Net, b.Sums.Held, b.Sums.OpenAuthorised, b.Sums.LockedPayments, b.Payments, string(b.StoredStatus()), false,
			sql.NullString{String: b.ImportKey, Valid: b.ImportKey != ""}, b.Version, store.Micros(b.CreatedAt), store.Micros(b.ModifiedAt),
			inRow(b.Suppliers), string(b.OwnProtection), m.outstanding[store.Key{SiteID: b.SiteID, ID: b.ID}], sum,
		}
	}
	return tx.InsertRows("bookings", insertedBooking, rows)
}

// addBookingSuppliers adds rows that are not there. They are written later in the same write.
func addBookingSuppliers(tx *store.Tx, siteID, id int64, suppliers []int64) {
	rows := newSuppliers.Of(tx)
	for _, supplier := range suppliers {
		*rows = append(*rows, []any{siteID, id, supplier})
		tx.Defer(waitingSuppliers)
	}
}

func flushSuppliers(tx *store.Tx) error {
	waiting := newSuppliers.Of(tx)
	rows := *waiting
	*waiting = nil
	return tx.InsertRows("booking_suppliers", "site_id, booking_id, supplier_id", rows)
}
