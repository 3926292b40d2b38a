package channels

import (
	"net/http"

	"holdfast/internal/book/underwriting"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// protectionView is the data of a merchant's protection page.
type protectionView struct {
	Request                                underwriting.Request
	Form, Answer, File                     *kit.Form
	Facts                                  []kit.Fact
	Documents                              []documentView
	Licences, Answers                      any
	Leads                                  []leadView
	Text, Tone                             string // status of the request
	Write, TakeBack, Begun, Decide, Attach bool
	At                                     string
	Empty                                  bool
}

type documentView struct {
	underwriting.Document
	Href, Delete, Text string
}

type leadView struct{ Name, Label string }

// protection shows a merchant's protection status, with the request form.
func (p *pages) protection(v *kit.Visit) error { return p.showProtection(v, nil, nil, nil) }

// showProtection shows the page. A rejected submission is shown again: request, answer or file.
func (p *pages) showProtection(v *kit.Visit, form, answer, file *kit.Form) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	r, err := p.app.Underwriting.Get(v.R.Context(), v.Actor, v.Site.ID, id)
	if err != nil {
		return err
	}
	may := v.Can(access.WriteChannels)
	possible := underwriting.CanAsk(c)
	view := protectionView{
		Request: r, Form: form, Answer: answer, File: file, Licences: choices.Words(underwriting.Licences, "Choose"),
		Answers: kit.Options("taken", "Accept", "questions", "Ask for more information", "refused", "Decline"), Write: may && possible && r.Open(),
		Begun: r.State != "", At: at(v, id, "/protection"),
		Decide: v.Can(access.SetChannelMode) && (r.State == underwriting.Asked || r.State == underwriting.Taken && !c.Covered()),
	}
	view.TakeBack = may && r.State == underwriting.Asked && !view.Decide // the operator asks a question
	view.Attach = view.Write && len(r.Documents) < underwriting.MaxDocuments
	view.Text, view.Tone = statusText(c, r)
	if view.Form == nil {
		view.Form = filledWithFacts(r)
		if !view.Begun {
			view.Form.Values.Set("currencies", string(c.Currency))
		}
	}
	if view.Answer == nil {
		view.Answer = kit.Filled("state", string(underwriting.Taken))
	}
	if view.File == nil {
		view.File = kit.Filled()
	}
	for i, label := range underwriting.LeadTimes {
		view.Leads = append(view.Leads, leadView{leadField(i), kit.Say(label)})
	}
	if view.Begun {
		view.Facts = factsOf(r.Facts)
	}
	view.Empty = !view.Begun && !view.Write && possible
	for _, d := range r.Documents {
		address := view.At + "/documents/" + kit.Ident(d.ID).Plain
		view.Documents = append(view.Documents, documentView{d, address, address + "/delete",
			kit.Plural((d.Size+1023)/1024, "kB", "kB") + ", " + kit.Instant(d.AddedAt) + ", " + d.AddedBy})
	}
	acts, err := choices.FailureActs(v, p.app, c)
	if err != nil {
		return err
	}
	page := kit.Page{Title: c.Name, Menu: menu, Path: above(v, id, ""), Parts: v.Parts("channel", "/channels/{id}/protection", id), Acts: acts, Data: view}
	if r.State == underwriting.Taken && !c.Covered() && v.Can(access.SetChannelMode) {
		page.Acts = append([]kit.Link{{Text: "Set mode", Href: at(v, id, "/settings")}}, acts...)
	}
	return v.Show(p.Pages, "protection.html", page)
}

// statusText describes a merchant's protection status in a sentence.
func statusText(c merchant.Channel, r underwriting.Request) (text, tone string) {
	switch {
	case c.LockedOrInsolvent() && c.Covered():
		return kit.LockedText(c), "wrong"
	case c.Covered():
		return "This merchant is protected. Card payments are covered from the moment they are logged.", "done"
	case !underwriting.CanAsk(c):
		return "Test merchants are not protected. Create a merchant in draft mode to request protection.", ""
	}
	switch r.State {
	case underwriting.Asked:
		return "The request is waiting for the operator. " + r.AskedBy + " sent it on " + kit.Instant(r.AskedAt) + ".", "warned"
	case underwriting.Questions:
		return "The operator has a question. Answer it below and send the request again.", "warned"
	case underwriting.Taken:
		return "The operator accepted the request. Payments are protected once the merchant's mode changes.", "done"
	case underwriting.Refused:
		return "The operator declined the request. You can change it and send it again.", "wrong"
	}
	return "Payments to this merchant are not protected yet.", ""
}

// ask saves the form, and sends it to the operator if that button was clicked.
func (p *pages) ask(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	ask := form.Get("act") == "ask"
	r := form.Reading()
	facts := readFacts(r)
	version := r.Number("version")
	if err = r.Problems.Err(); err == nil {
		if version == nil { // the form was shown before a draft existed
			version = new(int64(underwriting.Unwritten))
		}
		_, err = p.app.Underwriting.Save(v.R.Context(), v.Actor, id, facts, ask, *version)
	}
	stored := func() (*kit.Form, error) {
		r, err := p.app.Underwriting.Get(v.R.Context(), v.Actor, v.Site.ID, id)
		return filledWithFacts(r), err
	}
	if ok, err := v.TookOver(form, err, stored); err != nil {
		return err
	} else if !ok {
		return p.showProtection(v, form, nil, nil)
	}
	if ask {
		return v.Done(at(v, id, "/protection"), "Request sent. The operator's answer appears here.")
	}
	return v.Done(at(v, id, "/protection"), "Draft saved. Send it when it is ready.")
}

func (p *pages) takeBack(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if _, err := p.app.Underwriting.TakeBack(v.R.Context(), v.Actor, id); err != nil {
		return err
	}
	return v.Done(at(v, id, "/protection"), "Request withdrawn. Change it and send it when it is ready.")
}

// discard deletes an unsent request, after a confirmation.
func (p *pages) discard(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if v.R.Method == http.MethodPost {
		if err := p.app.Underwriting.Discard(v.R.Context(), v.Actor, id); err != nil {
			return err
		}
		return v.Done(at(v, id, "/protection"), "Request deleted.")
	}
	return v.Confirm(kit.Confirmation{
		Title: "Delete the request?", Act: "Delete request", Harm: true, Back: at(v, id, "/protection"),
		Text: []string{"This deletes the request and all its documents. It cannot be undone."},
	}, kit.Page{Menu: menu, Path: above(v, id, "")})
}

// attach uploads a document.
func (p *pages) attach(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, file, name, err := v.Upload("file")
	if err != nil {
		return err
	}
	_, err = p.app.Underwriting.Attach(v.R.Context(), v.Actor, id, name, file)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.showProtection(v, nil, nil, form)
	}
	return v.Done(at(v, id, "/protection"), "Document uploaded.")
}

// document sends a document as a download. Browsers never render it inside the dashboard.
func (p *pages) document(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	which, err := v.ID("document")
	if err != nil {
		return err
	}
	d, content, err := p.app.Underwriting.Document(v.R.Context(), v.Actor, v.Site.ID, id, which)
	if err != nil {
		return err
	}
	return v.Attach(d.Name, d.MIME(), content)
}

func (p *pages) detach(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	which, err := v.ID("document")
	if err != nil {
		return err
	}
	if err := p.app.Underwriting.Detach(v.R.Context(), v.Actor, id, which); err != nil {
		return err
	}
	return v.Done(at(v, id, "/protection"), "Document deleted.")
}

// answer records the operator's answer.
func (p *pages) answer(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	// A form without a version counts as outdated.
	in := underwriting.Answer{State: underwriting.State(form.Get("state")), Note: form.Get("note"), IfVersion: 1}
	if version := form.Reading().Number("version"); version != nil {
		in.IfVersion = *version
	}
	answered, err := p.app.Underwriting.Answer(v.R.Context(), v.Actor, v.Site.ID, id, in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.showProtection(v, nil, form, nil)
	}
	if answered.State == underwriting.Taken {
		return v.Done(at(v, id, "/settings"), "Request accepted. Now set the merchant's mode: outside a sandbox a second operator must approve it.")
	}
	return v.Done(at(v, id, "/protection"), "Answer sent. The merchant sees it on this page.")
}
