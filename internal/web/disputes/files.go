package disputes

import (
	"fmt"
	"io"
	"net/http"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// fileTones are the colours of the states of files, and lineTones of the results of their lines.
var (
	fileTones = map[disputes.UploadState]string{disputes.UploadQueued: "calm", disputes.UploadDone: "good", disputes.UploadFailed: "bad"}
	lineTones = map[disputes.Outcome]string{
		disputes.Outcome(dispute.Matched): "good", disputes.Outcome(dispute.Queued): "warn", disputes.Outcome(dispute.Unmatched): "warn",
		disputes.LineRefused: "bad",
	}
	lineWords = map[disputes.Outcome]string{
		"": "All lines", disputes.Outcome(dispute.Matched): "Matched", disputes.Outcome(dispute.Queued): "Choose a payment",
		disputes.Outcome(dispute.Unmatched): "No payment", disputes.LineRepeated: "Known already", disputes.LineIgnored: "Ignored", disputes.LineRefused: "Rejected",
	}
)

// fileAt returns the URL of a file.
func fileAt(v *kit.Visit, id int64) string { return v.At("/dispute-files/" + kit.Ident(id).Plain) }

// importFiles lists recent files, and receives one.
func (p *pages) importFiles(v *kit.Visit) error {
	form := kit.Filled("dry_run", "1")
	if v.R.Method == http.MethodPost {
		sent, file, _, err := v.Upload("file")
		if err != nil {
			return err
		}
		form = sent
		made, err := p.receive(v, form, file)
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Go(fileAt(v, made.ID))
		}
	}
	page, err := v.PageOf([]string{"id"}, true)
	if err != nil {
		return err
	}
	t := kit.Table{
		Bare: true, Name: "files", Caption: "Files", Number: page.Number, Total: -1, Columns: []kit.Column{
			{Name: "id", Title: "File"}, {Name: "created", Title: "Uploaded"}, {Name: "author", Title: "By"}, {Name: "format", Title: "Format"},
			{Name: "state", Title: "Status"}, {Name: "lines", Title: "Lines", Figure: true}, {Name: "matched", Title: "Matched", Figure: true},
			{Name: "refused", Title: "Rejected", Figure: true},
		},
		Empty: kit.Empty{Title: "No recent files", Text: "Files of the last 30 days appear here, with the result of each line."},
	}
	found, err := p.app.Disputes.Uploads(v.R.Context(), v.Actor, nil, page)
	if err != nil {
		return err
	}
	t.More = found.More
	for _, u := range found.Items {
		t.Rows = append(t.Rows, kit.Row{Href: fileAt(v, u.ID), Cells: []kit.Cell{
			kit.Ident(u.ID), kit.AtInstant(u.CreatedAt), kit.Words(u.Author), kit.Words(u.Format), stateOf(u), kit.Number(u.Lines),
			kit.Number(u.Outcomes[disputes.Outcome(dispute.Matched)]), kit.Number(u.Outcomes[disputes.LineRefused]),
		}})
	}
	formats := []string{"", "By the header of the file"}
	for _, f := range disputefile.Formats() {
		formats = append(formats, f.Name, f.Label)
	}
	return v.Show(p.Pages, "files.html", kit.Page{
		Title: "Dispute files", Menu: menu, Parts: v.Parts(group, "/dispute-files"), Data: struct {
			Form    *kit.Form
			Formats any
			May     bool
			Lines   string
			List    *kit.Table
		}{form, kit.Options(formats...), v.Can(access.WorkDisputes), kit.Count(disputes.MostLines), v.Table(t)},
	})
}

// receive stores a file. Its format is found by its header, chosen, or described by a mapping.
func (p *pages) receive(v *kit.Visit, form *kit.Form, file io.Reader) (made disputes.Upload, err error) {
	options := disputefile.Options{Format: form.Get("format")}
	if text := form.Get("map"); text != "" {
		if options.Mapping, err = disputefile.ParseMapping([]byte(text)); err != nil {
			return made, err
		}
	}
	return p.app.Disputes.Receive(v.R.Context(), v.Actor, file, options, form.Get("dry_run") != "")
}

// stateOf is the state of a file, and whether nothing is stored.
func stateOf(u disputes.Upload) kit.Cell {
	cell := kit.State(string(u.State), fileTones[u.State])
	if u.DryRun {
		cell.Text += ", dry run"
	}
	return cell
}

// importedFile shows the progress of a file and the result of each line.
func (p *pages) importedFile(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	u, err := p.app.Disputes.UploadByID(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	r := (&kit.Form{Values: v.R.URL.Query()}).Reading()
	some := choices.OneOf(r, "outcome", disputes.Outcomes())
	page, err := v.PageOf([]string{"id"}, false)
	if err == nil {
		err = r.Problems.Err()
	}
	if err != nil {
		return err
	}
	lines, err := p.fileLines(v, id, some, page)
	if err != nil {
		return err
	}
	var tabs []kit.Tab
	for _, o := range append([]disputes.Outcome{""}, disputes.Outcomes()...) {
		text := lineWords[o]
		if o != "" {
			text = fmt.Sprintf("%s (%s)", text, kit.Count(u.Outcomes[o]))
		}
		tabs = append(tabs, kit.Tab{Text: text, Href: v.With("outcome", string(o), "page", ""), Here: v.Query("outcome") == string(o)})
	}
	return v.Show(p.Pages, "file.html", kit.Page{
		Title: fmt.Sprintf("Dispute file %d", id), Menu: menu, Refresh: u.State == disputes.UploadQueued,
		Path: []kit.Link{{Text: "Payments", Href: v.At("/payments")}, {Text: "Dispute files", Href: v.At("/dispute-files")}},
		Data: struct {
			File    disputes.Upload
			State   kit.Cell
			Says    string
			Running bool
			Tabs    []kit.Tab
			Lines   *kit.Table
		}{u, stateOf(u), fileSays(u), u.State == disputes.UploadQueued, tabs, lines},
	})
}

// fileSays describes the status of a file and the next step.
func fileSays(u disputes.Upload) string {
	switch {
	case u.State == disputes.UploadFailed:
		return "The import stopped early: " + u.Problem
	case u.State == disputes.UploadQueued:
		return "The file is being read. You can leave this page and come back."
	case u.DryRun:
		return "Dry run finished; nothing has been stored. Upload the file again without a dry run to import it."
	}
	return "Import complete."
}

func (p *pages) fileLines(v *kit.Visit, id int64, some []disputes.Outcome, page store.Page) (*kit.Table, error) {
	found, err := p.app.Disputes.UploadLines(v.R.Context(), v.Actor, id, some, page)
	if err != nil {
		return nil, err
	}
	t := kit.Table{
		Bare: true, Name: "lines", Caption: "Lines of the file", Number: page.Number, Total: -1, More: found.More, Columns: []kit.Column{
			{Name: "line", Title: "Line"}, {Name: "outcome", Title: "Result"}, {Name: "case_id", Title: "Case"}, {Name: "source", Title: "Processor"},
			{Name: "kind", Title: "Money"}, {Name: "message", Title: "Note"},
		},
		Empty: kit.Empty{Title: "No lines", Text: "Each line appears here with its result once it has been read."},
	}
	for _, l := range found.Items {
		name := kit.Words(l.CaseID)
		if l.DisputeID != 0 {
			name = kit.Linked(l.CaseID, at(v, l.DisputeID, ""))
		}
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.Ident(int64(l.Number)), {Text: lineWords[l.Outcome], Plain: string(l.Outcome), Tone: lineTones[l.Outcome]}, name, {Text: dispute.SourceText(l.Source), Plain: l.Source},
			kit.Words(kit.Say(l.Kind)), kit.Words(l.Message),
		}})
	}
	return v.Table(t), nil
}
