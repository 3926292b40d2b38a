package protection

import (
	"fmt"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/terms"
)

// Step is one line of an explanation: a figure, and how a rule computed it.
type Step struct {
	Rule string // such as "R9"
	Name string // of the figure, as docs/rules.md has it: "PV"
	Text string // the computation, with all inputs
}

// Moment says for which day, and with which knowledge, something is explained (R0).
type Moment struct {
	AsOf        civil.Day
	KnownAt     time.Time
	Recognition terms.Recognition
}

// Explained is an allocation at a moment, with the steps of its computation.
type Explained struct {
	Allocation
	Terms       Terms
	History     []DatedTerms // all terms known at the moment, in order of recording
	Events      []Event      // all events known at the moment
	Amounts     Amounts      // as of the moment
	Remaining   int64        // N
	Undelivered int64        // U
	State       State
	Started     bool   // whether cover has started
	HasValue    bool   // false while pending_rate
	Summary     string // in words; added by the report
	Steps       []Step
	Premium     ExplainedPremium // added by ExplainPremium
}

// Explain computes an allocation at a moment, and says how (R2 to R9). h has the whole history of the allocation;
// Explain leaves out later records.
func Explain(h History, m Moment, packs Rulepacks) Explained {
	a, history, events := h.Allocation, h.Terms, h.Events
	x := Explained{
		Allocation: a,
		Terms:      TermsAt(history, m.AsOf.End(), m.KnownAt),
		Amounts:    a.AmountsAt(events, m.AsOf, m.KnownAt),
		Started:    !a.Decision.CoverFrom.After(m.AsOf.End()),
		HasValue:   a.Priced(m.KnownAt),
	}
	for i, t := range history {
		if i == 0 || !t.RecordedAt.After(m.KnownAt) {
			x.History = append(x.History, t)
		}
	}
	for _, e := range events {
		if !e.RecordedAt.After(m.KnownAt) {
			x.Events = append(x.Events, e)
		}
	}
	x.Remaining = x.Amounts.Remaining(a.Paid(), m.AsOf)
	x.Undelivered = x.Terms.Undelivered(x.Remaining, m.AsOf, m.Recognition)
	x.State = StateOf(x.Remaining, x.Undelivered, m.AsOf, x.Terms.LastDay)
	x.Steps = []Step{
		x.decisionStep(), x.coverStep(), x.remainingStep(m), x.undeliveredStep(m), x.lastDayStep(packs), x.stateStep(m),
	}
	x.Steps = append(x.Steps, x.valueSteps()...)
	return x
}

// reasonTexts are the reasons of R2 in words.
var reasonTexts = map[string]string{
	ReasonProtected:      "protected: when the payment was recorded, the merchant was in mode protection-only and not locked, and the payment was made by card",
	ReasonLive:           "protected: when the payment was recorded, the merchant was in mode live, of account type protected-processing and not locked, and the payment was made by card",
	ReasonTestChannel:    "simulated: a payment of a test merchant is decided like a protected one but excluded from every total",
	ReasonMode:           "not protected: when the payment was recorded, the merchant was in a mode without protection",
	ReasonType:           "not protected: when the payment was recorded, the merchant was not of account type protected-processing",
	ReasonLocked:         "not protected: the merchant was locked when the payment was recorded",
	ReasonNotCardPayment: "not protected: the payment was not made by card",
}

func (x Explained) decisionStep() Step {
	return Step{"R2", "protected", reasonTexts[x.Decision.Reason]}
}

func (x Explained) coverStep() Step {
	why := "when the payment was recorded: cover is never backdated"
	if x.Decision.CoverFrom.Equal(x.EffectiveAt) && !x.EffectiveAt.Equal(x.RecordedAt) {
		why = "when the payment was taken: the payment was imported with cover from that time"
	}
	text := fmt.Sprintf("cover start = %s, %s", civil.FormatInstant(x.Decision.CoverFrom), why)
	if x.Decision.LateLogged {
		text += fmt.Sprintf("; logged late, the payment was taken at %s", civil.FormatInstant(x.EffectiveAt))
	}
	return Step{"R2", "cover_start", text}
}

func (x Explained) remainingStep(m Moment) Step {
	text := fmt.Sprintf("N(%s) = min(a, max(0, a − refunds − chargebacks + reversals)) = min(%d, max(0, %d − %d − %d + %d)) = %d",
		m.AsOf, x.Amounts.Allocated, x.Amounts.Allocated, x.Amounts.Refunded, x.Amounts.ChargedBack, x.Amounts.Reversed, x.Remaining)
	if m.AsOf < x.Paid() {
		text = fmt.Sprintf("N(%s) = 0: the payment was taken on %s", m.AsOf, x.Paid())
	}
	if cut := x.Amounts.DoubleRecovery(); cut > 0 {
		text += fmt.Sprintf("; double recovery of %d", cut)
	}
	return Step{"R3", "N", text}
}

func (x Explained) undeliveredStep(m Moment) Step {
	t := x.Terms
	var text string
	switch m.Recognition {
	case terms.RecognitionStartDate:
		text = fmt.Sprintf("U = N before the start S = %s, then 0: U = %d", t.Start, x.Undelivered)
	case terms.RecognitionLinear:
		n := int64(t.End-t.Start) + 1
		k := min(max(int64(m.AsOf-t.Start)+1, 0), n)
		text = fmt.Sprintf("S = %s, D = %s, n = %d, k = %d: U = N − floor(N·k/n) = %d − floor(%d·%d/%d) = %d",
			t.Start, t.End, n, k, x.Remaining, x.Remaining, k, n, x.Undelivered)
	default:
		text = fmt.Sprintf("U = N until the end D = %s, then 0: U = %d", t.End, x.Undelivered)
	}
	return Step{"R4", "U", text}
}

func (x Explained) lastDayStep(packs Rulepacks) Step {
	pack, ok := packs.ByVersion(x.Rulepack)
	if !ok {
		return Step{"R5", "L", fmt.Sprintf("L = %s, by rulepack %s, which is no longer on file", x.Terms.LastDay, x.Rulepack)}
	}
	w := pack.Window(x.Scheme)
	formula := fmt.Sprintf("max(D, P) + %d", w.Days)
	if w.Cap > 0 {
		formula = fmt.Sprintf("min(%s, P + %d)", formula, w.Cap)
	}
	text := fmt.Sprintf("scheme %s, rulepack %s, P = %s, D = %s: L = %s = %s",
		x.Scheme, x.Rulepack, x.Paid(), x.Terms.End, formula, w.LastDay(x.Paid(), x.Terms.End))
	if w.LastDay(x.Paid(), x.Terms.End) != x.Terms.LastDay { // the file was edited under the same version
		text = fmt.Sprintf("L = %s, by rulepack %s as on file when L was computed; it has changed since",
			x.Terms.LastDay, x.Rulepack)
	}
	return Step{"R5", "L", text}
}

func (x Explained) stateStep(m Moment) Step {
	return Step{"R6", "state", fmt.Sprintf("at the end of %s with N = %d, U = %d, L = %s: %s",
		m.AsOf, x.Remaining, x.Undelivered, x.Terms.LastDay, x.State)}
}

func (x Explained) valueSteps() []Step {
	q := x.Quote
	switch {
	case !x.HasValue:
		return []Step{{"R9", "PV", fmt.Sprintf(
			"pending_rate: no fixing of %s or %s in the %d days before P = %s",
			x.Currency, x.PolicyCurrency, x.MaxFixingAge, x.Paid())}}
	case q.From == q.To:
		return []Step{{"R9", "PV", fmt.Sprintf("%s is the policy currency: PV = a = %d", x.Currency, x.Value)}}
	}
	return []Step{
		{"R9", "leg " + string(q.From), x.legText(q.FromLeg)},
		{"R9", "leg " + string(q.To), x.legText(q.ToLeg)},
		{"R9", "PV", valueText(q, x.Amount, x.Value)},
	}
}

func (x Explained) legText(l fx.Leg) string {
	if !l.HasFixing() {
		return "rates are quoted per EUR: the leg is 1 and needs no fixing"
	}
	return fmt.Sprintf("%s per EUR, fixing of %s by %s, the last one before P = %s (%d days)",
		l.Rate, l.Day, l.Provider, x.Paid(), x.Paid()-l.Day)
}
