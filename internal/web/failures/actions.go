package failures

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"holdfast/internal/app"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/web/kit"
)

// action is a step that a person takes, after a confirmation.
type action struct {
	below, button, title string // title has a %s for the merchant
	may                  access.Permission
	in                   []insolvencies.State
	harm                 bool
	text                 []string // consequences
	done                 string
	do                   func(a *app.App) use
}

// use is a use case that changes an insolvency.
type use func(ctx context.Context, actor access.Actor, id int64, reason string) (insolvencies.Insolvency, error)

// actions lists the actions, in the order of their buttons.
var actions = []action{
	{
		below: "confirm", button: "Confirm failure", title: "Confirm the failure of %s?", may: access.DecideFailures, harm: true,
		in: []insolvencies.State{insolvencies.Reported}, do: func(a *app.App) use { return a.Insolvencies.Confirm },
		text: []string{
			"From now on, no payment of this merchant is protected, and its processor carries out no refunds.",
			"Payments logged since it failed get their premium back. A snapshot of the payments that were not delivered is made in about ten seconds.",
		},
		done: "Failure confirmed. New payments are no longer protected.",
	},
	{
		below: "close-claims", button: "Close claims", title: "Stop taking claims about %s?", may: access.DecideFailures,
		in: []insolvencies.State{insolvencies.Open}, do: func(a *app.App) use { return a.Insolvencies.CloseClaims },
		text: []string{"Disputes received later are not payable. This cannot be undone."}, done: "Claims closed.",
	},
	{
		below: "close", button: "Close", title: "Close the insolvency of %s?", may: access.DecideFailures,
		in: []insolvencies.State{insolvencies.ClaimsClosed}, do: func(a *app.App) use { return a.Claims.CloseInsolvency },
		text: []string{"New payments stay unprotected until the merchant is reinstated. Claims that are not decided are never paid. This cannot be undone."}, done: "Insolvency closed.",
	},
	{
		below: "reinstate", button: "Reinstate merchant", title: "Reinstate %s?", may: access.DecideFailures,
		in: []insolvencies.State{insolvencies.Closed}, do: func(a *app.App) use { return a.Insolvencies.Reinstate },
		text: []string{"Payments logged from then on can be protected again. Outside a sandbox, another operator must approve it."},
		done: "Merchant reinstated.",
	},
	{
		below: "allow-processing", button: "Allow refunds", title: "Let the processor of %s carry out refunds?", may: access.DecideFailures,
		in:   []insolvencies.State{insolvencies.Confirmed, insolvencies.Open, insolvencies.ClaimsClosed, insolvencies.Closed},
		do:   func(a *app.App) use { return a.Insolvencies.AllowProcessing },
		text: []string{"Refunds and voids that the API asks for are sent to the merchant's processor again. Outside a sandbox, another operator must approve it."},
		done: "Refunds allowed.",
	},
	{
		below: "withdraw", button: "Withdraw", title: "Withdraw the failure of %s?", may: access.ReportFailures,
		in: []insolvencies.State{insolvencies.Reported, insolvencies.Confirmed, insolvencies.Open}, do: func(a *app.App) use { return a.Claims.WithdrawInsolvency },
		text: []string{
			"Do this if the report was a mistake. Payments logged from now on are protected as before, and premium that was returned is charged again.",
			"Payments logged since the confirmation stay unprotected.",
		},
		done: "Failure withdrawn.",
	},
}

// possible reports whether an action makes sense now.
func (a action) possible(v *kit.Visit, i insolvencies.Insolvency) bool {
	switch {
	case !v.Can(a.may) || !slices.Contains(a.in, i.State):
		return false
	case a.below == "confirm":
		return i.ReportedByID != v.User.ID || v.Site.Sandbox
	case a.below == "reinstate":
		return i.ReinstatedAt.IsZero()
	case a.below == "allow-processing":
		return !i.ProcessingAllowed && i.ReinstatedAt.IsZero()
	}
	return true
}

// actsOf are the buttons of an insolvency. The first step forward is the primary one.
func actsOf(v *kit.Visit, i insolvencies.Insolvency) (list []kit.Link) {
	for _, a := range actions {
		if a.possible(v, i) {
			list = append(list, kit.Link{Text: a.button, Href: at(v, i.ID, "/"+a.below), Plain: len(list) > 0 || a.below == "withdraw" || a.below == "allow-processing"})
		}
	}
	return list
}

// act returns the handler of an action: a confirmation with a reason, and the action itself.
func (p *pages) act(a action) kit.Handler {
	return func(v *kit.Visit) error {
		id, err := v.ID("id")
		if err != nil {
			return err
		}
		i, err := p.app.Insolvencies.Get(v.R.Context(), v.Actor, id)
		if err != nil {
			return err
		}
		c, err := p.app.Channels.Get(v.R.Context(), v.Actor, i.ChannelID)
		if err != nil {
			return err
		}
		form := kit.Filled()
		if v.R.Method == http.MethodPost {
			if form, err = v.Form(); err != nil {
				return err
			}
			changed, err := a.do(p.app)(v.R.Context(), v.Actor, id, form.Get("reason"))
			if ok, err := v.Took(form, err); err != nil {
				return err
			} else if ok && changed.Proposal != nil {
				return v.Waits(at(v, id, ""), changed.Proposal.ID, "Waiting for a second operator. Nothing has changed yet.")
			} else if ok {
				return v.Done(at(v, id, ""), "%s", a.done)
			}
		}
		return v.Confirm(kit.Confirmation{
			Title: fmt.Sprintf(a.title, c.Name), Text: a.text, Act: a.button, Harm: a.harm, Back: at(v, id, ""), Reason: "Reason", Again: form,
		}, kit.Page{Menu: menu, Path: append(above(v), kit.Link{Text: "Failure of " + c.Name, Href: at(v, id, "")})})
	}
}
