package imports

import (
	"errors"
	"fmt"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// opensByFile is the content of a proposal to open cover on the channels that a file creates.
type opensByFile struct {
	File takeover `json:"file"`
}

// takeover is the content of a proposal to import a file.
type takeover struct {
	SHA256             string               `json:"sha256"`
	Mode               merchant.AccountMode `json:"mode,omitempty"` // of the channels that it creates
	CoverFromEffective bool                 `json:"cover_from_effective"`
}

// asked returns the proposal that the import needs, with its payload. An import needs another operator's approval if it covers payments
// retroactively, or creates protected channels. For any other import the subject is empty.
func (r *importRun) asked() (p proposal.Proposal, payload any) {
	opts := r.opts
	if !opts.CoverFromEffective && opts.Mode != merchant.ModeProtectionOnly {
		return p, nil
	}
	file := takeover{SHA256: opts.SHA256, Mode: opts.Mode, CoverFromEffective: opts.CoverFromEffective}
	p = proposal.Proposal{Kind: proposal.Takeover, Reason: opts.Reason}
	payload = file
	if !opts.CoverFromEffective {
		p.Kind, payload = proposal.OpenCover, opensByFile{file}
	}
	p.Subject = fmt.Sprintf("file %s, mode %q, cover from effective %t", file.SHA256, file.Mode, file.CoverFromEffective)
	return p, payload
}

// proposalOf reads the existing proposal of the same import.
func proposalOf(tx *store.Tx, siteID int64, p proposal.Proposal) (before proposal.Proposal, known bool, err error) {
	before, err = approvals.About(tx, siteID, p.Kind, p.Subject)
	if errors.Is(err, store.ErrNotFound) {
		return before, false, nil
	}
	return before, err == nil, err
}

// approval reads the proposal of the import, or creates it with its effect. The import may begin once it is approved. For an
// import that needs no approval, it returns an approved proposal that is not stored.
func (r *importRun) approval(tx *store.Tx, effect *proposal.Effect) (proposal.Proposal, error) {
	p, payload := r.asked()
	if p.Subject == "" {
		return proposal.Proposal{State: proposal.Approved}, nil
	}
	site, err := sites.Alone(tx, r.actor.SiteID)
	if err != nil {
		return p, store.NotFoundAs(errs.SettingNotFound, err, "Site %d not found.", r.actor.SiteID)
	}
	// Without a hash, the same import cannot be recognised.
	if r.opts.SHA256 == "" && !site.Sandbox {
		return p, errs.WrongField("file", "Another operator must approve this file by its hash. It must be a file "+
			"that can be read twice, not standard input.")
	}
	if r.opts.SHA256 != "" {
		if before, known, err := proposalOf(tx, r.actor.SiteID, p); known || err != nil {
			return before, err
		}
	}
	if effect != nil {
		if p.Effect, err = approvals.EncodeEffect(*effect, ""); err != nil {
			return p, err
		}
	}
	return r.Approvals.Request(tx, r.actor, p, payload, func() (any, error) { return nil, nil })
}
