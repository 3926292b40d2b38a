package merchants

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// policyColumns are the columns of a policy in the order in which scanPolicy reads them.
const policyColumns = `id, from_day, recorded_at, currency, recognition, late_log_days, max_fixing_age_days,
	premium_refundable, minimum_per_line, minimum_per_month, tax_codes, statement_period, payment_terms_days,
	deductible, coinsurance_ppm, merchant_limit, aggregate_limit, notify_within, two_signatures, development_ppm,
	protected_first, recovery_order`

func scanPolicy(scan func(dest ...any) error) (terms.Policy, error) {
	var p terms.Policy
	var recorded int64
	var taxes, first, order string
	c := &p.Cover
	err := scan(&p.ID, &p.FromDay, &recorded, &p.Currency, &p.Recognition, &p.LateLogDays, &p.MaxFixingAgeDays,
		&p.PremiumRefundable, &p.MinimumPerLine, &p.MinimumPerMonth, &taxes, &p.StatementPeriod, &p.PaymentTermsDays,
		&c.Deductible, &c.CoinsurancePPM, &c.MerchantLimit, &c.AggregateLimit, &c.NotifyWithin, &c.TwoSignatures, &c.DevelopmentPPM,
		&first, &order)
	if err != nil {
		return terms.Policy{}, err
	}
	p.RecordedAt = store.Instant(recorded)
	for _, list := range []struct {
		stored string
		into   any
	}{{taxes, &p.TaxCodes}, {first, &c.OtherProtectionFirst}, {order, &c.RecoveryOrder}} {
		if err := json.Unmarshal([]byte(list.stored), list.into); err != nil {
			return terms.Policy{}, fmt.Errorf("read policy %d: %w", p.ID, err)
		}
	}
	return p, nil
}

// InsertPolicy stores a policy and its rate card, and returns them with their ids.
func InsertPolicy(tx *store.Tx, siteID int64, p terms.Policy) (terms.Policy, error) {
	if p.TaxCodes == nil {
		p.TaxCodes = []terms.TaxCode{}
	}
	p.RecordedAt = tx.Now
	if err := sites.Changed(tx, siteID); err != nil {
		return terms.Policy{}, err
	}
	var err error
	if p.ID, err = insertPolicy(tx, siteID, p); err != nil {
		return terms.Policy{}, err
	}
	card := make(terms.RateCard, len(p.RateCard)) // a copy: the write may run again with the caller's own
	for i, l := range p.RateCard {
		end := sql.NullInt64{Int64: l.To, Valid: l.To != terms.NoEnd}
		if l.ID, err = tx.NextID("rate_card_lines", siteID); err != nil {
			return terms.Policy{}, err
		}
		_, err := tx.Exec(`INSERT INTO rate_card_lines (site_id, id, policy_id, channel_id, lead_from, lead_to, ppm)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, siteID, l.ID, p.ID, store.MaybeID(l.ChannelID), l.From, end, l.PPM)
		if err != nil {
			return terms.Policy{}, err
		}
		card[i] = l
	}
	p.RateCard = card
	return p, nil
}

func insertPolicy(tx *store.Tx, siteID int64, p terms.Policy) (id int64, err error) {
	c := p.Cover
	var lists [3]string
	for i, list := range []any{p.TaxCodes, c.OtherProtectionFirst, c.RecoveryOrder} {
		text, err := json.Marshal(list)
		if err != nil {
			return 0, err
		}
		lists[i] = string(text)
	}
	if id, err = tx.NextID("policies", siteID); err != nil {
		return 0, err
	}
	_, err = tx.Exec(`INSERT INTO policies (site_id, from_day, recorded_at, currency, recognition, late_log_days,
			max_fixing_age_days, premium_refundable, minimum_per_line, minimum_per_month, tax_codes, statement_period,
			payment_terms_days, deductible, coinsurance_ppm, merchant_limit, aggregate_limit, notify_within, two_signatures,
			development_ppm, protected_first, recovery_order, id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`,
		siteID, p.FromDay, store.Micros(p.RecordedAt), p.Currency, p.Recognition, p.LateLogDays, p.MaxFixingAgeDays,
		p.PremiumRefundable, p.MinimumPerLine, p.MinimumPerMonth, lists[0], p.StatementPeriod, p.PaymentTermsDays,
		c.Deductible, c.CoinsurancePPM, c.MerchantLimit, c.AggregateLimit, c.NotifyWithin, c.TwoSignatures, c.DevelopmentPPM,
		lists[1], lists[2], id)
	return id, err
}

// PolicyOn reads the policy of a site that is in force on a day, as known now. Of two policies from the same day, the
// later recorded one counts.
func PolicyOn(tx *store.Tx, siteID int64, day civil.Day) (terms.Policy, error) {
	return PolicyKnown(tx, siteID, day, tx.Now)
}

// PolicyKnown reads the policy that is in force on a day, as known at an instant. The first policy of a site also counts
// for the time before it was recorded.
func PolicyKnown(tx *store.Tx, siteID int64, day civil.Day, known time.Time) (terms.Policy, error) {
	list, err := allPolicies(tx, siteID)
	if err != nil {
		return terms.Policy{}, err
	}
	first := int64(math.MaxInt64)
	for _, p := range list {
		first = min(first, p.ID)
	}
	for _, p := range list {
		if p.FromDay <= day && (p.ID == first || !p.RecordedAt.After(known)) {
			p.RateCard, err = rateCard(tx, siteID, p.ID)
			return p, err
		}
	}
	return terms.Policy{}, store.ErrNotFound
}

// NextPolicyDay is the first day after a day on which a policy of the site begins, and at most the day upTo.
func NextPolicyDay(tx *store.Tx, siteID int64, after, upTo civil.Day) (civil.Day, error) {
	list, err := allPolicies(tx, siteID)
	for _, p := range list {
		if p.FromDay > after {
			upTo = min(upTo, p.FromDay)
		}
	}
	return upTo, err
}

// allPolicies reads the policies of a site without their rate cards, the last day first. They are few.
func allPolicies(tx *store.Tx, siteID int64) ([]terms.Policy, error) {
	type policiesOf struct{ siteID int64 }
	return sites.Known(tx, siteID, policiesOf{siteID}, func() ([]terms.Policy, error) {
		return policies(tx, `site_id = $1 ORDER BY from_day DESC, id DESC`, siteID)
	})
}

// Policy reads a policy by id.
func Policy(tx *store.Tx, siteID, id int64) (terms.Policy, error) {
	type policy struct{ siteID, id int64 }
	return sites.Known(tx, siteID, policy{siteID, id}, func() (terms.Policy, error) {
		list, err := policies(tx, `site_id = $1 AND id = $2`, siteID, id)
		if err != nil || len(list) == 0 {
			return terms.Policy{}, cmp.Or(err, store.ErrNotFound)
		}
		list[0].RateCard, err = rateCard(tx, siteID, id)
		return list[0], err
	})
}

// TaxCodes are the tax codes of all policies of a site, by the ids of the policies.
func TaxCodes(tx *store.Tx, siteID int64) (map[int64][]terms.TaxCode, error) {
	codes := map[int64][]terms.TaxCode{}
	list, err := policies(tx, `site_id = $1`, siteID)
	for _, p := range list {
		codes[p.ID] = p.TaxCodes
	}
	return codes, err
}

// policies reads policies without their rate cards.
func policies(tx *store.Tx, condition string, args ...any) (list []terms.Policy, err error) {
	err = tx.Query(`SELECT `+policyColumns+` FROM policies WHERE `+condition, args,
		func(scan func(dest ...any) error) error {
			p, err := scanPolicy(scan)
			list = append(list, p)
			return err
		})
	return list, err
}

// PoliciesPage reads one page of the policies of a site. When on is a day, the page has only the policy that is in force
// on that day.
func PoliciesPage(tx *store.Tx, siteID int64, on *civil.Day, page store.Page) (store.List[terms.Policy], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	if on != nil {
		w.And("id = (SELECT q.id FROM policies q WHERE q.site_id = ? AND q.from_day <= ? ORDER BY q.from_day DESC, q.id DESC LIMIT 1)",
			siteID, *on)
	}
	orders := store.Orders{"modified": "recorded_at", "from": "from_day", "recorded_at": "recorded_at"}
	list, err := store.ListPage(tx, "policies", policyColumns, &w, page, orders, scanPolicy)
	for i := range list.Items {
		if err == nil {
			list.Items[i].RateCard, err = rateCard(tx, siteID, list.Items[i].ID)
		}
	}
	return list, err
}

// rateCard reads the lines of a policy's rate card, in the order in which they were sent.
func rateCard(tx *store.Tx, siteID, policyID int64) (terms.RateCard, error) {
	type rateCard struct{ siteID, policyID int64 }
	return sites.Known(tx, siteID, rateCard{siteID, policyID}, func() (terms.RateCard, error) {
		return readRateCard(tx, siteID, policyID)
	})
}

func readRateCard(tx *store.Tx, siteID, policyID int64) (terms.RateCard, error) {
	card := terms.RateCard{}
	err := tx.Query(`SELECT id, channel_id, lead_from, lead_to, ppm FROM rate_card_lines
		WHERE site_id = $1 AND policy_id = $2 ORDER BY id`, []any{siteID, policyID},
		func(scan func(dest ...any) error) error {
			l := terms.RateLine{To: terms.NoEnd}
			var channel, end sql.NullInt64
			err := scan(&l.ID, &channel, &l.From, &end, &l.PPM)
			l.ChannelID = channel.Int64
			if end.Valid {
				l.To = end.Int64
			}
			card = append(card, l)
			return err
		})
	return card, err
}
