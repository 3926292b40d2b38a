// Package dashboard assembles the dashboard from the frame in package kit and the packages with its pages. Start reading
// at New.
package dashboard

import (
	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/web/channels"
	"holdfast/internal/web/developers"
	"holdfast/internal/web/disputes"
	"holdfast/internal/web/exposure"
	"holdfast/internal/web/failures"
	"holdfast/internal/web/kit"
	"holdfast/internal/web/office"
	"holdfast/internal/web/people"
	"holdfast/internal/web/settings"
	"holdfast/internal/web/statements"
	"holdfast/internal/web/trade"
)

// New makes the dashboard.
func New(cfg kit.Config, a *app.App) (*kit.Frame, error) {
	cfg.SignIns, cfg.Health = a.SignIns, a.Health
	f, err := kit.New(cfg)
	if err != nil {
		return nil, err
	}
	f.AddMenu(menus...)
	f.AddParts(parts...)
	f.AddReports(byMail...)
	a.Schedules.Make = office.Maker(f, a)
	for _, add := range []func(*kit.Frame, *app.App) error{
		people.Add, trade.Add, channels.Add, developers.Add, exposure.Add, statements.Add, failures.Add, disputes.Add, settings.Add, office.Add,
	} {
		if err := add(f, a); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// menus are the sidebar entries. Nobody sees more than eight. A page names the Below of its entry.
var menus = []kit.Menu{
	{Name: "Overview", Below: "", Letter: "o"},
	{Name: "Bookings", Below: "/bookings", Letter: "b"},
	{Name: "Payments", Below: "/payments", Letter: "p"},
	{Name: "Merchants", Below: "/channels", Letter: "c"},
	{Name: "Exposure", Below: "/exposure", Letter: "e"},
	{Name: "Statements", Below: "/statements", Letter: "s", May: access.ReadStatements},
	{Name: "Developers", Below: "/developers", Letter: "d"},
	{Name: "Settings", Below: "/settings", Letter: "t"},

	{Name: "Approvals", Below: "/approvals", Letter: "a", Office: true},
	{Name: "Sites", Below: "/sites", Letter: "s", Office: true},
	{Name: "Protection requests", Below: "/asked", Letter: "q", Office: true},
	{Name: "Receivables", Below: "/receivables", Letter: "r", Office: true},
	{Name: "People", Below: "/people", Letter: "p", Office: true},
	{Name: "Jobs", Below: "/jobs", Letter: "j", Office: true},
	{Name: "System", Below: "/system", Letter: "y", Office: true},
}

// parts are the pages shown as tabs of one group. Those without a group are only found by search.
var parts = []kit.Part{
	{Group: "channel", Name: "Risk", Below: "/exposure/merchants/{id}"},
	{Group: "channel", Name: "Track record", Below: "/exposure/merchants/{id}/record"},
	{Group: "channel", Name: "Protection", Below: "/channels/{id}/protection"},
	{Group: "channel", Name: "Terms", Below: "/settings/merchants/{id}"},
	{Group: "channel", Name: "Integration", Below: "/channels/{id}/integration"},
	{Group: "channel", Name: "Settings", Below: "/channels/{id}/settings"},

	{Group: "payments", Name: "Payments", Below: "/payments"},
	{Group: "payments", Name: "Disputes", Below: "/disputes", May: access.ReadDisputes},
	{Group: "payments", Name: "Dispute files", Below: "/dispute-files", May: access.ReadDisputes},
	{Group: "payments", Name: "Ratios", Below: "/disputes/ratios", May: access.ReadDisputes},

	{Group: "exposure", Name: "Exposure", Below: "/exposure"},
	{Group: "exposure", Name: "Run-off", Below: "/exposure/run-off"},
	{Group: "exposure", Name: "Movement", Below: "/exposure/movement"},
	{Group: "exposure", Name: "Ageing", Below: "/exposure/ageing"},
	{Group: "exposure", Name: "Model", Below: "/exposure/model"},
	{Group: "exposure", Name: "What if", Below: "/exposure/what-if"},
	{Group: "exposure", Name: "Top merchants", Below: "/exposure/merchants"},
	{Group: "exposure", Name: "Limits", Below: "/exposure/limits"},
	{Group: "exposure", Name: "Schedules", Below: "/reports", May: access.Export},

	{Group: "statements", Name: "Statements", Below: "/statements", May: access.ReadStatements},
	{Group: "statements", Name: "Bordereaux", Below: "/statements/bordereaux", May: access.ReadStatements},

	{Group: "developers", Name: "API tokens", Below: "/developers"},
	{Group: "developers", Name: "Webhooks", Below: "/developers/webhooks"},
	{Group: "developers", Name: "Events", Below: "/developers/events"},
	{Group: "developers", Name: "Permitted origins", Below: "/developers/origins"},

	{Group: "settings", Name: "Site", Below: "/settings"},
	{Group: "settings", Name: "People", Below: "/people", May: access.ManageMembers},
	{Group: "settings", Name: "Suppliers", Below: "/suppliers"},
	{Group: "settings", Name: "Policies", Below: "/settings/policies"},
	{Group: "settings", Name: "Limits", Below: "/settings/limits"},
	{Group: "settings", Name: "Rates", Below: "/settings/rates"},
	{Group: "settings", Name: "E-mails", Below: "/settings/mails"},
	{Group: "settings", Name: "Audit log", Below: "/settings/audit", May: access.ReadAudit},

	{Group: "failures", Name: "Insolvencies", Below: "/insolvencies", May: access.ReadFailures},
	{Group: "failures", Name: "Claims", Below: "/claims", May: access.ReadFailures},
	{Group: "failures", Name: "Bordereau", Below: "/claims/bordereau", May: access.ReadFailures},
	{Group: "failures", Name: "Payouts", Below: "/payouts", May: access.ReadPayouts},
	{Group: "failures", Name: "Loss ratio", Below: "/insolvencies/loss-ratio", May: access.ReadFailures},
	{Group: "failures", Name: "Recoveries", Below: "/recoveries", May: access.ReadFailures},

	{Name: "Report a failure", Below: "/insolvencies/new", May: access.ReportFailures},
	{Name: "Import a file", Below: "/bookings/import", May: access.ImportBooks},
	{Name: "New booking", Below: "/bookings/new", May: access.WriteBookings},
	{Name: "New merchant", Below: "/channels/new", May: access.WriteChannels},
	{Name: "Allocations", Below: "/exposure/details"},
	{Name: "Collateral", Below: "/settings/collateral"},
	{Name: "Proposals", Below: "/approvals", May: access.ReadAudit},
}

// byMail lists the reports that can be scheduled by e-mail.
var byMail = []kit.Report{
	{Name: "Exposure", Below: "/exposure", Days: true},
	{Name: "Allocations", Below: "/exposure/details", Days: true},
	{Name: "Run-off", Below: "/exposure/run-off", Days: true},
	{Name: "Exposure movement", Below: "/exposure/movement", Days: true, Since: true},
	{Name: "Ageing", Below: "/exposure/ageing", Days: true},
	{Name: "Model against actual", Below: "/exposure/model", Days: true},
	{Name: "What if", Below: "/exposure/what-if", Days: true},
	{Name: "Top merchants", Below: "/exposure/merchants", Days: true},
	{Name: "Limit usage", Below: "/exposure/limits"},
	{Name: "Premium bordereau", Below: "/statements/bordereaux", Month: true},
	{Name: "Statements", Below: "/statements"},
	{Name: "Receivables", Below: "/receivables", Office: true},
}
