package trade

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/payment"
	"holdfast/internal/notify/mail"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// todo is something that needs attention, and the page to resolve it.
type todo struct {
	Text, More, Href string
	Tone             string
}

const (
	// most is the highest count shown: more are "100 or more".
	most = 100
	// soon is how long before expiry a token needs attention.
	soon = 14 * 24 * time.Hour
	// near is the share of a limit from which it counts as nearly reached.
	near = 80
	// named is how many insolvent merchants are named.
	named = 5
)

// attention lists what needs attention. Each check is one bounded read.
func (p *pages) attention(v *kit.Visit, pending []exposure.Pending) (list []todo, err error) {
	for _, one := range pending {
		list = append(list, todo{
			kit.Plural(one.Allocations, "payment is waiting", "payments are waiting") + " for a rate of " + string(one.Currency),
			kit.Money(one.E1+one.E2, one.Currency), v.At("/settings/rates"), "warn",
		})
	}
	for _, look := range []func(*kit.Visit) ([]todo, error){p.failed, p.usedLimits, p.openPayments, p.overdue, p.deadMails, p.brokenWebhooks, p.oldTokens} {
		found, err := look(v)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	slices.SortStableFunc(list, func(a, b todo) int { return cmp.Compare(a.Tone, b.Tone) }) // "bad" comes before "warn"
	return list, nil
}

// failed are merchants that are insolvent, and reports of a failure that wait for confirmation.
func (p *pages) failed(v *kit.Visit) (list []todo, err error) {
	insolvent, err := p.app.Channels.List(v.R.Context(), v.Actor, merchants.ChannelFilter{Insolvent: true}, counting)
	if err != nil {
		return nil, err
	}
	for _, c := range insolvent.Items[:min(len(insolvent.Items), named)] {
		more := "Since " + kit.Day(c.Insolvency.Day()) + ". New payments are not protected"
		if !v.Can(access.ReadFailures) {
			list = append(list, todo{c.Name + " is insolvent", more, v.At("/channels/" + kit.Ident(c.ID).Plain), "bad"})
			continue
		}
		list = append(list, todo{c.Name + " is insolvent", more, v.At("/insolvencies/" + kit.Ident(c.Insolvency.ID).Plain), "bad"})
	}
	if rest := len(insolvent.Items) - named; rest > 0 {
		list = append(list, todo{counted(rest, insolvent.More, "more merchant is insolvent", "more merchants are insolvent"), "", v.At("/channels"), "bad"})
	}
	if !v.Can(access.ReadFailures) {
		return list, nil
	}
	reported, err := p.app.Insolvencies.List(v.R.Context(), v.Actor, insolvencies.Filter{States: []insolvencies.State{insolvencies.Reported}}, counting)
	if err == nil && len(reported.Items) > 0 {
		list = append(list, todo{
			counted(len(reported.Items), reported.More, "report of a failure waits", "reports of failures wait") + " for confirmation",
			"Nothing has changed yet", v.At("/insolvencies?state=reported"), "bad",
		})
	}
	return list, err
}

// usedLimits are limits that are exceeded or nearly reached.
func (p *pages) usedLimits(v *kit.Visit) (list []todo, err error) {
	found, err := p.app.Limits.List(v.R.Context(), v.Actor, limits.LimitFilter{}, store.Page{Number: 1, Size: most, Offset: -1})
	for _, row := range found.Items {
		whose := "the site"
		if row.ChannelID != 0 {
			whose = row.ChannelName
		}
		switch {
		case row.Over > 0:
			list = append(list, todo{"The limit of " + whose + " is exceeded", row.Percent + "% used", v.At("/exposure/limits"), "bad"})
		case row.Level >= near:
			list = append(list, todo{"The limit of " + whose + " is nearly reached", row.Percent + "% used", v.At("/exposure/limits"), "warn"})
		case len(row.Pending) > 0:
			list = append(list, todo{"Part of the limit use of " + whose + " is waiting for a rate", row.Percent + "% used without it", v.At("/exposure/limits"), "warn"})
		}
	}
	return list, err
}

// counted formats a count that stops at most.
func counted(n int, more bool, one, many string) string {
	if more {
		return fmt.Sprintf("%d or more %s", n, many)
	}
	return kit.Plural(int64(n), one, many)
}

// counting is a list page that only needs the row count.
var counting = store.Page{Number: 1, Size: most, Offset: -1, OrderBy: "id"}

func (p *pages) openPayments(v *kit.Visit) ([]todo, error) {
	found, err := p.app.Payments.List(v.R.Context(), v.Actor,
		payments.TransactionFilter{Statuses: []payment.TransactionStatus{payment.StatusIncomplete}}, counting)
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return []todo{{
		counted(len(found.Items), found.More, "payment", "payments") + " with an unknown outcome", "The processor is checked again automatically",
		v.At("/payments?status=incomplete"), "warn",
	}}, nil
}

func (p *pages) overdue(v *kit.Visit) ([]todo, error) {
	if !v.Can(access.ReadStatements) {
		return nil, nil
	}
	yes := true
	found, _, err := p.app.Statements.List(v.R.Context(), v.Actor, statements.StatementFilter{Overdue: &yes}, counting)
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return []todo{{counted(len(found.Items), found.More, "statement is", "statements are") + " overdue", "", v.At("/statements?overdue=1"), "bad"}}, nil
}

func (p *pages) deadMails(v *kit.Visit) ([]todo, error) {
	found, err := p.app.Mails.List(v.R.Context(), v.Actor, mail.Filter{States: []mail.State{mail.Dead}}, counting)
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return []todo{{counted(len(found.Items), found.More, "mail", "mails") + " could not be sent", "", v.At("/settings/mails?state=dead"), "bad"}}, nil
}

func (p *pages) brokenWebhooks(v *kit.Visit) (list []todo, err error) {
	found, err := p.app.Webhooks.List(v.R.Context(), v.Actor)
	for _, e := range found {
		switch {
		case e.State == webhooks.Disabled && e.Reason != "":
			list = append(list, todo{"A webhook is disabled", e.URL, v.At("/developers/webhooks"), "bad"})
		case e.State == webhooks.Enabled && !e.FailingSince.IsZero():
			list = append(list, todo{"A webhook has been failing since " + kit.Instant(e.FailingSince), e.URL, v.At("/developers/webhooks"), "warn"})
		}
	}
	return list, err
}

func (p *pages) oldTokens(v *kit.Visit) (list []todo, err error) {
	found, err := p.app.Tokens.List(v.R.Context(), v.Actor)
	for _, t := range found {
		switch left := t.ExpiresAt.Sub(v.Now()); {
		case t.ExpiresAt.IsZero() || left > soon:
		case left <= 0:
			list = append(list, todo{"The API token " + t.Name + " has expired", kit.Instant(t.ExpiresAt), v.At("/developers"), "bad"})
		default:
			list = append(list, todo{"The API token " + t.Name + " expires soon", kit.Instant(t.ExpiresAt), v.At("/developers"), "warn"})
		}
	}
	return list, err
}
