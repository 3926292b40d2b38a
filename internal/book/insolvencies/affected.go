package insolvencies

import (
	"context"
	"iter"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Affected is a line of the snapshot with its booking and payment as they are now: the people to notify, and the details that a bank
// asks for.
type Affected struct {
	ID int64 // of the line
	claim.SnapshotLine
	Travelling         bool   // today
	BookingReference   string // the caller's
	Firstname, Surname string
	Email              string
	Start              civil.Day // civil.NoDay where only the end is known
	End                civil.Day
	Country            string
	Suppliers          []string // names
	Language           string
	OtherProtection    merchant.OtherProtection
	Reference          string // of the payment, the caller's
	PaidAt             time.Time
	PSP                string
	Scheme             card.Scheme
	BIN, LastFour      string
	AuthCode           string
	AcquirerReference  string
	ProcessorReference string
	Total              int64          // of the allocation, minor units of Currency
	PaymentTotal       int64          // of the whole payment
	PaymentCurrency    money.Currency // of PaymentTotal
	Value              int64          // protection value of Total, minor units of PolicyCurrency; 0 while pending_rate
	PolicyCurrency     money.Currency
}

// AffectedOrders lists the values of orderby, besides those of every list, for affected payments. The first is the default: those
// travelling now, then those who leave next, then those who came back last.
var AffectedOrders = []string{OrderTravel}

// OrderTravel sorts affected payments by travel dates.
const OrderTravel = "travel"

// Affected reads one page of the payments in the snapshot of an insolvency. The error is ActionNotPossible before the job has
// made it.
func (r *Insolvencies) Affected(
	ctx context.Context, actor access.Actor, id int64, page store.Page,
) (list store.List[Affected], err error) {
	if _, err := r.Opened(ctx, actor, id); err != nil {
		return list, err
	}
	return sites.ReadPage(ctx, r.DB, actor, page, func(tx *store.Tx) (store.List[Affected], error) {
		return affectedPage(tx, actor.SiteID, id, page)
	})
}

// AllAffected reads all payments in the snapshot, those travelling now first. It needs the permission Export. It reads
// a large page at a time, because each page sorts all lines.
func (r *Insolvencies) AllAffected(ctx context.Context, actor access.Actor, id int64) iter.Seq2[Affected, error] {
	return func(yield func(Affected, error) bool) {
		if err := actor.Require(access.Export); err != nil {
			yield(Affected{}, err)
			return
		}
		page := store.Page{Number: 1, Size: r.Batch, Offset: -1, OrderBy: OrderTravel}
		for {
			list, err := r.Affected(ctx, actor, id, page)
			if err != nil {
				yield(Affected{}, err)
				return
			}
			for _, a := range list.Items {
				if !yield(a, nil) {
					return
				}
			}
			if !list.More {
				return
			}
			page.After = list.Last
		}
	}
}
