package dispute_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
)

func day(t *testing.T, text string) civil.Day {
	t.Helper()
	d, err := civil.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// quote converts between two currencies, at rates in units per euro. It is nil if one of them has none.
func quote(table map[money.Currency]string, from, to money.Currency) *fx.Quote {
	leg := func(c money.Currency) (fx.Leg, bool) {
		if c == money.EUR {
			return fx.Leg{Currency: c, Rate: money.UnitRate()}, true
		}
		rate, err := money.ParseRate(table[c])
		return fx.Leg{Currency: c, Rate: rate}, err == nil
	}
	a, okA := leg(from)
	b, okB := leg(to)
	if !okA || !okB {
		return nil
	}
	return &fx.Quote{From: from, To: to, FromLeg: a, ToLeg: b}
}

// The worked numbers of R14 in docs/rules.md.
func TestBaseAmountOfADebit(t *testing.T) {
	t.Parallel()
	beforePayment := map[money.Currency]string{"USD": "1.0827", "JPY": "162.50", "GBP": "0.8600"}
	beforeDispute := map[money.Currency]string{"USD": "1.1000", "JPY": "160.00"}
	inJPY := dispute.Paid{Currency: "JPY", Total: 160_875, Left: 160_875, BaseCurrency: "EUR", BaseTotal: 99_000, BaseLeft: 99_000}
	refunded := inJPY
	refunded.Left, refunded.BaseLeft = 60_875, 37_462
	spent := inJPY
	spent.Left, spent.BaseLeft = 0, 0
	for _, c := range []struct {
		name   string
		report dispute.Report
		paid   dispute.Paid
		want   dispute.Amount
		ok     bool
	}{
		{"in base currency", dispute.Report{Amount: 49_500, Currency: "EUR"}, inJPY, dispute.Amount{Paid: 80_438, Base: 49_500}, true},
		{"in the payment's currency", dispute.Report{Amount: 80_000, Currency: "JPY"}, inJPY, dispute.Amount{Paid: 80_000, Base: 49_231}, true},
		{"within 10 % of the payment", dispute.Report{Amount: 107_190, Currency: "USD"}, inJPY, dispute.Amount{Paid: 160_875, Base: 99_000}, true},
		{"within 10 % of it, after a refund", dispute.Report{Amount: 107_190, Currency: "USD"}, refunded, dispute.Amount{Paid: 60_875, Base: 37_462}, true},
		{"within 10 % of a fully refunded payment", dispute.Report{Amount: 107_190, Currency: "USD"}, spent, dispute.Amount{Paid: 160_875, Base: 99_000}, true},
		{"said to be the whole", dispute.Report{Amount: 1, Currency: "CHF", Whole: true}, inJPY, dispute.Amount{Paid: 160_875, Base: 99_000}, true},
		{"a part in a third currency", dispute.Report{Amount: 50_000, Currency: "USD"}, inJPY, dispute.Amount{Paid: 73_864, Base: 45_455, Converted: true}, true},
		{"no rate on the day of the dispute", dispute.Report{Amount: 100, Currency: "GBP"}, inJPY, dispute.Amount{}, false},
		{"no rate at all", dispute.Report{Amount: 100, Currency: "CHF"}, inJPY, dispute.Amount{}, false},
		{"no amount", dispute.Report{}, refunded, dispute.Amount{Paid: 60_875, Base: 37_462}, true},
	} {
		got, ok, err := dispute.DebitOf(c.report, c.paid, dispute.Rates{
			AsPaid: quote(beforePayment, c.report.Currency, "JPY"), AsDisputed: quote(beforeDispute, c.report.Currency, "EUR"),
		})
		if err != nil || ok != c.ok || got != c.want {
			t.Errorf("%s: %+v, %t, %v; want %+v, %t", c.name, got, ok, err, c.want, c.ok)
		}
	}
}

func TestACreditIsInProportionToItsDebit(t *testing.T) {
	t.Parallel()
	paid := dispute.Paid{Currency: "JPY", Total: 160_875, Left: 0, BaseCurrency: "EUR", BaseTotal: 99_000, BaseLeft: 0}
	debited, debit := dispute.Report{Amount: 50_000, Currency: "USD"}, dispute.Amount{Paid: 73_864, Base: 45_455, Converted: true}
	for _, c := range []struct {
		name   string
		credit dispute.Report
		want   dispute.Amount
	}{
		{"all of it", dispute.Report{Amount: 50_000, Currency: "USD"}, debit},
		{"a part", dispute.Report{Amount: 20_000, Currency: "USD"}, dispute.Amount{Paid: 29_546, Base: 18_182, Converted: true}},
		{"in base", dispute.Report{Amount: 10_000, Currency: "EUR"}, dispute.Amount{Paid: 16_250, Base: 10_000}},
		{"in a third currency", dispute.Report{Amount: 7, Currency: "CHF"}, debit},
	} {
		got, err := dispute.CreditOf(c.credit, debited, debit, paid)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

func TestADebitIsSplitOverTheAllocations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base                  int64
		originals, left, want []int64
	}{
		{100, []int64{300, 300, 300}, []int64{300, 300, 300}, []int64{34, 33, 33}},
		{900, []int64{600, 300}, []int64{600, 300}, []int64{600, 300}},
		{600, []int64{600, 300}, []int64{100, 300}, []int64{300, 300}}, // 400 + 200: 300 too much, of which 100 have room
		{600, []int64{600, 300}, []int64{0, 0}, []int64{400, 200}},     // all is a double recovery
		{300, []int64{100, 100, 100}, []int64{0, 150, 150}, []int64{0, 150, 150}},
	} {
		if got := dispute.Split(c.base, c.originals, c.left); !slices.Equal(got, c.want) {
			t.Errorf("%d over %v, of which %v is left: %v, want %v", c.base, c.originals, c.left, got, c.want)
		}
	}
}

func TestASplitIsTheDebit(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + r.IntN(5)
		originals, left := make([]int64, n), make([]int64, n)
		var all, rest int64
		for i := range n {
			originals[i] = 1 + r.Int64N(1000)
			left[i] = r.Int64N(originals[i] + 1)
			all, rest = all+originals[i], rest+left[i]
		}
		base := 1 + r.Int64N(all)
		sum, over := int64(0), int64(0)
		for i, s := range dispute.Split(base, originals, left) {
			sum, over = sum+s, over+max(0, s-left[i])
			if s < 0 {
				t.Fatalf("%d over %v: a share is %d", base, originals, s)
			}
		}
		if sum != base || over != max(0, base-rest) {
			t.Fatalf("%d over %v with %v left: the shares are %d, of which %d cannot be borne; want %d", base, originals, left, sum, over, max(0, base-rest))
		}
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	paid := day(t, "2026-03-09")
	paying := func(id int64, auth string, total int64, on civil.Day) dispute.Candidate {
		return dispute.Candidate{
			TransactionID: id, Currency: "EUR", Total: total, BaseCurrency: "EUR", BaseTotal: total, AuthCode: auth, LastFour: "1111",
			BIN: "41111199", PaidOn: on,
		}
	}
	report := dispute.Report{Amount: 60_000, Currency: "EUR", Clues: dispute.Clues{LastFour: "1111", BIN: "411111", PaidOn: paid}}
	ranked, accepted := dispute.Choose(report, []dispute.Candidate{paying(5, "700016", 60_000, paid), paying(4, "700015", 60_000, paid)})
	if accepted || len(ranked) != 2 || ranked[0].TransactionID != 4 || ranked[0].Points != (dispute.Points{LastFour: 20, BIN: 15, Amount: 15, Day: 10}) {
		t.Errorf("two payments with 60 points: %t, %+v", accepted, ranked)
	}
	report.Clues.AuthCode = "700016"
	report.Clues.PaidOn--
	ranked, accepted = dispute.Choose(report, ranked)
	if !accepted || ranked[0].TransactionID != 5 || ranked[0].Points.Sum() != 95 || ranked[1].Points.Sum() != 55 {
		t.Errorf("with the auth code, a day apart: %t, %+v", accepted, ranked)
	}
	report.Amount = 20_000
	ranked, accepted = dispute.Choose(report, []dispute.Candidate{paying(1, "700016", 60_000, paid), paying(2, "700016", 60_000, paid+3)})
	if accepted || len(ranked) != 2 || ranked[0].Points.Sum() != 88 || ranked[1].Points.Sum() != 83 {
		t.Errorf("a lead of 5 is not enough: %t, %+v", accepted, ranked)
	}
	report.Clues.LastFour = "2222"
	if ranked, accepted = dispute.Choose(report, ranked); accepted || len(ranked) != 0 {
		t.Errorf("other last four digits: %t, %+v", accepted, ranked)
	}
}

// history is the case DP01 of a payment that is charged back, won, and charged back again, and the same in a settlement file.
func history(t *testing.T) []dispute.Report {
	at := func(text string, r dispute.Report) dispute.Report {
		r.Source, r.CaseID, r.Day = "adyen", "DP01", day(t, text)
		if r.DueOn == 0 {
			r.DueOn = civil.NoDay
		}
		if r.Kind != dispute.NoMoney {
			r.Amount, r.Currency = 120_000, "EUR"
		}
		return r
	}
	return []dispute.Report{
		at("2026-05-11", dispute.Report{Stage: dispute.Chargeback, Status: dispute.Open, DueOn: day(t, "2026-06-08"), ReasonCode: "13.1"}),
		at("2026-05-11", dispute.Report{Stage: dispute.Chargeback, Status: dispute.Open, DueOn: day(t, "2026-06-15"), ReasonCode: "13.1", Kind: dispute.Debit, Number: 1}),
		at("2026-06-15", dispute.Report{Stage: dispute.Chargeback, Status: dispute.Won, Kind: dispute.Credit, Number: 1}),
		at("2026-07-20", dispute.Report{Stage: dispute.PreArbitration, Status: dispute.Lost, Kind: dispute.Debit, Number: 2}),
		at("2026-05-11", dispute.Report{Kind: dispute.Debit}), // the settlement file does not number them
		at("2026-06-15", dispute.Report{Kind: dispute.Credit}),
	}
}

// take keeps the events that are new, as a room does.
func take(reports []dispute.Report) (events []dispute.Event) {
	for _, r := range reports {
		for _, part := range r.Parts() {
			known, adds, found := dispute.Known(events, part)
			if found && !adds {
				continue
			}
			e := dispute.Event{ID: int64(len(events) + 1), Report: part, ReceivedAt: time.Unix(1, 0)}
			if found {
				e.SameAs = known.ID
			}
			events = append(events, e)
		}
	}
	return events
}

func movements(events []dispute.Event, kind dispute.Kind) (n int) {
	for _, e := range events {
		if e.Kind == kind && e.SameAs == 0 {
			n++
		}
	}
	return n
}

func TestTheOrderOfArrivalDoesNotMatter(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		reports := append(history(t), history(t)...) // each arrives twice
		r.Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
		events := take(reports)
		if d, c := movements(events, dispute.Debit), movements(events, dispute.Credit); d != 2 || c != 1 {
			t.Fatalf("%d debits and %d credits, of %+v", d, c, reports)
		}
		want := dispute.State{Stage: dispute.PreArbitration, Status: dispute.Lost, DueOn: civil.NoDay, ReasonCode: "13.1"}
		if s := dispute.StateOf(events); s != want {
			t.Fatalf("the state is %+v", s)
		}
		for credit, debit := range dispute.Named(events) {
			if events[debit-1].On() != day(t, "2026-05-11") || events[credit-1].Kind != dispute.Credit {
				t.Fatalf("the credit names %+v", events[debit-1])
			}
		}
		without := slices.DeleteFunc(slices.Clone(events), func(e dispute.Event) bool { return e.On() > day(t, "2026-06-15") })
		want = dispute.State{Stage: dispute.Chargeback, Status: dispute.Won, DueOn: day(t, "2026-06-15"), ReasonCode: "13.1"}
		if s := dispute.StateOf(without); s != want {
			t.Fatalf("before the second debit the state is %+v", s)
		}
	}
}

func TestSecondMovementsOfOneDay(t *testing.T) {
	t.Parallel()
	on := day(t, "2026-05-11")
	debit := func(number int, d civil.Day) dispute.Report {
		return dispute.Report{Kind: dispute.Debit, Number: number, Day: d, Amount: 100, Currency: "EUR", DueOn: civil.NoDay}
	}
	for _, c := range []struct {
		name    string
		reports []dispute.Report
		want    int
	}{
		{"two numbers", []dispute.Report{debit(1, on), debit(2, on)}, 2},
		{"two numbers, and one without", []dispute.Report{debit(0, on), debit(1, on), debit(2, on)}, 2},
		{"the one without in between", []dispute.Report{debit(1, on), debit(0, on), debit(2, on)}, 2},
		{"without a day", []dispute.Report{debit(1, civil.NoDay), debit(1, on)}, 1},
		{"the day first", []dispute.Report{debit(1, on), debit(0, civil.NoDay)}, 1},
		{"another day", []dispute.Report{debit(0, on), debit(0, on+1)}, 2},
		{"two days, and one without first", []dispute.Report{debit(0, civil.NoDay), debit(0, on), debit(0, on+1)}, 2},
		{"two days, and one without last", []dispute.Report{debit(0, on), debit(0, on+1), debit(0, civil.NoDay)}, 2},
		{"number and day added one by one", []dispute.Report{debit(0, civil.NoDay), debit(1, civil.NoDay), debit(0, on), debit(2, on), debit(1, on)}, 2},
	} {
		if got := movements(take(c.reports), dispute.Debit); got != c.want {
			t.Errorf("%s: %d debits, want %d", c.name, got, c.want)
		}
	}
}

func TestStatesOfADispute(t *testing.T) {
	t.Parallel()
	reported := func(stage dispute.Stage, status dispute.Status, on civil.Day) dispute.Event {
		return dispute.Event{Report: dispute.Report{Stage: stage, Status: status, Day: on, DueOn: civil.NoDay}}
	}
	for _, c := range []struct {
		name   string
		events []dispute.Event
		want   dispute.State
	}{
		{"an inquiry that was closed", []dispute.Event{reported(dispute.Inquiry, dispute.Cancelled, 5), reported(dispute.Inquiry, dispute.Open, 5)},
			dispute.State{Stage: dispute.Inquiry, Status: dispute.Cancelled}},
		{"a fraud report after the chargeback", []dispute.Event{reported(dispute.Inquiry, dispute.Open, 9), reported(dispute.Chargeback, dispute.Challenged, 5)},
			dispute.State{Stage: dispute.Chargeback, Status: dispute.Challenged}},
		{"lost, as the file of the day of the dispute says", []dispute.Event{reported(dispute.Chargeback, dispute.Lost, 5), reported("", dispute.Challenged, 7)},
			dispute.State{Stage: dispute.Chargeback, Status: dispute.Lost}},
		{"an inquiry that expired before the chargeback", []dispute.Event{reported(dispute.Inquiry, dispute.Open, 1), reported("", dispute.Expired, 4), reported(dispute.Chargeback, dispute.Open, 9)},
			dispute.State{Stage: dispute.Chargeback, Status: dispute.Open}},
		{"a chargeback that was won before the pre-arbitration", []dispute.Event{reported(dispute.PreArbitration, dispute.Open, 9), reported("", dispute.Won, 5), reported(dispute.Chargeback, dispute.Open, 2)},
			dispute.State{Stage: dispute.PreArbitration, Status: dispute.Open}},
		{"evidence for it on the same day", []dispute.Event{reported("", dispute.Challenged, 9), reported(dispute.Inquiry, dispute.Cancelled, 1), reported(dispute.Chargeback, dispute.Open, 9)},
			dispute.State{Stage: dispute.Chargeback, Status: dispute.Challenged}},
		{"a movement alone", []dispute.Event{{Report: dispute.Report{Kind: dispute.Debit, Day: 5, DueOn: civil.NoDay}}},
			dispute.State{Stage: dispute.Chargeback, Status: dispute.Open}},
		{"prevented", []dispute.Event{{Report: dispute.Report{Kind: dispute.Prevention, Day: 5, DueOn: civil.NoDay}}},
			dispute.State{Stage: dispute.PreDispute, Status: dispute.Prevented}},
	} {
		c.want.DueOn = civil.NoDay
		if got := dispute.StateOf(c.events); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
