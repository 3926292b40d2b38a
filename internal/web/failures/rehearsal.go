package failures

import (
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/ops/rehearsal"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// newRehearsal shows the form that rehearses a failure, or continues a rehearsal.
func (p *pages) newRehearsal(v *kit.Visit) error {
	if !v.Site.Sandbox {
		return rehearsal.ErrNotSandbox
	}
	return p.rehearsalForm(v, kit.Filled("channels", v.Query("channels"), "days", "1"))
}

func (p *pages) rehearsalForm(v *kit.Visit, form *kit.Form) error {
	channels, err := choices.Channels(v, p.app, "Choose")
	if err != nil {
		return err
	}
	back := v.At("/insolvencies")
	if id := form.Reading().Number("channels"); id != nil {
		back = v.At("/channels/" + kit.Ident(*id).Plain)
	}
	return v.Show(p.Pages, "rehearsal.html", kit.Page{
		Title: "Rehearse a failure", Menu: menu, Path: above(v), Data: struct {
			Form           *kit.Form
			Channels, Days any
			Send, Back     string
		}{form, channels, kit.Options("1", "One day", "7", "One week", "0", "To the end"), v.At("/insolvencies/rehearsal"), back},
	})
}

// rehearse rehearses the failure of a merchant for some days.
func (p *pages) rehearse(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	channel, days := r.Number("channels"), r.Number("days")
	for field, number := range map[string]*int64{"channels": channel, "days": days} {
		if number == nil && !r.Problems.Has(field) {
			r.Problems.Missing(field)
		}
	}
	if err = r.Problems.Err(); err == nil {
		var done rehearsal.Result
		done, err = p.app.Rehearsals.Run(v.R.Context(), v.Actor, *channel, rehearsal.Options{Days: int(min(*days, rehearsal.Days))})
		if err == nil {
			return v.Done(at(v, done.Insolvency.ID, ""), "Day %d of %d rehearsed.", done.Day, rehearsal.Days)
		}
	}
	if _, err := v.Took(form, err); err != nil {
		return err
	}
	return p.rehearsalForm(v, form)
}

// rehearsalActs is the button that continues a rehearsal.
func rehearsalActs(v *kit.Visit, i insolvencies.Insolvency) []kit.Link {
	if !v.Site.Sandbox || !v.Can(access.MoveClock) || !rehearsal.Running(i) {
		return nil
	}
	link := choices.Rehearse(v, i.ChannelID)
	link.Text, link.Plain = "Continue rehearsal", false
	return []kit.Link{link}
}
