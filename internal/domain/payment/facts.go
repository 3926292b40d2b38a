package payment

// The facts of a row are the columns that never change after the row was written, or, of a booking, that change only
// with its digest. The owner of the table stores their digest in the same statement, and `holdfast verify` computes it
// again. Each list of columns is in the order of the values. A new column comes last, with a new name of the form in
// the migration that recomputes the digests.

// TransactionFacts are the columns of Transaction.Facts. Status, remaining amount, flags and what a processor's answer
// fills in are not among them. Nor is the caller's reference, because a payment that never happened gives it back.
const TransactionFacts = `site_id, uuid, channel_id, author_id, author, author_name, type, currencies, total,
	base_currency, base_total, forex_rate, psp, method, payee_name, payee_surname, payee_email, country, token, ip_address,
	attempt_3ds, redirect_url, linked_id, content_hash, import_key, simulated, effective_at, created_at, acquirer_reference,
	capture_by`

// Facts are the values of TransactionFacts.
func (t Transaction) Facts() []any {
	return []any{
		t.SiteID, t.UUID, t.ChannelID, t.AuthorID, t.Author, t.AuthorName, t.Type, t.Currency, t.Total, t.BaseCurrency,
		t.BaseTotal, t.ForexRate, t.PSP, t.Method, t.PayeeName, t.PayeeSurname, t.PayeeEmail, t.Country, t.Token, t.IPAddress,
		t.Attempt3DS, t.RedirectURL, maybe(t.LinkedID), t.ContentHash, maybe(t.ImportKey), t.Simulated,
		t.EffectiveAt.UnixMicro(), t.CreatedAt.UnixMicro(), t.AcquirerReference, max(0, t.CaptureBy.UnixMicro()),
	}
}

// PaymentFacts are the columns of Payment.Facts.
const PaymentFacts = `site_id, transaction_id, channel_id, booking_id, currencies, total, linked_id, created_at`

// Facts are the values of PaymentFacts.
func (p Payment) Facts() []any {
	return []any{
		p.SiteID, p.TransactionID, p.ChannelID, p.BookingID, p.Currency, p.Total, maybe(p.LinkedID), p.CreatedAt.UnixMicro(),
	}
}

// maybe is NULL for the zero value.
func maybe[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
