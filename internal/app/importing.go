package app

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// naturalKey is what the file calls a booking or a payment; it is unique in its channel.
type naturalKey struct {
	channel, key string
}

// importChunk is the rows of one write on their way in. It is made anew when the write runs again.
type importChunk struct {
	run  *importRun
	tx   *store.Tx
	site travel.Site
	rows int
	// careful says that each row writes in a savepoint of its own, from which it can be taken back.
	careful bool

	// What the rows of this chunk share: most stand next to rows of the same booking.
	channels map[string]travel.Channel
	bookings map[naturalKey]travel.Booking

	made, met []int64 // bookings
	opened    []travel.Channel
	payments  Tally
	refused   []Refusal
}

// errTakeBack: a row was refused after it had written something, and there is no savepoint to go back to.
var errTakeBack = errors.New("the row has to be taken back")

// apart runs what writes the one row, all of it or nothing. Savepoints are dear (SQLite copies every page that is
// touched again in each of them), and a row that was looked at beforehand is hardly ever refused here: so the first
// time there are none, and where one would have been needed the whole chunk is run again with them.
func (c *importChunk) apart(write func() error) error {
	if c.careful {
		return c.tx.Savepoint(write)
	}
	err := write()
	if isRefusal(err) {
		return errTakeBack
	}
	return err
}

// isRefusal reports whether an error is about the row. Every other one is our fault or the database's.
func isRefusal(err error) bool {
	kind := fault.KindOf(err)
	return err != nil && kind != fault.Internal && kind != fault.Unavailable
}

// row takes one row or refuses it. An error is nobody's fault but ours, or the database's, and ends the write.
func (c *importChunk) row(in travel.ImportedPayment) error {
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

// takeRow looks at everything before it writes anything; a row is there whole or not at all.
func (c *importChunk) takeRow(in travel.ImportedPayment) error {
	booking, payment, err := c.check(in)
	if err != nil {
		return err
	}
	channel, err := c.channel(in.Channel)
	switch {
	case errors.Is(err, store.ErrNotFound) && c.run.opts.Mode != "":
		return c.apart(func() error { return c.open(in, booking, payment) })
	case errors.Is(err, store.ErrNotFound):
		return refusedCell("channel", "There is no channel of this name, and no mode was given in which to create it.")
	case err != nil:
		return err
	}
	return c.place(in, channel, booking, payment)
}

// check judges what the row says by itself, booking and payment at once, so that all its mistakes are told together.
func (c *importChunk) check(in travel.ImportedPayment) (travel.Booking, travel.NewTransaction, error) {
	someID := int64(1) // stands for the ids that the row cannot know
	wrong, wrongPayment := in.Booking.Problems.Clone(), in.Payment.Problems.Clone()
	in.Booking.ChannelID = &someID
	booking := in.Booking.NewBooking(&wrong)

	payment := in.Payment
	payment.ChannelID, payment.CoverFromEffective = &someID, c.run.opts.CoverFromEffective
	payment.Items = &[]travel.Item{{BookingID: someID, Currency: booking.Currency, Total: in.BaseTotal}}
	if linked := payment.Type != nil && payment.Type.Linked(); linked && in.Linked == "" {
		wrongPayment.Wrong("linked_id", "A %s names the payment that it adjusts.", *payment.Type)
	} else if linked || in.Linked != "" {
		payment.LinkedID = someID
	}
	payment.Check(c.tx.Now, &wrongPayment)
	return booking, payment, cellsOf(wrong.Err(), wrongPayment.Err())
}

// channel finds the channel of a name.
func (c *importChunk) channel(name string) (travel.Channel, error) {
	if found, ok := c.channels[name]; ok {
		return found, nil
	}
	found, err := c.tx.ChannelByName(c.site.ID, name)
	if err == nil {
		c.channels[name] = found
	}
	return found, err
}

// open creates the channel of the row, in the row's currency, and places the row in it. When the row is refused after
// all, there is no channel either.
func (c *importChunk) open(in travel.ImportedPayment, booking travel.Booking, payment travel.NewTransaction) error {
	secret, err := auth.NewChannelSecret(c.run.Random)
	if err != nil {
		return fmt.Errorf("drawing a channel secret: %w", err)
	}
	currency := booking.Currency
	if before, ok := c.run.channels[in.Channel]; ok { // on a dry run, by a row further up
		currency = before
	}
	var wrong fault.Problems
	fields := travel.ChannelFields{Name: &in.Channel, Currency: &currency, Mode: &c.run.opts.Mode}
	channel := fields.NewChannel(c.site, true, &wrong)
	channel.UUID, channel.Secret = c.run.NewUUID(), secret
	if f, ok := errors.AsType[*fault.Error](wrong.Err()); ok {
		return refusedCell("channel", "No such channel can be created: %s", strings.Join(slices.Sorted(maps.Values(f.Params)), " "))
	}
	if channel, err = c.tx.InsertChannel(channel); err != nil {
		return err
	}
	if err := c.place(in, channel, booking, payment); err != nil {
		return err
	}
	c.channels[in.Channel] = channel
	c.opened = append(c.opened, channel)
	return nil
}

// place puts the row into its channel: what is there already is compared, what is not is made.
func (c *importChunk) place(
	in travel.ImportedPayment, channel travel.Channel, booking travel.Booking, payment travel.NewTransaction,
) error {
	stored, err := c.storedBooking(channel, booking.ImportKey)
	isNew := errors.Is(err, store.ErrNotFound)
	switch {
	case err != nil && !isNew:
		return err
	case !isNew:
		if err := sameBooking(in.Booking, stored, booking); err != nil {
			return err
		}
		booking = stored
	}
	payment.ChannelID = &channel.ID
	if in.Linked != "" {
		original, err := c.tx.TransactionByImportKey(c.site.ID, channel.ID, in.Linked)
		if errors.Is(err, store.ErrNotFound) {
			return refusedCell("linked_reference", "There is no payment %q in the channel.", in.Linked)
		}
		if err != nil {
			return err
		}
		payment.LinkedID = original.ID
	}
	if !isNew {
		payment.Items = &[]travel.Item{{BookingID: booking.ID, Currency: booking.Currency, Total: in.BaseTotal}}
	}
	before, err := c.tx.TransactionByImportKey(c.site.ID, channel.ID, payment.ImportKey)
	switch {
	case err == nil && !isNew && before.ContentHash == payment.Hash():
		c.met = append(c.met, booking.ID)
		c.payments.AlreadyThere++
		return nil
	case err == nil:
		return samePayment(before, payment, booking.ID)
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	return c.apart(func() error { return c.record(channel, booking, payment, isNew) })
}

func (c *importChunk) storedBooking(channel travel.Channel, key string) (travel.Booking, error) {
	if found, ok := c.bookings[naturalKey{channel.Name, key}]; ok {
		return found, nil
	}
	found, err := c.tx.BookingByImportKey(c.site.ID, channel.ID, key)
	if err == nil {
		c.bookings[naturalKey{channel.Name, key}] = found
	}
	return found, err
}

// record makes the booking, where it is new, and the payment.
func (c *importChunk) record(
	channel travel.Channel, booking travel.Booking, payment travel.NewTransaction, isNew bool,
) error {
	actor := c.run.actor
	if isNew {
		var wrong fault.Problems
		booking.SiteID, booking.ChannelID, booking.UUID = c.site.ID, channel.ID, c.run.NewUUID()
		booking.AuthorID, booking.Author, booking.AuthorName = actor.UserID, actor.Username, actor.DisplayName
		booking.CheckChannel(channel, &wrong)
		if err := cellsOf(wrong.Err(), nil); err != nil {
			return err
		}
		booking.Version, booking.CreatedAt, booking.ModifiedAt = 1, c.tx.Now, c.tx.Now
		id, err := c.tx.InsertBooking(booking)
		if err != nil {
			return err
		}
		booking.ID = id
		items := *payment.Items
		payment.Items = &[]travel.Item{{BookingID: id, Currency: booking.Currency, Total: items[0].Total}}
	}
	payments := &Payments{Core: c.run.Core}
	if _, _, err := payments.record(c.tx, actor, c.site, payment); err != nil {
		return cellsOf(nil, err)
	}
	c.payments.Created++
	if isNew {
		c.made = append(c.made, booking.ID)
		c.bookings[naturalKey{channel.Name, booking.ImportKey}] = booking
	} else {
		c.met = append(c.met, booking.ID)
	}
	return nil
}
