package approvals

import (
	"database/sql"

	"holdfast/internal/domain/proposal"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const proposalColumns = `site_id, id, kind, subject, payload, reason, state, alone, proposed_by_id, proposed_by,
	proposed_at, decided_by_id, decided_by, decided_at, decision_reason, result, effect`

func scanProposal(scan func(dest ...any) error) (proposal.Proposal, error) {
	var p proposal.Proposal
	var proposed int64
	var decided sql.NullInt64
	err := scan(&p.SiteID, &p.ID, &p.Kind, &p.Subject, &p.Payload, &p.Reason, &p.State, &p.Alone, &p.ProposedByID,
		&p.ProposedBy, &proposed, &p.DecidedByID, &p.DecidedBy, &decided, &p.DecisionReason, &p.Result, &p.Effect)
	p.ProposedAt, p.DecidedAt = store.Instant(proposed), store.MaybeInstant(decided)
	return p, err
}

// insertProposal stores a new, open proposal, and returns it with its id.
func insertProposal(tx *store.Tx, p proposal.Proposal) (proposal.Proposal, error) {
	p.State, p.ProposedAt = proposal.Open, tx.Now
	var err error
	if p.ID, err = tx.NextID("proposals", p.SiteID); err != nil {
		return p, err
	}
	_, err = tx.Exec(`INSERT INTO proposals (site_id, id, kind, subject, payload, reason, state, alone, proposed_by_id, proposed_by,
			proposed_at, decided_by_id, decided_by, decision_reason, result, effect, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, '', '', '', $12, 1)`,
		p.SiteID, p.ID, p.Kind, p.Subject, p.Payload, p.Reason, p.State, p.Alone, p.ProposedByID, p.ProposedBy,
		store.Micros(p.ProposedAt), p.Effect)
	return p, err
}

// lockProposal locks a proposal for this write, and reads it. The error is store.ErrNotFound when the site has no proposal
// with that id.
func lockProposal(tx *store.Tx, siteID, id int64) (proposal.Proposal, error) {
	return scanProposal(func(dest ...any) error {
		return tx.QueryRow(`UPDATE proposals SET version = version + 1 WHERE site_id = $1 AND id = $2
			RETURNING `+proposalColumns, []any{siteID, id}, dest...)
	})
}

// storeDecision stores the decision on a locked proposal.
func storeDecision(tx *store.Tx, p proposal.Proposal) error {
	_, err := tx.Exec(`UPDATE proposals SET state = $3, alone = $4, decided_by_id = $5, decided_by = $6, decided_at = $7,
			decision_reason = $8, result = $9, effect = $10
		WHERE site_id = $1 AND id = $2`,
		p.SiteID, p.ID, p.State, p.Alone, p.DecidedByID, p.DecidedBy, store.MaybeMicros(p.DecidedAt), p.DecisionReason, p.Result, p.Effect)
	return err
}

// findProposal reads one proposal of the site.
func findProposal(tx *store.Tx, siteID, id int64) (proposal.Proposal, error) {
	return scanProposal(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+proposalColumns+` FROM proposals WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// About reads the latest proposal of a kind about a subject that is open or approved. The error is
// store.ErrNotFound when there is none.
func About(tx *store.Tx, siteID int64, kind proposal.Kind, subject string) (proposal.Proposal, error) {
	return scanProposal(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+proposalColumns+` FROM proposals
			WHERE site_id = $1 AND kind = $2 AND subject = $3 AND state IN ('open', 'approved')
			ORDER BY id DESC LIMIT 1`, []any{siteID, kind, subject}, dest...)
	})
}

// proposalsPage reads one page of the site's proposals.
func proposalsPage(tx *store.Tx, siteID int64, f Filter, page store.Page) (store.List[proposal.Proposal], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "state", f.States)
	sqltext.In(&w, "kind", f.Kinds)
	return store.ListPage(tx, "proposals", proposalColumns, &w, page,
		store.Orders{"modified": "COALESCE(decided_at, proposed_at)"}, scanProposal)
}

// inboxPage reads one page of the open proposals of all sites, in order of their ids. The index proposals_open has no others.
func inboxPage(tx *store.Tx, page store.Page) (store.List[Waiting], error) {
	list := store.List[Waiting]{Total: -1}
	err := tx.Query(`SELECT s.path, s.name, s.sandbox, p.*
		FROM (SELECT `+proposalColumns+` FROM proposals WHERE state = 'open' ORDER BY id LIMIT $1 OFFSET $2) p
		JOIN sites s ON s.id = p.site_id ORDER BY p.id`, []any{page.Size + 1, page.Skip()},
		func(scan func(dest ...any) error) (err error) {
			var w Waiting
			w.Proposal, err = scanProposal(func(dest ...any) error {
				return scan(append([]any{&w.Site.Path, &w.Site.Name, &w.Site.Sandbox}, dest...)...)
			})
			w.Site.ID = w.SiteID
			list.Items = append(list.Items, w)
			return err
		})
	if len(list.Items) > page.Size {
		list.Items, list.More = list.Items[:page.Size], true
	}
	return list, err
}
