package certificate

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"holdfast/internal/book/certificates"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/lib/i18n"
)

// noteBytes bounds the form.
const noteBytes = 4096

// noteForm is the form for the traveller's note. Its fields are those of the template.
type noteForm struct {
	Options                  []option
	Currency, PaidBack       string
	WrongAnswer, WrongAmount string
	Saved                    string
}

type option struct {
	Value, Text string
	Chosen      bool
}

// answer is a form that could not be saved, with the fields that are wrong.
type answer struct {
	asked, paidBack       string
	noAnswer, wrongAmount bool
}

func (a answer) wrong() bool { return a.noAnswer || a.wrongAmount }

// insolvent says in the heading that the merchant has failed, if the traveller can still get money back.
func (s *sayer) insolvent(v *page, c certificates.Certificate) {
	since := s.Day(c.Insolvency.Day())
	switch {
	case c.State == protection.CertifiedChargeback:
	case c.Protected > 0:
		v.Heading, v.Lead = s.say("certificate.insolvent.title"), s.say("certificate.insolvent.text", "merchant", c.Merchant, "date", since)
		v.Look, v.Mark = "warn", waiting
	case c.Unprotected > 0:
		v.Lead = s.say("certificate.insolvent.unprotected", "merchant", c.Merchant, "date", since)
	}
}

// form returns the form with the last note, or with rejected input.
func (s *sayer) form(c certificates.Certificate, given answer) *noteForm {
	f := &noteForm{Currency: string(c.Currency)}
	chosen := string(c.Note.Asked)
	if c.Note.PaidBack > 0 {
		f.PaidBack = money.FormatPlain(c.Note.PaidBack, c.Currency)
	}
	if !c.Note.At.IsZero() {
		f.Saved = s.say("certificate.note_saved", "moment", s.Moment(c.Note.At))
	}
	if given.wrong() {
		chosen, f.PaidBack, f.Saved = given.asked, given.paidBack, ""
	}
	if given.noAnswer {
		f.WrongAnswer = s.say("certificate.note_choose")
	}
	if given.wrongAmount {
		f.WrongAmount = s.say("certificate.note_amount", "example", money.FormatPlain(123450, c.Currency))
	}
	for _, a := range certificates.Answers {
		f.Options = append(f.Options, option{string(a), s.say("certificate.note_" + string(a)), string(a) == chosen})
	}
	return f
}

// take stores the note of a form and redirects to the page. It returns the input if it is invalid.
func (p *Pages) take(w http.ResponseWriter, r *http.Request, key string, c certificates.Certificate) *answer {
	r.Body = http.MaxBytesReader(w, r.Body, noteBytes)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "The form could not be read.", http.StatusBadRequest)
		return nil
	}
	given := answer{asked: r.PostForm.Get("asked"), paidBack: strings.TrimSpace(r.PostForm.Get("paid_back"))}
	note := certificates.Note{Asked: certificates.Asked(given.asked)}
	given.noAnswer = !slices.Contains(certificates.Answers, note.Asked)
	if given.paidBack != "" {
		var err error
		note.PaidBack, err = money.ParsePlain(strings.ReplaceAll(given.paidBack, ",", "."), c.Currency)
		given.wrongAmount = err != nil || note.PaidBack < 0
	}
	if given.wrong() {
		return &given
	}
	err := p.note(r.Context(), key, note)
	switch {
	case err == nil, errs.Is(err, errs.ActionNotPossible): // it has changed since: the page shows its current state
	case errs.Is(err, errs.RecordNotFound):
		p.refuse(w, http.StatusNotFound, "unknown", languageOf(r))
		return nil
	default:
		w.Header().Set("Retry-After", "5")
		p.refuse(w, http.StatusServiceUnavailable, "busy", languageOf(r))
		return nil
	}
	to := url.URL{Path: certificates.Path + key, Fragment: "note"}
	if lang := r.URL.Query().Get("lang"); i18n.Known(lang) {
		to.RawQuery = url.Values{"lang": {lang}}.Encode()
	}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
	return nil
}
