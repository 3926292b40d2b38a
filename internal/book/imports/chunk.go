package imports

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// importChannel is a channel, with those of its bookings and payments that the rows of a chunk name. Both maps are by
// natural key. Bookings and payments that the rows make are added to them.
type importChannel struct {
	merchant.Channel
	bookings map[string]booking.Booking
	payments map[string]importedTransaction
}

func newImportChannel(c merchant.Channel) *importChannel {
	return &importChannel{Channel: c, bookings: map[string]booking.Booking{}, payments: map[string]importedTransaction{}}
}

// importChunk imports the rows of one write. Each run of the write gets a new importChunk.
type importChunk struct {
	run  *importRun
	tx   *store.Tx
	site merchant.Site
	rows []ImportedPayment
	// careful: each row writes in a savepoint of its own, so that it can be rolled back alone.
	careful bool

	channels  map[int64]*importChannel // by id
	named     map[string]int64         // ids of channels by name
	made, met []int64                  // ids of bookings: those made, those that existed
	opened    []merchant.Channel       // the channels that were created
	payments  Tally
	shares    shares
	totals    []Total
	refused   []Refusal
	done      []Row // those not rejected
}

// errTakeBack: a row was rejected after writing something, and there is no savepoint to roll back to.
var errTakeBack = errors.New("the row must be rolled back")

// apart runs the function that writes a row atomically. Savepoints are slow (SQLite copies every changed page again for
// each of them), and rows that have passed their checks are hardly ever rejected here. So the first run uses none. If a
// row turns out to need one, the whole chunk runs again with savepoints. A row that violates a schema constraint is
// rejected like any other.
func (c *importChunk) apart(write func() error) error {
	if !c.careful {
		err := write()
		if isRefusal(err) {
			return errTakeBack
		}
		return err
	}
	err := c.tx.Savepoint(func() error {
		if err := write(); err != nil {
			return err
		}
		return ledger.SaveChanges(c.tx)
	})
	if errors.Is(err, store.ErrConflict) {
		return &errs.Error{Kind: errs.ReferenceExists, Message: "The row conflicts with existing data.", Err: err}
	}
	return err
}

// isRefusal reports whether an error is about the row. Any other error is one of the program or the database.
func isRefusal(err error) bool {
	kind := errs.KindOf(err)
	return err != nil && kind != errs.Internal && kind != errs.Unavailable
}

// all imports all rows of the chunk.
func (c *importChunk) all() error {
	for _, row := range c.rows {
		if err := c.row(row); err != nil {
			return err
		}
	}
	return ledger.SaveChanges(c.tx)
}

// row imports one row or rejects it. It returns only errors that are not about the row; they end the write.
func (c *importChunk) row(in ImportedPayment) error {
	err := in.Refused
	if err == nil {
		err = c.takeRow(in)
	}
	if !isRefusal(err) {
		return err
	}
	c.refused = append(c.refused, refusalOf(in.Line, err))
	return nil
}

// takeRow checks the whole row before it writes anything.
func (c *importChunk) takeRow(in ImportedPayment) error {
	booking, payment, err := c.check(in)
	if err != nil {
		return err
	}
	channel, err := c.channelOf(in)
	switch {
	case errors.Is(err, store.ErrNotFound) && in.ChannelID != 0:
		return refusedCell("channel_id", "Channel %d not found.", in.ChannelID)
	case errors.Is(err, store.ErrNotFound) && c.run.opts.Mode != "":
		return c.apart(func() error { return c.open(in, booking, payment) })
	case errors.Is(err, store.ErrNotFound):
		return refusedCell("channel", "There is no channel with this name. To create it, set a mode.")
	case err != nil:
		return err
	}
	return c.place(in, channel, booking, payment)
}

// check checks the row on its own, its booking and its payment, so that the refusal names all problems of the row.
func (c *importChunk) check(in ImportedPayment) (booking.Booking, payment.NewTransaction, error) {
	someID := int64(1) // placeholder for ids that are not known yet
	wrong, wrongPayment := in.Booking.Problems.Clone(), in.Payment.Problems.Clone()
	in.Booking.ChannelID, in.Booking.Profile = &someID, c.run.Profile
	booking := in.Booking.NewBooking(&wrong)

	p := in.Payment
	p.ChannelID, p.CoverFromEffective = &someID, c.run.opts.CoverFromEffective
	p.Items = &[]payment.Item{{BookingID: someID, Currency: booking.Currency, Total: in.BaseTotal}}
	if linked := p.Type != nil && p.Type.Linked(); linked && in.Linked == "" {
		wrongPayment.Wrong("linked_id", "A %s must reference the payment that it adjusts.", *p.Type)
	} else if linked || in.Linked != "" {
		p.LinkedID = someID
	}
	p.Check(c.tx.Now, &wrongPayment)
	return booking, p, cellsOf(wrong.Err(), wrongPayment.Err(), checkKeys(in))
}

// checkKeys refuses keys that no database can store: broken UTF-8 and the character 0.
func checkKeys(in ImportedPayment) error {
	var wrong errs.Problems
	for cell, text := range map[string]string{
		"channel": in.Channel, "booking_reference": in.Booking.ImportKey, "payment_reference": in.Payment.ImportKey,
		"linked_reference": in.Linked,
	} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			wrong.Wrong(cell, "This text is not valid UTF-8 or contains control characters.")
		}
	}
	return wrong.Err()
}

// lookUp reads the existing channels, bookings and payments that the rows name, before anything is created: a query in between would flush
// the held rows a few at a time.
func (c *importChunk) lookUp() error {
	tried := map[string]bool{}
	for _, row := range c.rows {
		if name := channelText(row); row.Refused == nil && !tried[name] && checkKeys(row) == nil {
			tried[name] = true
			// Problems of the row are reported when it is processed.
			if _, err := c.channelOf(row); err != nil && !errors.Is(err, store.ErrNotFound) && !isRefusal(err) {
				return err
			}
		}
	}
	return c.lookUpKeys()
}

// lookUpKeys reads the bookings and payments that the rows name. One query for many of them is much faster than one for each row.
func (c *importChunk) lookUpKeys() error {
	var bookings, keys []importKey
	var references []payments.Reference
	for _, row := range c.rows {
		// These rows are not validated yet. Only keys that no database can store are left out.
		channel := c.channels[cmp.Or(row.ChannelID, c.named[row.Channel])]
		if channel == nil || row.Refused != nil || checkKeys(row) != nil {
			continue
		}
		bookings = append(bookings, importKey{channel.ID, row.Booking.ImportKey})
		keys = append(keys, importKey{channel.ID, row.Payment.ImportKey})
		if row.Linked != "" {
			keys = append(keys, importKey{channel.ID, row.Linked})
		}
		references = append(references, payments.Reference{ChannelID: channel.ID, PSP: row.Payment.PSP, Text: row.Payment.Reference})
	}
	err := importedBookings(c.tx, c.site.ID, bookings, func(b booking.Booking) { c.channels[b.ChannelID].bookings[b.ImportKey] = b })
	if err != nil {
		return err
	}
	err = importedTransactions(c.tx, c.site.ID, keys, func(key importKey, t importedTransaction) {
		c.channels[key.ChannelID].payments[key.Key] = t
	})
	if err != nil {
		return err
	}
	return payments.LookUpReferences(c.tx, c.site.ID, references)
}

// channelOf finds the channel of a row by its id, else by its name.
func (c *importChunk) channelOf(in ImportedPayment) (*importChannel, error) {
	id := in.ChannelID
	if named, ok := c.named[in.Channel]; ok && id == 0 {
		id = named
	}
	found, ok := c.channels[id]
	if !ok {
		stored, err := c.stored(id, in.Channel)
		if err != nil {
			return nil, err
		}
		if found = c.channels[stored.ID]; found == nil {
			found = newImportChannel(stored)
			c.channels[stored.ID] = found
		}
		if in.ChannelID == 0 {
			c.named[in.Channel] = stored.ID
		}
	}
	if in.Channel == "" || in.Channel == found.Name {
		return found, nil
	}
	return nil, refusedCell("channel", "Channel %d has a different name.", found.ID)
}

// stored reads a channel by id or, if that is 0, by name. Later writes usually need the same channels.
func (c *importChunk) stored(id int64, name string) (merchant.Channel, error) {
	type named struct {
		id   int64
		name string
	}
	if id != 0 {
		name = ""
	}
	return sites.Known(c.tx, c.site.ID, named{id, name}, func() (merchant.Channel, error) {
		if id != 0 {
			return merchants.Channel(c.tx, c.site.ID, id)
		}
		return merchants.ChannelByName(c.tx, c.site.ID, name)
	})
}

// open creates the channel of the row, in the row's currency, and assigns the row to it. If the row is rejected, the channel is not
// created.
func (c *importChunk) open(in ImportedPayment, booking booking.Booking, payment payment.NewTransaction) error {
	secret, err := secrets.NewChannelSecret(c.run.Random)
	if err != nil {
		return fmt.Errorf("generating a channel secret: %w", err)
	}
	currency := booking.Currency
	if before, ok := c.run.channels[in.Channel]; ok { // on a dry run, an earlier row has created it
		currency = before
	}
	var wrong errs.Problems
	fields := merchant.ChannelFields{Profile: c.run.Profile, Name: &in.Channel, Currency: &currency, Mode: &c.run.opts.Mode}
	channel := fields.NewChannel(c.site, c.run.actor.Can(access.SetChannelTerms), &wrong)
	channel.UUID = c.run.NewUUID()
	if f, ok := errors.AsType[*errs.Error](wrong.Err()); ok {
		return refusedCell("channel", "The channel cannot be created: %s", strings.Join(slices.Sorted(maps.Values(f.Params)), " "))
	}
	if channel, err = merchants.MakeChannel(c.run.Vault, c.tx, channel, secret); err != nil {
		return err
	}
	opened := newImportChannel(channel)
	if err := c.place(in, opened, booking, payment); err != nil {
		return err
	}
	c.channels[channel.ID], c.named[in.Channel] = opened, channel.ID
	c.opened = append(c.opened, channel)
	return nil
}

// place makes the booking and the payment of the row. If one of them exists already, it is compared with the row.
func (c *importChunk) place(
	in ImportedPayment, channel *importChannel, booking booking.Booking, p payment.NewTransaction,
) error {
	stored, known := channel.bookings[booking.ImportKey]
	if known {
		if err := sameBooking(in.Booking, stored, booking); err != nil {
			return err
		}
		booking = stored
		p.Items = &[]payment.Item{{BookingID: booking.ID, Currency: booking.Currency, Total: in.BaseTotal}}
	}
	p.ChannelID = &channel.ID
	if in.Linked != "" {
		original, ok := channel.payments[in.Linked]
		if !ok {
			return refusedCell("linked_reference", "Payment %q not found in the channel. It is neither in this file nor in an earlier import.", in.Linked)
		}
		p.LinkedID = original.ID
	}
	before, repeated := channel.payments[p.ImportKey]
	switch {
	case repeated && known && before.ContentHash == p.Hash():
		c.met = append(c.met, booking.ID)
		c.payments.AlreadyThere++
		c.done = append(c.done, Row{Line: in.Line, State: RowThere, BookingID: booking.ID, TransactionID: before.ID})
		return nil
	case repeated:
		whole, err := payments.Transaction(c.tx, c.site.ID, before.ID)
		if err != nil {
			return err
		}
		return samePayment(whole, p, booking.ID)
	}
	if err := c.taken(channel.Channel, p); err != nil {
		return err
	}
	var made payment.Transaction
	err := c.apart(func() (err error) {
		if !known {
			if booking, err = c.makeBooking(channel.Channel, booking); err != nil {
				return err
			}
			p.Items = &[]payment.Item{{BookingID: booking.ID, Currency: booking.Currency, Total: in.BaseTotal}}
		}
		made, _, err = disputes.Record(c.tx, &payments.Payments{Room: c.run.Room}, c.run.actor, c.site, p)
		return cellsOf(nil, err, nil)
	})
	if err != nil {
		return err
	}
	channel.payments[p.ImportKey] = importedTransaction{ID: made.ID, ContentHash: made.ContentHash}
	if err := c.countPayment(channel.Channel, made, in.BaseTotal); err != nil {
		return err
	}
	row := Row{Line: in.Line, State: RowCreated, BookingID: booking.ID, TransactionID: made.ID}
	if c.run.opts.DryRun {
		row.BookingID, row.TransactionID = 0, 0 // rolled back
	}
	c.done = append(c.done, row)
	if known {
		c.met = append(c.met, booking.ID)
	} else {
		channel.bookings[booking.ImportKey] = booking
		c.made = append(c.made, booking.ID)
	}
	return nil
}

func (c *importChunk) countPayment(channel merchant.Channel, made payment.Transaction, base int64) (err error) {
	c.payments.Created++
	c.shares.add(channel, made, base)
	c.totals, err = addTotals(c.totals, Total{Type: made.Type, Currency: made.Currency, Payments: 1, Amount: made.Total})
	if err != nil {
		return errTotals(err)
	}
	return nil
}

// taken rejects a card payment on a channel with its own processor, unless an operator imports it. The API would have
// charged the card; an imported payment would count as paid and be covered, although no one was charged.
func (c *importChunk) taken(channel merchant.Channel, p payment.NewTransaction) error {
	card := cmp.Or(p.Method, payment.CreditCard) == payment.CreditCard && !p.Type.Linked()
	if !card || !c.run.Profile.Processes() || !channel.TakesPayments() || c.run.actor.Can(access.SetChannelTerms) {
		return nil
	}
	return refusedCell("channel", "This channel takes card payments itself. Only an operator can import other payments into it.")
}

func (c *importChunk) makeBooking(channel merchant.Channel, b booking.Booking) (booking.Booking, error) {
	var wrong errs.Problems
	actor := c.run.actor
	b.SiteID, b.ChannelID, b.UUID = c.site.ID, channel.ID, c.run.NewUUID()
	b.AuthorID, b.Author, b.AuthorName = actor.UserID, actor.Username, actor.DisplayName
	b.CheckChannel(channel, &wrong)
	if err := cellsOf(wrong.Err(), nil, nil); err != nil {
		return booking.Booking{}, err
	}
	b.Version, b.CreatedAt, b.ModifiedAt = 1, c.tx.Now, c.tx.Now
	b.ChannelLocked, b.ChannelProtection = channel.Locked, channel.OtherProtection
	var err error
	b.ID, err = bookings.Insert(c.tx, b)
	return b, err
}
