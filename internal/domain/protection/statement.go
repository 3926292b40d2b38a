package protection

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
)

// Statement is what one channel owes for one period, in one policy currency (R11). It never changes after it was
// issued: later records appear on the next statement. Amounts are minor units of Currency.
type Statement struct {
	SiteID      int64
	ID          int64
	Number      int64 // without gaps in a site
	ChannelID   int64
	Period      terms.Period
	From, Until time.Time // it includes records from From up to, but not including, Until
	IssuedAt    time.Time
	Due         civil.Day
	Currency    money.Currency
	ChannelName string
	Language    string // of the channel

	Issuer       merchant.Party // who issued it and is paid; empty when the site had none
	Policyholder merchant.Party

	Opening  int64 // the closing balance of the statement before
	Lines    []StatementSum
	Minimum  *MonthlyMinimum // nil when none was charged
	Taxes    []StatementTax
	Payments int64 // payments in the period, against any statement
	Closing  int64
	// Account is everything that the channel was ever charged in this currency, up to this statement. Payments count
	// against the oldest charges first. So Account less all payments is the open amount of this statement.
	Account int64
}

// IssuedStatement is a statement with its open amount and credit, the only values that still change.
type IssuedStatement struct {
	Statement
	Open int64 // its open amount; 0 when it is fully paid
	// Credit is the amount paid in excess of all charges of the account so far. The next statement deducts it. Only the
	// latest statement of a channel and currency has it.
	Credit int64
}

// OverdueOn reports whether something is still to be paid on a day after the due day.
func (s IssuedStatement) OverdueOn(day civil.Day) bool { return s.Open > 0 && s.Due < day }

// StatementLine is a premium line as a statement shows it, with the state after it (R10).
type StatementLine struct {
	ID               int64
	RecordedAt       time.Time
	EffectiveAt      time.Time
	Kind             string
	Cause            string
	TransactionID    int64
	BookingID        int64
	BookingReference string // the caller's
	AllocationID     int64
	Currency         money.Currency // of StateAmount
	StateAmount      int64
	StateValue       int64 // this and the other amounts below are minor units of the statement's currency
	Exchange         Exchange
	LeadDays         int64
	PPM              int64
	Premium          int64
	MinimumApplied   bool
	Amount           int64
	Retained         int64
	RefersTo         int64 // number of the earlier statement that has the line before; 0: none
}

// StatementSum adds up the lines of one kind.
type StatementSum struct {
	Kind     string `json:"kind"`
	Lines    int64  `json:"lines"`
	Amount   int64  `json:"amount"`
	Retained int64  `json:"retained"`
}

// MonthlyMinimum is the shortfall of a month's premium against the agreed minimum: a separate line (R10).
type MonthlyMinimum struct {
	Month   string `json:"month"` // YYYY-MM
	Minimum int64  `json:"minimum"`
	Booked  int64  `json:"booked"` // premium of the month's lines
	Amount  int64  `json:"amount"` // the missing information
}

// StatementTax is the tax of one code: that on all premium of the code to date, rounded once, less the tax of earlier
// statements (R11). So partial returns never exceed the tax charged.
type StatementTax struct {
	Code    string    `json:"code"`
	Label   string    `json:"label"`
	Parts   []TaxPart `json:"parts"`   // of this statement
	Earlier []TaxPart `json:"earlier"` // of all earlier statements of the channel in the currency
	Before  int64     `json:"before"`  // tax of these
	Amount  int64     `json:"amount"`
}

// TaxPart is the premium that was taxed at one rate. A tax has several parts when its rate has changed.
type TaxPart struct {
	Base    int64 `json:"base"`
	RatePPM int64 `json:"rate_ppm"`
}

// BookedSum adds up the premium lines of one kind and one policy.
type BookedSum struct {
	StatementSum
	Taxes []terms.TaxCode // of the policy that priced the lines
}

// Charges is what AddUp makes a statement of.
type Charges struct {
	Opening  int64 // closing balance of the statement before
	Account  int64 // of the statement before
	Booked   []BookedSum
	Minimum  *MonthlyMinimum
	MinTaxes []terms.TaxCode // on the minimum
	Taxed    EarlierTaxes    // of the statements before
	Payments int64
}

// lineKinds is the order of the kinds of lines on a statement. Other kinds follow, in order of their names.
var lineKinds = []string{"original", "additional", "return", "correction"}

// Shortfall is the difference between a month's premium and the minimum, or nil if the minimum is met (R10). When the month
// returned more premium than it booked, it counts as zero: the returned premium belongs to earlier months.
func Shortfall(month string, minimum, booked int64) *MonthlyMinimum {
	missing := minimum - max(0, booked)
	if minimum <= 0 || missing <= 0 {
		return nil
	}
	return &MonthlyMinimum{Month: month, Minimum: minimum, Booked: booked, Amount: missing}
}

// AddUp adds up the amounts of a statement: opening + lines + minimum + taxes − payments = closing (R11). The error is
// money.ErrRange.
func (s *Statement) AddUp(c Charges) error {
	s.Opening, s.Minimum, s.Payments = c.Opening, c.Minimum, c.Payments
	s.Lines, s.Taxes = nil, nil
	charged := new(big.Int)
	taxes := taxBases{}
	for _, b := range c.Booked {
		s.addLines(b.StatementSum)
		charged.Add(charged, big.NewInt(b.Amount))
		taxes.add(b.Taxes, b.Amount)
	}
	slices.SortFunc(s.Lines, func(a, b StatementSum) int {
		return cmp.Or(cmp.Compare(place(a.Kind), place(b.Kind)), cmp.Compare(a.Kind, b.Kind))
	})
	if c.Minimum != nil {
		charged.Add(charged, big.NewInt(c.Minimum.Amount))
		taxes.add(c.MinTaxes, c.Minimum.Amount)
	}
	var err error
	if s.Taxes, err = taxes.rounded(c.Taxed); err != nil {
		return err
	}
	for _, t := range s.Taxes {
		charged.Add(charged, big.NewInt(t.Amount))
	}
	account := new(big.Int).Add(big.NewInt(c.Account), charged)
	closing := new(big.Int).Add(big.NewInt(c.Opening), charged)
	closing.Sub(closing, big.NewInt(c.Payments))
	if s.Account, err = money.Round(account, big.NewInt(1)); err != nil {
		return fmt.Errorf("account: %w", err)
	}
	s.Closing, err = money.Round(closing, big.NewInt(1))
	return err
}

func (s *Statement) addLines(sum StatementSum) {
	i := slices.IndexFunc(s.Lines, func(l StatementSum) bool { return l.Kind == sum.Kind })
	if i < 0 {
		s.Lines = append(s.Lines, sum)
		return
	}
	s.Lines[i].Lines += sum.Lines
	s.Lines[i].Amount = money.Sum(s.Lines[i].Amount, sum.Amount)
	s.Lines[i].Retained = money.Sum(s.Lines[i].Retained, sum.Retained)
}

func place(kind string) int {
	if i := slices.Index(lineKinds, kind); i >= 0 {
		return i
	}
	return len(lineKinds)
}

// LineCount is how many premium lines the statement covers.
func (s Statement) LineCount() (n int64) {
	for _, l := range s.Lines {
		n += l.Lines
	}
	return n
}

// Empty reports whether the statement has nothing to show: no lines, no balance and no payments.
func (s Statement) Empty() bool {
	return len(s.Lines) == 0 && s.Minimum == nil && s.Opening == 0 && s.Payments == 0
}

// taxBases adds up what each tax code is charged on, by rate.
type taxBases []StatementTax

func (t *taxBases) add(rates []terms.TaxCode, base int64) {
	for _, r := range rates {
		i := slices.IndexFunc(*t, func(tax StatementTax) bool { return tax.Code == r.Code })
		if i < 0 {
			*t = append(*t, StatementTax{Code: r.Code, Label: r.Label})
			i = len(*t) - 1
		}
		tax := &(*t)[i]
		tax.Parts = addBase(tax.Parts, TaxPart{Base: base, RatePPM: r.RatePPM})
	}
}

// addBase adds a base to the part with its rate. Parts are in order of their rates.
func addBase(parts []TaxPart, of TaxPart) []TaxPart {
	at, found := slices.BinarySearchFunc(parts, of, func(a, b TaxPart) int { return cmp.Compare(a.RatePPM, b.RatePPM) })
	if !found {
		return slices.Insert(parts, at, of)
	}
	parts[at].Base = money.Sum(parts[at].Base, of.Base)
	return parts
}

// EarlierTaxes are the taxes of all statements of a channel and currency so far, by their codes.
type EarlierTaxes map[string]StatementTax

// Add adds the taxes of the next statement.
func (e EarlierTaxes) Add(taxes []StatementTax) {
	for _, t := range taxes {
		sum := e[t.Code]
		sum.Parts, sum.Amount = slices.Clone(sum.Parts), sum.Amount+t.Amount
		for _, p := range t.Parts {
			sum.Parts = addBase(sum.Parts, p)
		}
		e[t.Code] = sum
	}
}

// rounded computes the tax of each code, rounded once over all its rates and statements. Codes stay in the order of the policy.
func (t taxBases) rounded(earlier EarlierTaxes) ([]StatementTax, error) {
	for i := range t {
		before := earlier[t[i].Code]
		t[i].Earlier, t[i].Before = append([]TaxPart{}, before.Parts...), before.Amount
		toDate, err := money.Round(t[i].exact(), big.NewInt(taxScale))
		if err != nil {
			return nil, fmt.Errorf("tax %s: %w", t[i].Code, err)
		}
		t[i].Amount = toDate - before.Amount
	}
	return t, nil
}

// exact is the tax to date, in millionths of a minor unit.
func (t StatementTax) exact() *big.Int {
	exact := new(big.Int)
	for _, p := range slices.Concat(t.Earlier, t.Parts) {
		exact.Add(exact, new(big.Int).Mul(big.NewInt(p.Base), big.NewInt(p.RatePPM)))
	}
	return exact
}

// taxScale is the scale of tax rates: they are in parts per million.
const taxScale = 1_000_000

// TaxOn is the tax of one code on an amount, rounded once. The error is money.ErrRange.
func TaxOn(amount int64, code terms.TaxCode) (int64, error) {
	exact := new(big.Int).Mul(big.NewInt(amount), big.NewInt(code.RatePPM))
	return money.Round(exact, big.NewInt(taxScale))
}
