package trade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/paymentfile"
	"holdfast/internal/takeover"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

// importsPage is what the page shows on which a file is sent.
type importsPage struct {
	Form  *shell.Form
	Modes any
	Rows  string // how many a file may have
	List  *shell.Table
}

// imports shows the imports of the last weeks, and takes a file. A file is always tried first: nothing of it stays until somebody
// has seen what it would do.
func (p *pages) imports(v *shell.Visit) error {
	form := shell.Filled()
	if v.R.Method == http.MethodPost {
		sent, file, _, err := v.Upload("file")
		if err != nil {
			return err
		}
		form = sent
		made, err := p.receive(v, form, file)
		if ok, err := took(v, form, err, "file", "mode", "reason"); err != nil {
			return err
		} else if ok {
			return v.Go(importAt(v, made.ID))
		}
	}
	page, err := v.PageOf([]string{"id"}, true)
	if err != nil {
		return err
	}
	found, err := p.app.ImportFiles.List(v.R.Context(), v.Actor, takeover.FileFilter{}, page)
	if err != nil {
		return err
	}
	t := shell.Table{
		Bare: true, Name: "imports", Caption: "Imports", Number: page.Number, Total: -1, More: found.More, Columns: []shell.Column{
			{Name: "id", Title: "Import"}, {Name: "created", Title: "Sent"}, {Name: "author", Title: "By"}, {Name: "state", Title: "State"},
			{Name: "rows", Title: "Rows", Figure: true}, {Name: "refused", Title: "Refused", Figure: true},
		},
		Empty: shell.Empty{Title: "Nothing was imported lately", Text: "Imports of the last thirty days stand here, with what became of each row."},
	}
	for _, f := range found.Items {
		t.Rows = append(t.Rows, shell.Row{Href: importAt(v, f.ID), Cells: []shell.Cell{
			shell.Ident(f.ID), shell.AtInstant(f.CreatedAt), shell.Words(f.Author), importState(f), shell.Number(f.Rows), shell.Number(f.Refused),
		}})
	}
	data := importsPage{Form: form, Modes: p.importModes(v), Rows: shell.Count(int64(p.frame.ImportRows)), List: v.Table(t)}
	return v.Show(p.Pages, "imports.html", shell.Page{
		Title: "Import a file", Menu: "/bookings", Path: []shell.Link{{Text: "Bookings", Href: v.At("/bookings")}}, Data: data,
	})
}

func importAt(v *shell.Visit, id int64) string { return v.At("/imports/" + strconv.FormatInt(id, 10)) }

// importModes are the modes that the user may give to channels that a file names and that do not exist.
func (p *pages) importModes(v *shell.Visit) any {
	pairs := []string{"", "Refuse rows of unknown channels"}
	for _, mode := range p.app.Payments.Profile.Modes() {
		own := mode == travel.ModeTest || mode == travel.ModeDraft
		if mode != travel.ModeClosed && (own || v.Can(auth.SetChannelTerms)) {
			pairs = append(pairs, string(mode), "Make them, in the mode "+string(mode))
		}
	}
	return shell.Options(pairs...)
}

// receive stores a file to be tried.
func (p *pages) receive(v *shell.Visit, form *shell.Form, file io.Reader) (takeover.File, error) {
	in := takeover.NewFile{
		DryRun: true, Mode: travel.AccountMode(form.Get("mode")), CoverFromEffective: form.Get("covered") != "", Reason: form.Get("reason"),
	}
	travel.CheckNote(&in.Problems, "reason", in.Reason)
	return p.app.ImportFiles.Receive(v.R.Context(), v.Actor, in, func(keep func([]byte) error) (int, error) {
		return paymentfile.Check(sentFile{file}, takeover.PieceBytes, p.frame.ImportRows, keep)
	})
}

// sentFile is a file while it comes. That it cannot be read to its end is a fault of what was sent.
type sentFile struct{ from io.Reader }

// Read implements io.Reader.
func (s sentFile) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		err = fault.WrongField("file", "The file is too large. Import it with the command line.")
	} else if err != nil && !errors.Is(err, io.EOF) {
		err = fault.WrongField("file", "The file did not come to its end. Send it again.")
	}
	return n, err
}

// importPage is what the page of one import shows.
type importPage struct {
	File     takeover.File
	State    shell.Cell
	Says     string
	Figures  []figure
	Running  bool
	Confirm  string // the address, where it can be confirmed
	Refused  string // the file of the refused rows
	Waits    string // the proposal on which a second operator decides
	Statuses []shell.Tab
	Rows     *shell.Table
}

func (p *pages) importOf(v *shell.Visit) (takeover.File, error) {
	id, err := v.ID("id")
	if err != nil {
		return takeover.File{}, err
	}
	return p.app.ImportFiles.Get(v.R.Context(), v.Actor, id)
}

// importFile shows how far an import is, and what became of each row.
func (p *pages) importFile(v *shell.Visit) error {
	f, err := p.importOf(v)
	if err != nil {
		return err
	}
	rows, err := p.importRows(v, f)
	if err != nil {
		return err
	}
	at := importAt(v, f.ID)
	data := importPage{
		File: f, State: importState(f), Says: importSays(f), Figures: importFigures(f), Running: f.State == takeover.FileQueued, Rows: rows,
	}
	for _, s := range append([]takeover.RowState{""}, takeover.RowStates...) {
		data.Statuses = append(data.Statuses, shell.Tab{Text: rowWord(s), Href: v.With("status", string(s), "page", ""), Here: v.Query("status") == string(s)})
	}
	page := shell.Page{
		Title: fmt.Sprintf("Import %d", f.ID), Menu: "/bookings", Refresh: data.Running, Data: &data,
		Path: []shell.Link{{Text: "Bookings", Href: v.At("/bookings")}, {Text: "Import a file", Href: v.At("/bookings/import")}},
	}
	if f.Refused > 0 {
		data.Refused = at + "/refused"
	}
	if f.State == takeover.FileTried || f.State == takeover.FileWaiting {
		page.Acts = append(page.Acts, shell.Link{Text: "Discard", Href: at + "/discard", Plain: true})
	}
	switch {
	case f.State == takeover.FileTried:
		data.Confirm = at + "/confirm"
	case f.State == takeover.FileWaiting:
		data.Waits = v.At("/approvals/" + strconv.FormatInt(f.ProposalID, 10))
	}
	return v.Show(p.Pages, "import.html", page)
}

func (p *pages) importRows(v *shell.Visit, f takeover.File) (*shell.Table, error) {
	page, err := v.PageOf([]string{"id"}, false)
	if err != nil {
		return nil, err
	}
	filter := filterOf(v)
	states := words(filter, "status", takeover.RowStates)
	if err := filter.problems.Err(); err != nil {
		return nil, err
	}
	found, err := p.app.ImportFiles.Rows(v.R.Context(), v.Actor, f.ID, takeover.FileFilter{RowStates: states}, page)
	if err != nil {
		return nil, err
	}
	t := shell.Table{
		Bare: true, Name: "rows", Caption: "Rows of the file", Number: page.Number, Total: -1, More: found.More, Columns: []shell.Column{
			{Name: "line", Title: "Line"}, {Name: "state", Title: "State"}, {Name: "booking", Title: "Booking"}, {Name: "traveller", Title: "Traveller"},
			{Name: "payment", Title: "Payment"}, {Name: "type", Title: "Type"}, {Name: "paid", Title: "Paid at", Minor: true},
			{Name: "amount", Title: "Amount", Figure: true}, {Name: "reason", Title: "Why"},
		},
		Empty: shell.Empty{Title: "No row yet", Text: "What became of each row stands here as soon as it was tried."},
	}
	cells, err := p.cellsOf(v, f, found.Items)
	if err != nil {
		return nil, err
	}
	for _, r := range found.Items {
		t.Rows = append(t.Rows, shell.Row{Cells: rowCells(v, r, cells[r.Line])})
	}
	return v.Table(t), nil
}

// rowCells are the cells of one row: what stands in the file, and what became of it.
func rowCells(v *shell.Visit, r takeover.Row, in map[string]string) []shell.Cell {
	booking, payment := shell.Words(in["booking_reference"]), shell.Words(in["payment_reference"])
	if r.BookingID != 0 {
		booking = shell.Linked(cmp.Or(booking.Text, strconv.FormatInt(r.BookingID, 10)), bookingAt(v, r.BookingID))
	}
	if r.TransactionID != 0 {
		payment = shell.Linked(cmp.Or(payment.Text, strconv.FormatInt(r.TransactionID, 10)), paymentAt(v, r.TransactionID))
	}
	tone := map[takeover.RowState]string{takeover.RowCreated: "good", takeover.RowRefused: "bad"}[r.State]
	amount := shell.Words(strings.TrimSpace(in["payment_total"] + " " + in["payment_currencies"]))
	minor, wrong := strconv.ParseInt(in["payment_total"], 10, 64)
	if c, err := money.ParseCurrency(in["payment_currencies"]); err == nil && wrong == nil {
		amount = shell.Sum(minor, c)
	}
	return []shell.Cell{
		shell.Ident(int64(r.Line)), {Text: rowWord(r.State), Plain: string(r.State), Tone: cmp.Or(tone, "calm")}, booking,
		shell.Words(strings.TrimSpace(in["firstname"] + " " + in["surname"])), payment, shell.Words(shell.Say(in["transaction_types"])),
		shell.Words(strings.ReplaceAll(in["paid_at"], " ", "\u00a0")), amount, shell.Words(r.Reason),
	}
}

// readings is how many files are read for their cells at the same time. The cells of the last rows take a pass over the whole file.
const readings = 2

// cellsOf are the cells of rows as they stand in the file, while it is kept.
func (p *pages) cellsOf(v *shell.Visit, f takeover.File, rows []takeover.Row) (map[int]map[string]string, error) {
	if len(rows) == 0 || f.State == takeover.FileQueued { // while it runs, the page is asked for every two seconds
		return nil, nil
	}
	select {
	case p.readings <- struct{}{}:
		defer func() { <-p.readings }()
	case <-v.R.Context().Done():
		return nil, v.R.Context().Err()
	}
	_, file, err := p.app.ImportFiles.Original(v.R.Context(), v.Actor, f.ID)
	if err != nil {
		return nil, err
	}
	var lines []int
	for _, r := range rows {
		lines = append(lines, r.Line)
	}
	cells, err := paymentfile.Cells(file, lines)
	if fault.Is(err, fault.Invalid) { // the file is gone: what became of each row stays
		return nil, nil
	}
	return cells, err
}

func rowWord(s takeover.RowState) string {
	return map[takeover.RowState]string{
		"": "All rows", takeover.RowCreated: "New", takeover.RowThere: "Already imported", takeover.RowRefused: "Refused",
	}[s]
}

func importState(f takeover.File) shell.Cell {
	tone := map[takeover.FileState]string{
		takeover.FileDone: "good", takeover.FileFailed: "bad", takeover.FileTried: "warn", takeover.FileWaiting: "warn", takeover.FileQueued: "calm",
	}[f.State]
	text := map[takeover.FileState]string{
		takeover.FileDone: "Done", takeover.FileFailed: "Failed", takeover.FileTried: "Checked", takeover.FileWaiting: "Waits for approval",
		takeover.FileQueued: "Runs",
	}[f.State]
	return shell.Cell{Text: text, Plain: string(f.State), Tone: tone}
}

// importSays is what an import has come to, and what comes next.
func importSays(f takeover.File) string {
	switch f.State {
	case takeover.FileTried:
		return "The file was tried, and nothing of it is stored. Look at the rows, and then import it, or discard it and send a better file."
	case takeover.FileWaiting:
		return "It waits for a second operator. Once it is approved, it goes on by itself."
	case takeover.FileQueued:
		if f.DryRun {
			return "The file is tried. You can leave this page and come back."
		}
		return "The file is imported. You can leave this page and come back."
	case takeover.FileFailed:
		return "The import has ended early: " + f.Problem
	}
	return "The import is over."
}

func importFigures(f takeover.File) []figure {
	return []figure{
		{Text: "New bookings", Value: shell.Count(f.BookingsCreated)},
		{Text: "New payments", Value: shell.Count(f.PaymentsCreated)}, {Text: "Already imported", Value: shell.Count(f.PaymentsThere)},
		{Text: "Refused", Value: shell.Count(f.Refused)},
	}
}

// confirmImport imports what was tried.
func (p *pages) confirmImport(v *shell.Visit) error {
	f, err := p.importOf(v)
	if err != nil {
		return err
	}
	confirmed, err := p.app.ImportFiles.Confirm(v.R.Context(), v.Actor, f.ID)
	switch {
	case err != nil:
		return err
	case confirmed.State == takeover.FileWaiting:
		return v.Waits(importAt(v, f.ID), confirmed.ProposalID, "It waits for a second operator.")
	}
	return v.Done(importAt(v, f.ID), "The import has begun.")
}

// discardImport asks, and then ends an import of which nothing was stored.
func (p *pages) discardImport(v *shell.Visit) error {
	f, err := p.importOf(v)
	if err != nil {
		return err
	}
	if v.R.Method == http.MethodPost {
		if err := p.app.ImportFiles.Discard(v.R.Context(), v.Actor, f.ID); err != nil {
			return err
		}
		return v.Done(v.At("/bookings/import"), "Import %d is discarded.", f.ID)
	}
	return v.Confirm(shell.Confirmation{
		Title: "Discard the import?", Act: "Discard the import", Harm: true, Back: importAt(v, f.ID),
		Text: []string{"The file and what was found in it are removed. Nothing of it was imported. You can send the file again."},
	}, shell.Page{Menu: "/bookings", Path: []shell.Link{
		{Text: "Bookings", Href: v.At("/bookings")}, {Text: "Import a file", Href: v.At("/bookings/import")},
	}})
}

// refusedAtOnce is how many refused rows are read at once.
const refusedAtOnce = 1000

// refusedRows sends the refused rows of an import with their cells, so that somebody can mend them and send them again.
func (p *pages) refusedRows(v *shell.Visit) error {
	f, err := p.importOf(v)
	if err != nil {
		return err
	}
	of, file, err := p.app.ImportFiles.Original(v.R.Context(), v.Actor, f.ID)
	if err != nil {
		return err
	}
	return v.Stream(fmt.Sprintf("import-%d-refused.csv", f.ID), "text/csv; charset=utf-8", func(w io.Writer) error {
		return paymentfile.WriteRefused(w, file, p.eachRefused(v.R.Context(), v.Actor, of))
	})
}

// eachRefused reads the refused rows of an import piece by piece, in the order of their lines.
func (p *pages) eachRefused(ctx context.Context, actor auth.Actor, of takeover.File) iter.Seq2[paymentfile.Refused, error] {
	return func(yield func(paymentfile.Refused, error) bool) {
		last := 0
		for more := true; more; {
			list, err := p.app.ImportFiles.Refused(ctx, actor, of, last, refusedAtOnce)
			if err != nil {
				yield(paymentfile.Refused{}, err)
				return
			}
			for _, r := range list {
				if last = r.Line; !yield(paymentfile.Refused{Line: r.Line, Reason: r.Reason}, nil) {
					return
				}
			}
			more = len(list) == refusedAtOnce
		}
	}
}
