package takeover

import (
	"errors"
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

// opensByFile is what a proposal to open cover on the channels of a file asks for.
type opensByFile struct {
	File takeover `json:"file"`
}

// takeover is what a proposal to take over a file asks for.
type takeover struct {
	SHA256             string             `json:"sha256"`
	Mode               travel.AccountMode `json:"mode,omitempty"` // of the channels that it creates
	CoverFromEffective bool               `json:"cover_from_effective"`
}

// mayImport asks for the approval that an import needs: where it covers payments from when they were taken, or opens
// cover on channels that it creates. The import may begin when the proposal that comes back is approved, or is of none.
func mayImport(c *core.Core, tx *db.Tx, actor auth.Actor, opts ImportOptions) (travel.Proposal, error) {
	approved := travel.Proposal{State: travel.ProposalApproved}
	if !opts.CoverFromEffective && opts.Mode != travel.ModeProtectionOnly {
		return approved, nil
	}
	site, err := merchants.Site(tx, actor.SiteID)
	if err != nil {
		return approved, core.NotFoundAs(fault.SettingNotFound, err, "There is no site %d.", actor.SiteID)
	}
	if opts.SHA256 == "" && !site.Sandbox {
		return approved, fault.WrongField("file", "Another operator approves this file by its hash, so it must be a file that can be "+
			"read twice, not standard input.")
	}
	file := takeover{SHA256: opts.SHA256, Mode: opts.Mode, CoverFromEffective: opts.CoverFromEffective}
	p := travel.Proposal{Kind: travel.ProposeTakeover, Reason: opts.Reason}
	var payload any = file
	if !opts.CoverFromEffective {
		p.Kind, payload = travel.ProposeOpenCover, opensByFile{file}
	}
	p.Subject = fmt.Sprintf("file %s, mode %q, cover from effective %t", file.SHA256, file.Mode, file.CoverFromEffective)
	// What was asked for before need not be asked for again; without a hash there is no telling.
	if known, err := core.ProposalAbout(tx, actor.SiteID, p.Kind, p.Subject); file.SHA256 != "" && !errors.Is(err, db.ErrNotFound) {
		return known, err
	}
	return core.Request(c, tx, actor, p, payload, func() (any, error) { return nil, nil })
}
