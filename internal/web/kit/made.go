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

// Report is a page whose table can go to people by mail, each week or month.
type Report struct {
	Name   string // what the mail is called at first
	Below  string // its address: below the site, or for the office below Path
	Office bool
	// What says of when it is: as_of, from for what has changed since, or period for a month.
	Days, Since, Month bool
}

// AddReports adds pages that can go by mail.
func (f *Frame) AddReports(list ...Report) { f.reports = append(f.reports, list...) }

// ReportAt finds the report with an address, which may have values behind it.
func (f *Frame) ReportAt(view string, office bool) (Report, bool) {
	path, _, _ := strings.Cut(view, "?")
	for _, r := range f.reports {
		if r.Below == path && r.Office == office {
			return r, true
		}
	}
	return Report{}, false
}

// OrderPath is the page on which a report is ordered, below the site or below Path.
const OrderPath = "/reports/new"

// Mails is the address at which what the table shows is ordered by mail; "" where that cannot be.
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

// Made is the file of a page that nobody looks at, and what the page says in short.
type Made struct {
	About      string // a sentence: of when it is
	Facts      []Fact // its key figures
	Name, Type string // of the file
	Content    []byte
	Rows       int
	Cut        bool // the file has the first rows only
}

// Tell keeps what a page says in short, for the mail that has its file.
func Tell(v *Visit, about string, facts []Fact) {
	if m, ok := v.W.(*maker); ok {
		m.made.About, m.made.Facts = about, facts
	}
}

// Make makes the file of a page for somebody, without a browser. It is the file that they would get there. So is the error.
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

// maker takes the answer to a request that the program makes itself, for somebody whose rights count.
type maker struct {
	who    sessions.Visit
	header http.Header
	body   bytes.Buffer
	made   Made
	err    error
}

// Header implements http.ResponseWriter.
func (m *maker) Header() http.Header { return m.header }

// Write implements http.ResponseWriter. A table has a bound of its own.
func (m *maker) Write(p []byte) (int, error) { return m.body.Write(p) }

// WriteHeader implements http.ResponseWriter. What a status says stands in the error.
func (m *maker) WriteHeader(int) {}

// attached notes the file that a page sends.
func (m *maker) attached() {
	_, params, _ := mime.ParseMediaType(m.header.Get("Content-Disposition")) // the frame has written it
	m.made.Name, m.made.Type = params["filename"], m.header.Get("Content-Type")
}

// enterAs lets somebody in whom the program itself has made a request for.
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
