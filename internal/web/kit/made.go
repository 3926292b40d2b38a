package kit

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"holdfast/internal/account/sessions"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
)

// Report is a page whose table can be e-mailed every week or month.
type Report struct {
	Name   string // default subject
	Below  string // address below the site, or below Path for operators
	Office bool
	// The parameter that sets the date: as_of, from (changes since then), or period (a month).
	Days, Since, Month bool
}

// AddReports registers pages that can be scheduled.
func (f *Frame) AddReports(list ...Report) { f.reports = append(f.reports, list...) }

// ReportAt finds the report at an address. A query string is ignored.
func (f *Frame) ReportAt(view string, office bool) (Report, bool) {
	path, _, _ := strings.Cut(view, "?")
	for _, r := range f.reports {
		if r.Below == path && r.Office == office {
			return r, true
		}
	}
	return Report{}, false
}

// OrderPath is the page for scheduling a report, below the site or below Path.
const OrderPath = "/reports/new"

// Mails is the address for scheduling the table's report, or "" if it cannot be scheduled.
func (t *Table) Mails() string {
	if !t.Leaves() {
		return ""
	}
	office := t.v.Site.ID == 0
	at := Path
	if !office {
		at = t.v.At("")
	}
	view := strings.TrimPrefix(t.v.R.URL.RequestURI(), at)
	if _, ok := t.v.frame.ReportAt(view, office); !ok {
		return ""
	}
	return at + OrderPath + "?view=" + url.QueryEscape(view)
}

// Made is a page's file, generated without a browser, with a short summary of the page.
type Made struct {
	About      string // a sentence with the date
	Facts      []Fact // its key figures
	Name, Type string // of the file
	Content    []byte
	Rows       int
	Cut        bool // the file is truncated
}

// SetSummary stores the page's summary for the e-mail with its file.
func SetSummary(v *Visit, about string, facts []Fact) {
	if m, ok := v.W.(*maker); ok {
		m.made.About, m.made.Facts = about, facts
	}
}

// Make generates the file of a page for a user, without a browser. File and error are the same as in the browser.
func (f *Frame) Make(ctx context.Context, who sessions.Visit, address string) (Made, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.Base+address, http.NoBody)
	if err != nil {
		return Made{}, err
	}
	m := &maker{who: who, header: http.Header{}}
	f.mux.ServeHTTP(m, r)
	if m.err == nil && m.made.Name == "" {
		m.err = errNoFile()
	}
	m.made.Content = m.body.Bytes()
	return m.made, m.err
}

func errNoFile() error {
	return errs.WrongField("view", "This page has no table to export.")
}

// maker captures the response to an internal request, made with a user's permissions.
type maker struct {
	who    sessions.Visit
	header http.Header
	body   bytes.Buffer
	made   Made
	err    error
}

// Header implements http.ResponseWriter.
func (m *maker) Header() http.Header { return m.header }

// Write implements http.ResponseWriter. Tables have their own size limit.
func (m *maker) Write(p []byte) (int, error) { return m.body.Write(p) }

// WriteHeader implements http.ResponseWriter. The status is in the error.
func (m *maker) WriteHeader(int) {}

// attached records the file that a page sends.
func (m *maker) attached() {
	_, params, _ := mime.ParseMediaType(m.header.Get("Content-Disposition")) // written by the frame
	m.made.Name, m.made.Type = params["filename"], m.header.Get("Content-Type")
}

// enterAs signs in the user of an internal request.
func (m *maker) enterAs(v *Visit, may access.Permission, office bool) error {
	v.Visit = m.who
	switch {
	case office && v.Actor.Role != access.Operator, !office && v.R.PathValue("site") != v.Site.Path:
		return errNoPage()
	case may != "":
		return v.Actor.Require(may)
	}
	return nil
}
