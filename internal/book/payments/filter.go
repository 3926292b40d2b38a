package payments

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/payment"
)

// TransactionFilter selects transactions of a list. An empty field selects all.
type TransactionFilter struct {
	Created            civil.Span
	Statuses           []payment.TransactionStatus
	Channels           []int64
	Countries          []string
	Reference          string
	Currencies         []string
	Types              []payment.TransactionType
	Methods            []string
	CardTypes          []string
	BIN                string
	LastFour           string
	PayeeEmail         string
	PayeeSurname       string
	LinkedID           int64
	Bookings           []int64
	PSP                string
	AuthCode           string
	AcquirerReference  string
	ProcessorReference string
	Flags              []string // with any of these
	OverLimit          *bool    // whether it exceeds a limit
	Protected          *bool    // whether it is protected
	// Find is the search text for a payment: its id, reference, or the payer's surname or e-mail, or a part of them.
	Find string
}

// TransactionOrders lists the values of orderby, besides those of every list, for transactions.
var TransactionOrders = []string{"date", "created", "total"}

// PaymentFilter selects payment records of a list. An empty field selects all.
type PaymentFilter struct {
	Created      civil.Span
	Transactions []int64
	Bookings     []int64
	Channels     []int64
}

// PaymentOrders lists the values of orderby, besides those of every list, for payment records.
var PaymentOrders = []string{"date", "created", "total"}
