package claim

import (
	"math/big"

	"holdfast/internal/domain/money"
)

// Account has the premium and the losses of a year of account, in minor units of the policy currency.
type Account struct {
	Premium                         int64 // booked in the year
	Payable, Covered, Paid, Reserve int64
}

// Incurred is what the cover pays or is expected to pay, before recoveries.
func (a Account) Incurred() int64 { return money.Sum(a.Covered, a.Reserve) }

// Add adds up accounts.
func (a Account) Add(o Account) Account {
	return Account{
		money.Sum(a.Premium, o.Premium), money.Sum(a.Payable, o.Payable), money.Sum(a.Covered, o.Covered), money.Sum(a.Paid, o.Paid),
		money.Sum(a.Reserve, o.Reserve),
	}
}

// LossRatio is incurred ÷ premium in parts per million, rounded once. ok is false without premium.
func (a Account) LossRatio() (ppm int64, ok bool) {
	if a.Premium <= 0 {
		return 0, false
	}
	losses := big.NewInt(a.Incurred())
	ppm, err := money.Round(losses.Mul(losses, big.NewInt(wholePPM)), big.NewInt(a.Premium))
	return ppm, err == nil
}
