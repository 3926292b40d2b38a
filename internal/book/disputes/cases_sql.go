package disputes

import (
	"database/sql"
	"encoding/json"
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const caseColumns = `site_id, id, source, case_id, COALESCE(channel_id, 0), COALESCE(transaction_id, 0), matching, rule, rule_version, score,
	candidates, stage, status, reason_code, reason, reason_family, scheme, due_day, assignee, merchant, clues, amount, currency, base_currency, debits, credits,
	opened_day, waiting, alerted_day, tried_at, version, created_at, modified_at`

func scanCase(scan func(dest ...any) error) (c Case, err error) {
	var due, alerted sql.NullInt64
	var candidates, clues string
	err = scan(&c.SiteID, &c.ID, &c.Source, &c.CaseID, &c.ChannelID, &c.TransactionID, &c.Matching, &c.Rule, &c.RuleVersion, &c.Score,
		&candidates, &c.Stage, &c.Status, &c.ReasonCode, &c.Reason, &c.Family, &c.Scheme, &due, &c.Assignee, &c.Merchant, &clues, &c.Amount, &c.Currency,
		&c.BaseCurrency, &c.Debits, &c.Credits, &c.OpenedOn, &c.Waiting, &alerted,
		store.Stored{Instant: &c.triedAt}, &c.Version, store.Stored{Instant: &c.CreatedAt}, store.Stored{Instant: &c.ModifiedAt})
	if err != nil {
		return c, err
	}
	c.DueOn, c.AlertedFor = store.DayOr(due), store.DayOr(alerted)
	if err := json.Unmarshal([]byte(candidates), &c.Candidates); err != nil {
		return c, err
	}
	c.Clues, err = parseClues(clues)
	return c, err
}

// lockCase locks the case that a condition names, and reads it with its parts. The error is store.ErrNotFound if there is none.
func lockCase(tx *store.Tx, condition string, args ...any) (Case, error) {
	return oneCase(tx, `UPDATE disputes SET version = version + 1 WHERE `+condition+` RETURNING `+caseColumns, args)
}

// oneCase reads the case that a statement returns, with its parts.
func oneCase(tx *store.Tx, statement string, args []any) (Case, error) {
	c, err := scanCase(func(dest ...any) error { return tx.QueryRow(statement, args, dest...) })
	if err != nil {
		return c, err
	}
	list := []Case{c}
	err = readParts(tx, c.SiteID, list)
	return list[0], err
}

func lockByID(tx *store.Tx, siteID, id int64) (Case, error) {
	return lockCase(tx, `site_id = $1 AND id = $2`, siteID, id)
}

func lockByKey(tx *store.Tx, siteID int64, source, caseID string) (Case, error) {
	return lockCase(tx, `site_id = $1 AND source = $2 AND case_id = $3`, siteID, source, caseID)
}

// insertCase stores a new case. If another write has stored it first, it changes nothing and c is locked as it is.
func insertCase(tx *store.Tx, c Case) (stored Case, created bool, err error) {
	if c.ID, err = tx.NextID("disputes", c.SiteID); err != nil {
		return c, false, err
	}
	c.Version = 1
	args, err := c.columns()
	if err != nil {
		return c, false, err
	}
	n, err := tx.Exec(`INSERT INTO disputes (site_id, id, source, case_id, channel_id, transaction_id, matching, rule, rule_version, score,
			candidates, stage, status, reason_code, reason, reason_family, scheme, due_day, assignee, merchant, clues, acquirer_reference, processor_reference,
			processor_alias, payment_reference, last_four, amount, currency, base_currency, debits, credits, opened_day, waiting, alerted_day, tried_at, version,
			created_at, modified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28,
			$29, $30, $31, $32, $33, $34, $35, 1, $36, $36)
		ON CONFLICT (site_id, source, case_id) DO NOTHING`, append(args, store.Micros(tx.Now))...)
	if err == nil && n == 0 {
		stored, err = lockByKey(tx, c.SiteID, c.Source, c.CaseID)
		return stored, false, err
	}
	return c, true, err
}

// columns are the values of a case, up to tried_at.
func (c Case) columns() ([]any, error) {
	candidates, err := json.Marshal(append([]dispute.Candidate{}, c.Candidates...))
	if err != nil {
		return nil, err
	}
	clues, err := cluesText(c.Clues)
	return []any{
		c.SiteID, c.ID, c.Source, c.CaseID, store.MaybeID(c.ChannelID), store.MaybeID(c.TransactionID), c.Matching, c.Rule, c.RuleVersion, c.Score,
		string(candidates), c.Stage, c.Status, c.ReasonCode, c.Reason, c.Family, c.Scheme, store.MaybeDay(c.DueOn), c.Assignee, c.Merchant, clues,
		c.Clues.AcquirerReference, c.Clues.ProcessorReference, c.Clues.ProcessorAlias, c.Clues.PaymentReference, c.Clues.LastFour, c.Amount,
		c.Currency, c.BaseCurrency, c.Debits, c.Credits, c.OpenedOn, c.Waiting, store.MaybeDay(c.AlertedFor),
		store.Micros(c.triedAt),
	}, err
}

// saveCase stores a locked case.
func saveCase(tx *store.Tx, c Case) error {
	args, err := c.columns()
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE disputes SET source = $3, case_id = $4, channel_id = $5, transaction_id = $6, matching = $7, rule = $8,
			rule_version = $9, score = $10, candidates = $11, stage = $12, status = $13, reason_code = $14, reason = $15,
			reason_family = $16, scheme = $17, due_day = $18, assignee = $19, merchant = $20, clues = $21, acquirer_reference = $22,
			processor_reference = $23, processor_alias = $24, payment_reference = $25, last_four = $26, amount = $27, currency = $28,
			base_currency = $29, debits = $30, credits = $31, opened_day = $32, waiting = $33, alerted_day = $34, tried_at = $35,
			modified_at = $36
		WHERE site_id = $1 AND id = $2`, append(args, store.Micros(tx.Now))...)
	return err
}

// readParts sets the events and postings of cases, by one query for each kind.
func readParts(tx *store.Tx, siteID int64, list []Case) error {
	if len(list) == 0 {
		return nil
	}
	at := map[int64]*Case{}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i], at[list[i].ID] = list[i].ID, &list[i]
	}
	var w sqltext.Where
	w.And("e.site_id = ?", siteID)
	sqltext.In(&w, "e.dispute_id", ids)
	err := tx.Query(`SELECT `+eventColumns+` FROM dispute_events e WHERE `+w.Text.String()+` ORDER BY e.id`, w.Args,
		func(scan func(dest ...any) error) error {
			e, id, err := scanEvent(scan)
			if c := at[id]; err == nil {
				c.Events = append(c.Events, e)
			}
			return err
		})
	if err != nil {
		return err
	}
	w = sqltext.Where{}
	w.And("p.site_id = ?", siteID)
	sqltext.In(&w, "p.dispute_id", ids)
	return tx.Query(`SELECT `+postingColumns+` FROM dispute_postings p WHERE `+w.Text.String()+` ORDER BY p.id`, w.Args,
		func(scan func(dest ...any) error) error {
			p, err := scanPosting(scan)
			if c := at[p.DisputeID]; err == nil {
				c.Postings = append(c.Postings, p)
			}
			return err
		})
}

// ByID reads a case with its events and postings. The error is store.ErrNotFound if there is none.
func ByID(tx *store.Tx, siteID, id int64) (Case, error) {
	return oneCase(tx, `SELECT `+caseColumns+` FROM disputes WHERE site_id = $1 AND id = $2`, []any{siteID, id})
}

// casesOfPayments reads the cases that are matched with payments, with their parts.
func casesOfPayments(tx *store.Tx, siteID int64, transactions []int64) ([]Case, error) {
	return casesIn(tx, siteID, "transaction_id", transactions)
}

// OfPayment reads the cases that are matched with a payment, with their parts, in order of their ids.
func OfPayment(tx *store.Tx, siteID, transactionID int64) ([]Case, error) {
	return casesOfPayments(tx, siteID, []int64{transactionID})
}

// casesByID reads cases with their parts, by id.
func casesByID(tx *store.Tx, siteID int64, ids []int64) (map[int64]Case, error) {
	list, err := casesIn(tx, siteID, "id", ids)
	found := make(map[int64]Case, len(list))
	for _, c := range list {
		found[c.ID] = c
	}
	return found, err
}

// casesIn reads the cases with some values of a column, with their parts.
func casesIn(tx *store.Tx, siteID int64, column string, values []int64) ([]Case, error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, column, values)
	return casesWhere(tx, siteID, &w)
}

// Between reads the cases of a site with ids from first to last, with their parts.
func Between(tx *store.Tx, siteID, first, last int64) ([]Case, error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	w.And("id BETWEEN ? AND ?", first, last)
	return casesWhere(tx, siteID, &w)
}

func casesWhere(tx *store.Tx, siteID int64, w *sqltext.Where) (list []Case, err error) {
	err = tx.Query(`SELECT `+caseColumns+` FROM disputes WHERE `+w.Text.String()+` ORDER BY id`, w.Args,
		func(scan func(dest ...any) error) error {
			c, err := scanCase(scan)
			list = append(list, c)
			return err
		})
	if err != nil {
		return nil, err
	}
	return list, readParts(tx, siteID, list)
}

// casesPage reads one page of the cases of a site, with their parts.
func casesPage(tx *store.Tx, siteID int64, f Filter, page store.Page) (store.List[Case], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	f.where(&w)
	list, err := store.ListPage(tx, "disputes", caseColumns, &w, page, store.Orders{
		store.OrderModified: "modified_at", OrderDue: "COALESCE(due_day, 2932896)", OrderOpened: "opened_day",
	}, scanCase)
	if err != nil {
		return list, err
	}
	return list, readParts(tx, siteID, list.Items)
}

// where adds the conditions of the filter to w, whose first argument is the site.
func (f Filter) where(w *sqltext.Where) {
	sqltext.In(w, "channel_id", f.Channels)
	sqltext.In(w, "transaction_id", f.Transactions)
	for _, words := range []struct {
		column string
		values []string
	}{
		{"stage", texts(f.Stages)}, {"status", texts(f.Statuses)}, {"matching", texts(f.Matchings)}, {"source", f.Sources},
		{"case_id", f.CaseIDs}, {"assignee", f.Assigned}, {"reason_family", texts(f.Families)}, {"scheme", f.Schemes},
	} {
		sqltext.In(w, words.column, words.values)
	}
	if f.Search != "" {
		w.And(`case_id = ? OR acquirer_reference = ? OR processor_reference = ? OR processor_alias = ? OR payment_reference = ?`,
			f.Search, f.Search, f.Search, f.Search, f.Search)
	}
	if f.DueBefore != nil {
		w.And("due_day < ?", *f.DueBefore)
	}
	if len(f.Insolvencies) > 0 {
		in := make([]any, len(f.Insolvencies))
		for i, id := range f.Insolvencies {
			in[i] = id
		}
		w.And(`EXISTS (SELECT 1 FROM insolvency_lines l WHERE l.site_id = $1 AND l.transaction_id = disputes.transaction_id
			AND l.insolvency_id IN ` + w.Values(in...) + `)`)
	}
}

func texts[T ~string](list []T) (all []string) {
	for _, v := range list {
		all = append(all, string(v))
	}
	return slices.Clip(all)
}

// counts counts the cases of a site by matching, stage, status and reason family.
func counts(tx *store.Tx, siteID int64, f Filter, today civil.Day) (n Counts, err error) {
	n.Matching, n.Stages, n.Statuses = map[dispute.Matching]int64{}, map[dispute.Stage]int64{}, map[dispute.Status]int64{}
	n.Families = map[dispute.Family]int64{}
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	f.where(&w)
	overdue := w.Fill("CAST(SUM(CASE WHEN status = 'open' AND due_day < ? THEN 1 ELSE 0 END) AS BIGINT)", today)
	soon := w.Fill("CAST(SUM(CASE WHEN status = 'open' AND due_day >= ? AND due_day <= ? THEN 1 ELSE 0 END) AS BIGINT)", today, today+alertDays)
	err = tx.Query(`SELECT matching, stage, status, reason_family, COUNT(*), `+overdue+`, `+soon+`
		FROM disputes WHERE `+w.Text.String()+` GROUP BY matching, stage, status, reason_family`, w.Args, func(scan func(dest ...any) error) error {
		var matching dispute.Matching
		var stage dispute.Stage
		var status dispute.Status
		var family dispute.Family
		var count, overdue, soon int64
		err := scan(&matching, &stage, &status, &family, &count, &overdue, &soon)
		n.All, n.Overdue, n.DueSoon = n.All+count, n.Overdue+overdue, n.DueSoon+soon
		n.Matching[matching] += count
		n.Stages[stage] += count
		n.Statuses[status] += count
		n.Families[family] += count
		return err
	})
	return n, err
}
