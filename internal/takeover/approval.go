package takeover

import (
	"errors"
	"fmt"

	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

// opensByFile is the content of a proposal to open cover on the channels that a file creates.
type opensByFile struct {
	File takeover `json:"file"`
}

// takeover is the content of a proposal to take over a file.
type takeover struct {
	SHA256             string             `json:"sha256"`
	Mode               travel.AccountMode `json:"mode,omitempty"` // of the channels that it creates
	CoverFromEffective bool               `json:"cover_from_effective"`
}

// approval reads the proposal of the import, or makes it. The import may begin when it is approved. An import needs
// the approval of another operator if it covers payments from when they were taken, or creates protected channels. For
// any other import an approved proposal comes back, which is not stored.
func (r *importRun) approval(tx *db.Tx) (travel.Proposal, error) {
	actor, opts := r.actor, r.opts
	approved := travel.Proposal{State: travel.ProposalApproved}
	if !opts.CoverFromEffective && opts.Mode != travel.ModeProtectionOnly {
		return approved, nil
	}
	site, err := merchants.Site(tx, actor.SiteID)
	if err != nil {
		return approved, core.NotFoundAs(fault.SettingNotFound, err, "There is no site %d.", actor.SiteID)
	}
	if opts.SHA256 == "" && !site.Sandbox {
		return approved, fault.WrongField("file", "Another operator has to approve this file by its hash. So it must be a file "+
			"that can be read twice, and not standard input.")
	}
	file := takeover{SHA256: opts.SHA256, Mode: opts.Mode, CoverFromEffective: opts.CoverFromEffective}
	p := travel.Proposal{Kind: travel.ProposeTakeover, Reason: opts.Reason}
	var payload any = file
	if !opts.CoverFromEffective {
		p.Kind, payload = travel.ProposeOpenCover, opensByFile{file}
	}
	p.Subject = fmt.Sprintf("file %s, mode %q, cover from effective %t", file.SHA256, file.Mode, file.CoverFromEffective)
	// The same import may have a proposal from before. Without a hash nobody can tell which import is the same.
	if known, err := core.ProposalAbout(tx, actor.SiteID, p.Kind, p.Subject); file.SHA256 != "" && !errors.Is(err, db.ErrNotFound) {
		return known, err
	}
	return core.Request(tx, actor, p, payload, func() (any, error) { return nil, nil })
}
