package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// siteFlag selects the site of a command.
type siteFlag struct {
	Site string `placeholder:"PATH" help:"Site path (default: HOLDFAST_SITE, or the only site)."`
}

// formFlags select the output format: table, JSON or CSV.
type formFlags struct {
	JSON bool `name:"json" xor:"form" help:"Print JSON, as returned by the API, with amounts in minor units."`
	CSV  bool `name:"csv" xor:"form" help:"Print CSV, with amounts in major units, such as 12.34."`
}

// listFlags are the flags of every list.
type listFlags struct {
	siteFlag
	formFlags
	orderFlags
}

// listing is a list that a command prints. It can be sorted by its columns.
type listing[T any] struct {
	read    func(actor access.Actor, page store.Page) (store.List[T], error)
	shape   func(T) any // the JSON of the API
	columns []column
	table   string // names of the columns that a table has room for; "" for all
	row     func(T) []cell
	none    string // printed instead of an empty table
}

// printList prints a list of a site in the requested format.
func printList[T any](ctx context.Context, p *program, f listFlags, l listing[T]) error {
	if err := f.check(l.columns); err != nil {
		return err
	}
	actor, err := p.operatorAt(ctx, f.Site)
	if err != nil {
		return err
	}
	return l.print(p, actor, f.formFlags, f.orderFlags, p.now(actor))
}

// now is the current time on the clock of the actor's site.
func (p *program) now(actor access.Actor) time.Time { return p.clock.Now().Add(actor.Ahead) }

// readTogether is how many rows are read and printed per batch, because a list may not fit in memory.
const readTogether = 1000

// maxSorted is the maximum number of rows to sort, because they are held in memory.
const maxSorted = 100_000

// print prints the list as of a time on the site's clock.
func (l listing[T]) print(p *program, actor access.Actor, form formFlags, order orderFlags, asOf time.Time) error {
	if err := order.check(l.columns); err != nil {
		return err
	}
	out := l.printer(p, form, asOf)
	byID := order.Sort.column == "id"
	if order.Sort.column == "" || byID {
		return l.inOrder(actor, order.Limit, byID && order.Sort.descending, out)
	}
	var all []T
	err := everyPage(func(page store.Page) (store.List[T], error) { return l.read(actor, page) }, false, func(items []T) (bool, error) {
		if all = append(all, items...); len(all) > maxSorted {
			return false, errs.WrongField("sort", "This list has more than %d rows. Filter it, or remove --sort.", maxSorted)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	sorted := sheet{columns: append([]column{{name: "place"}}, l.columns...)}
	for i, item := range all {
		sorted.rows = append(sorted.rows, append([]cell{count(int64(i))}, l.row(item)...))
	}
	if err := sorted.arrange(order); err != nil {
		return err
	}
	items := make([]T, len(sorted.rows))
	for i, row := range sorted.rows {
		items[i] = all[row[0].size.Num().Int64()]
	}
	return out(items, true)
}

// inOrder prints the list page by page, ordered by id.
func (l listing[T]) inOrder(actor access.Actor, limit int, descending bool, out printer[T]) error {
	printed := 0
	err := everyPage(func(page store.Page) (store.List[T], error) { return l.read(actor, page) }, descending, func(items []T) (bool, error) {
		if limit > 0 {
			items = items[:min(len(items), limit-printed)]
		}
		printed += len(items)
		return limit == 0 || printed < limit, out(items, false)
	})
	if err != nil {
		return err
	}
	return out(nil, true)
}

// everyPage reads a list page by page, ordered by id, until it ends or take returns false.
func everyPage[T any](
	read func(store.Page) (store.List[T], error), descending bool, take func([]T) (more bool, err error),
) error {
	for page := (store.Page{Number: 1, Size: readTogether, Offset: -1, OrderBy: store.OrderID, Descending: descending}); ; page.Number++ {
		list, err := read(page)
		if err != nil {
			return err
		}
		if more, err := take(list.Items); err != nil || !more || len(list.Items) < readTogether {
			return err
		}
		page.After = list.Last // nil if the list has numbered pages only
	}
}

// printer prints a list in batches, in one format. The caller marks the last batch, which may be empty.
type printer[T any] func(items []T, last bool) error

func (l listing[T]) printer(p *program, form formFlags, asOf time.Time) printer[T] {
	switch {
	case form.JSON:
		return jsonArray(p.stdout, l.shape)
	case form.CSV:
		return l.csvRows(p.stdout, civil.FormatInstant(asOf))
	}
	t := &table{columns: tabled(l, l.columns)}
	first := true
	return func(items []T, _ bool) error {
		if len(items) == 0 {
			if first {
				p.printf("%s\n", l.none)
			}
			first = false
			return nil
		}
		rows := make([][]cell, len(items))
		for i, item := range items {
			rows[i] = tabled(l, l.row(item))
		}
		t.print(p, rows, first)
		first = false
		return nil
	}
}

// tabled drops what belongs to columns that a table has no room for.
func tabled[T, E any](l listing[T], row []E) (list []E) {
	if l.table == "" {
		return row
	}
	names := strings.Fields(l.table)
	for i, item := range row {
		if slices.Contains(names, l.columns[i].name) {
			list = append(list, item)
		}
	}
	return list
}

func (l listing[T]) csvRows(to io.Writer, asOf string) func([]T, bool) error {
	out := csv.NewWriter(to)
	begun := false
	return func(items []T, _ bool) error {
		if !begun {
			begun = true
			_ = out.Write(headOf(l.columns)) // the writer keeps its first error
		}
		for _, item := range items {
			_ = out.Write(recordOf(l.columns, l.row(item), asOf))
		}
		out.Flush()
		return out.Error()
	}
}

// jsonArray streams the items of a list as one JSON array.
func jsonArray[T any](to io.Writer, shape func(T) any) func([]T, bool) error {
	written := 0
	return func(items []T, last bool) error {
		var b strings.Builder
		for _, item := range items {
			text, err := marshal(shape(item), "  ")
			if err != nil {
				return err
			}
			if written == 0 {
				b.WriteString("[\n  ")
			} else {
				b.WriteString(",\n  ")
			}
			b.WriteString(text)
			written++
		}
		switch {
		case last && written == 0:
			b.WriteString("[]\n")
		case last:
			b.WriteString("\n]\n")
		}
		_, err := io.WriteString(to, b.String())
		return err
	}
}

// marshal returns a value as indented JSON, without a trailing newline.
func marshal(body any, prefix string) (string, error) {
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent(prefix, "  ")
	err := out.Encode(body)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// printJSON prints JSON as the API returns it, so that a program can use either.
func (p *program) printJSON(body any) error {
	text, err := marshal(body, "")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, text)
	return err
}
