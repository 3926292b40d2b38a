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

	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/web/kit"
)

// importsPage is the data of the upload page.
type importsPage struct {
	Form  *kit.Form
	Modes any
	Rows  string // maximum rows per file
	List  *kit.Table
}

// imports lists recent imports and accepts a file. Each file gets a dry run first: nothing is stored until the user has seen
// the outcome.
func (p *pages) imports(v *kit.Visit) error {
	form := kit.Filled()
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
	found, err := p.app.ImportFiles.List(v.R.Context(), v.Actor, imports.FileFilter{}, page)
	if err != nil {
		return err
	}
	t := kit.Table{
		Bare: true, Name: "imports", Caption: "Imports", Number: page.Number, Total: -1, More: found.More, Columns: []kit.Column{
			{Name: "id", Title: "Import"}, {Name: "created", Title: "Uploaded"}, {Name: "author", Title: "By"}, {Name: "state", Title: "Status"},
			{Name: "rows", Title: "Rows", Figure: true}, {Name: "refused", Title: "Rejected", Figure: true},
		},
		Empty: kit.Empty{Title: "No recent imports", Text: "Imports from the last 30 days appear here, with the outcome of each row."},
	}
	for _, f := range found.Items {
		t.Rows = append(t.Rows, kit.Row{Href: importAt(v, f.ID), Cells: []kit.Cell{
			kit.Ident(f.ID), kit.AtInstant(f.CreatedAt), kit.Words(f.Author), importState(f), kit.Number(f.Rows), kit.Number(f.Refused),
		}})
	}
	data := importsPage{Form: form, Modes: p.importModes(v), Rows: kit.Count(int64(p.frame.ImportRows)), List: v.Table(t)}
	return v.Show(p.Pages, "imports.html", kit.Page{
		Title: "Import a file", Menu: "/bookings", Path: []kit.Link{{Text: "Bookings", Href: v.At("/bookings")}}, Data: data,
	})
}

func importAt(v *kit.Visit, id int64) string { return v.At("/imports/" + strconv.FormatInt(id, 10)) }

// importModes are the modes that the user may give to unknown merchants in a file.
func (p *pages) importModes(v *kit.Visit) any {
	pairs := []string{"", "Reject their rows"}
	for _, mode := range p.app.Payments.Profile.Modes() {
		own := mode == merchant.ModeTest || mode == merchant.ModeDraft
		if mode != merchant.ModeClosed && (own || v.Can(access.SetChannelTerms)) {
			pairs = append(pairs, string(mode), "Create them in mode "+string(mode))
		}
	}
	return kit.Options(pairs...)
}

// receive stores a file for its dry run.
func (p *pages) receive(v *kit.Visit, form *kit.Form, file io.Reader) (imports.File, error) {
	in := imports.NewFile{
		DryRun: true, Mode: merchant.AccountMode(form.Get("mode")), CoverFromEffective: form.Get("covered") != "", Reason: form.Get("reason"),
	}
	check.Note(&in.Problems, "reason", in.Reason)
	return p.app.ImportFiles.Receive(v.R.Context(), v.Actor, in, func(keep func([]byte) error) (imports.Scan, error) {
		return paymentfile.Check(sentFile{file}, imports.PieceBytes, p.frame.ImportRows, keep)
	})
}

// sentFile is a file being uploaded. A truncated upload is the client's error.
type sentFile struct{ from io.Reader }

// Read implements io.Reader.
func (s sentFile) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		err = errs.WrongField("file", "The file is too large. Use the command line to import it.")
	} else if err != nil && !errors.Is(err, io.EOF) {
		err = errs.WrongField("file", "The upload was interrupted. Upload the file again.")
	}
	return n, err
}

// importPage is the data of an import's page.
type importPage struct {
	File     imports.File
	State    kit.Cell
	Says     string
	Figures  []figure
	Running  bool
	Confirm  string // URL to confirm the import
	Refused  string // URL of the file with the rejected rows
	Waits    string // URL of the proposal for a second operator
	Statuses []kit.Tab
	Rows     *kit.Table
}

func (p *pages) importOf(v *kit.Visit) (imports.File, error) {
	id, err := v.ID("id")
	if err != nil {
		return imports.File{}, err
	}
	return p.app.ImportFiles.Get(v.R.Context(), v.Actor, id)
}

// importFile shows an import's progress and the outcome of each row.
func (p *pages) importFile(v *kit.Visit) error {
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
		File: f, State: importState(f), Says: importSays(f), Figures: importFigures(f), Running: f.State == imports.FileQueued, Rows: rows,
	}
	for _, s := range append([]imports.RowState{""}, imports.RowStates...) {
		data.Statuses = append(data.Statuses, kit.Tab{Text: rowWord(s), Href: v.With("status", string(s), "page", ""), Here: v.Query("status") == string(s)})
	}
	page := kit.Page{
		Title: fmt.Sprintf("Import %d", f.ID), Menu: "/bookings", Refresh: data.Running, Data: &data,
		Path: []kit.Link{{Text: "Bookings", Href: v.At("/bookings")}, {Text: "Import a file", Href: v.At("/bookings/import")}},
	}
	if f.Refused > 0 {
		data.Refused = at + "/refused"
	}
	if f.State == imports.FileTried || f.State == imports.FileWaiting {
		page.Acts = append(page.Acts, kit.Link{Text: "Discard", Href: at + "/discard", Plain: true})
	}
	switch {
	case f.State == imports.FileTried:
		data.Confirm = at + "/confirm"
	case f.State == imports.FileWaiting:
		data.Waits = v.At("/approvals/" + strconv.FormatInt(f.ProposalID, 10))
	}
	return v.Show(p.Pages, "import.html", page)
}

func (p *pages) importRows(v *kit.Visit, f imports.File) (*kit.Table, error) {
	page, err := v.PageOf([]string{"id"}, false)
	if err != nil {
		return nil, err
	}
	filter := filterOf(v)
	states := words(filter, "status", imports.RowStates)
	if err := filter.problems.Err(); err != nil {
		return nil, err
	}
	found, err := p.app.ImportFiles.Rows(v.R.Context(), v.Actor, f.ID, imports.FileFilter{RowStates: states}, page)
	if err != nil {
		return nil, err
	}
	t := kit.Table{
		Bare: true, Name: "rows", Caption: "Rows in the file", Number: page.Number, Total: -1, More: found.More, Columns: []kit.Column{
			{Name: "line", Title: "Line"}, {Name: "state", Title: "Status"}, {Name: "booking", Title: "Booking"}, {Name: "traveller", Title: "Traveller"},
			{Name: "payment", Title: "Payment"}, {Name: "type", Title: "Type"}, {Name: "paid", Title: "Paid", Minor: true},
			{Name: "amount", Title: "Amount", Figure: true}, {Name: "reason", Title: "Reason"},
		},
		Empty: kit.Empty{Title: "No rows yet", Text: "Each row appears here with its outcome once it has been checked."},
	}
	cells, err := p.cellsOf(v, f, found.Items)
	if err != nil {
		return nil, err
	}
	for _, r := range found.Items {
		t.Rows = append(t.Rows, kit.Row{Cells: rowCells(v, r, cells[r.Line])})
	}
	return v.Table(t), nil
}

// rowCells are the cells of one row: the file's values and the outcome.
func rowCells(v *kit.Visit, r imports.Row, in map[string]string) []kit.Cell {
	booking, payment := kit.Words(in["booking_reference"]), kit.Words(in["payment_reference"])
	if r.BookingID != 0 {
		booking = kit.Linked(cmp.Or(booking.Text, strconv.FormatInt(r.BookingID, 10)), bookingAt(v, r.BookingID))
	}
	if r.TransactionID != 0 {
		payment = kit.Linked(cmp.Or(payment.Text, strconv.FormatInt(r.TransactionID, 10)), paymentAt(v, r.TransactionID))
	}
	tone := map[imports.RowState]string{imports.RowCreated: "good", imports.RowRefused: "bad"}[r.State]
	amount := kit.Words(strings.TrimSpace(in["payment_total"] + " " + in["payment_currencies"]))
	minor, wrong := strconv.ParseInt(in["payment_total"], 10, 64)
	if c, err := money.ParseCurrency(in["payment_currencies"]); err == nil && wrong == nil {
		amount = kit.Sum(minor, c)
	}
	return []kit.Cell{
		kit.Ident(int64(r.Line)), {Text: rowWord(r.State), Plain: string(r.State), Tone: cmp.Or(tone, "calm")}, booking,
		kit.Words(strings.TrimSpace(in["firstname"] + " " + in["surname"])), payment, kit.Words(kit.Say(in["transaction_types"])),
		kit.Words(strings.ReplaceAll(in["paid_at"], " ", "\u00a0")), amount, kit.Words(r.Reason),
	}
}

// How many files are read for their cells concurrently, and how many reads may queue, which is more than pages are rendered
// at once. The cells of the last rows need a pass over the whole file.
const (
	readings        = 2
	readingsWaiting = 1024
)

// cellsOf returns the cells of rows as in the file, while the file is kept.
func (p *pages) cellsOf(v *kit.Visit, f imports.File, rows []imports.Row) (map[int]map[string]string, error) {
	if len(rows) == 0 || f.State == imports.FileQueued { // while it runs, the page reloads every two seconds
		return nil, nil
	}
	if err := p.readings.Acquire(v.R.Context(), "", 1); err != nil {
		return nil, err
	}
	defer p.readings.Release("", 1)
	_, file, err := p.app.ImportFiles.Original(v.R.Context(), v.Actor, f.ID)
	if err != nil {
		return nil, err
	}
	var lines []int
	for _, r := range rows {
		lines = append(lines, r.Line)
	}
	cells, err := paymentfile.Cells(file, lines)
	if errs.Is(err, errs.Invalid) { // the file is deleted; the outcomes are kept
		return nil, nil
	}
	return cells, err
}

func rowWord(s imports.RowState) string {
	return map[imports.RowState]string{
		"": "All rows", imports.RowCreated: "New", imports.RowThere: "Already imported", imports.RowRefused: "Rejected",
	}[s]
}

func importState(f imports.File) kit.Cell {
	tone := map[imports.FileState]string{
		imports.FileDone: "good", imports.FileFailed: "bad", imports.FileTried: "warn", imports.FileWaiting: "warn", imports.FileQueued: "calm",
	}[f.State]
	text := map[imports.FileState]string{
		imports.FileDone: "Done", imports.FileFailed: "Failed", imports.FileTried: "Checked", imports.FileWaiting: "Waiting for approval",
		imports.FileQueued: "Running",
	}[f.State]
	return kit.Cell{Text: text, Plain: string(f.State), Tone: tone}
}

// importSays describes an import's status and the next step.
func importSays(f imports.File) string {
	switch f.State {
	case imports.FileTried:
		return "Dry run finished; nothing has been stored. Check the rows, then import the file, or discard it and upload a corrected one."
	case imports.FileWaiting:
		return "Waiting for a second operator. The import continues automatically once approved."
	case imports.FileQueued:
		if f.DryRun {
			return "Checking the file. You can leave this page and come back."
		}
		return "Importing the file. You can leave this page and come back."
	case imports.FileFailed:
		return "The import stopped early: " + f.Problem
	}
	return "Import complete."
}

func importFigures(f imports.File) []figure {
	return []figure{
		{Text: "New bookings", Value: kit.Count(f.BookingsCreated)},
		{Text: "New payments", Value: kit.Count(f.PaymentsCreated)}, {Text: "Already imported", Value: kit.Count(f.PaymentsThere)},
		{Text: "Rejected", Value: kit.Count(f.Refused)},
	}
}

// confirmImport starts the import after the dry run.
func (p *pages) confirmImport(v *kit.Visit) error {
	f, err := p.importOf(v)
	if err != nil {
		return err
	}
	confirmed, err := p.app.ImportFiles.Confirm(v.R.Context(), v.Actor, f.ID)
	switch {
	case err != nil:
		return err
	case confirmed.State == imports.FileWaiting:
		return v.Waits(importAt(v, f.ID), confirmed.ProposalID, "Waiting for a second operator.")
	}
	return v.Done(importAt(v, f.ID), "Import started.")
}

// discardImport discards an import of which nothing was stored, after a confirmation.
func (p *pages) discardImport(v *kit.Visit) error {
	f, err := p.importOf(v)
	if err != nil {
		return err
	}
	if v.R.Method == http.MethodPost {
		if err := p.app.ImportFiles.Discard(v.R.Context(), v.Actor, f.ID); err != nil {
			return err
		}
		return v.Done(v.At("/bookings/import"), "Import %d discarded.", f.ID)
	}
	return v.Confirm(kit.Confirmation{
		Title: "Discard the import?", Act: "Discard import", Harm: true, Back: importAt(v, f.ID),
		Text: []string{"This deletes the file and the results of its dry run. Nothing has been imported. You can upload the file again."},
	}, kit.Page{Menu: "/bookings", Path: []kit.Link{
		{Text: "Bookings", Href: v.At("/bookings")}, {Text: "Import a file", Href: v.At("/bookings/import")},
	}})
}

// refusedAtOnce is how many rejected rows are read per query.
const refusedAtOnce = 1000

// refusedRows sends an import's rejected rows with their cells, to correct and upload again.
func (p *pages) refusedRows(v *kit.Visit) error {
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

// eachRefused reads an import's rejected rows in batches, in line order.
func (p *pages) eachRefused(ctx context.Context, actor access.Actor, of imports.File) iter.Seq2[paymentfile.Refused, error] {
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
