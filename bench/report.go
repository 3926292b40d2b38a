package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// figures are the measurements of one kind with one subject.
type figures struct {
	Subject string `json:"subject"` // holdfast, PocketBase, or a limit
	Kind    string `json:"kind"`
	Callers int    `json:"callers"`

	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	P999      float64 `json:"p999_ms"`
	Requests  int     `json:"requests"`
	Failures  int     `json:"failures"`
	Failure   string  `json:"first_failure,omitempty"`
	Bytes     float64 `json:"bytes_per_request"` // of the response, including headers

	Statements *float64 `json:"statements_per_request,omitempty"` // includes statements of background jobs
	Commits    *float64 `json:"commits_per_request,omitempty"`
	Again      *float64 `json:"writes_run_again_per_request,omitempty"`
	ServerCPU  float64  `json:"server_cpu_us_per_request"`
	DataCPU    float64  `json:"database_cpu_us_per_request,omitempty"` // of PostgreSQL, all servers
	// CoordinatorCPU is the part of DataCPU that is the coordinator's, if there are several servers.
	CoordinatorCPU float64 `json:"coordinator_cpu_us_per_request,omitempty"`
	ClientCPU      float64 `json:"client_cpu_us_per_request"`
	CPUSeconds     float64 `json:"server_cpu_seconds"`
	Resident       float64 `json:"resident_mb"`
	Peak           float64 `json:"peak_mb"` // since the server started

	Turns []float64 `json:"turns,omitempty"` // requests per second in each turn; PerSecond is their median
}

// of derives figures from what the callers observed.
func (l load) of(subject string, k kind) figures {
	n := float64(len(l.took))
	return figures{
		Subject: subject, Kind: k.name, Callers: k.callers, Requests: len(l.took), Failures: l.failed, Failure: l.failure,
		PerSecond: n / l.lasted.Seconds(), P50: ms(part(l.took, 0.5)), P99: ms(part(l.took, 0.99)), P999: ms(part(l.took, 0.999)),
		Bytes: float64(l.bytes) / (n + float64(l.failed)), ClientCPU: micros(l.client) / n,
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// median is the middle number, or the mean of the two middle ones.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// together takes the median of each figure over the turns. Failures and peaks differ: failures add up, and the highest
// peak counts.
func together(turns []figures) figures {
	sum := turns[0]
	each := func(of func(f *figures) *float64) {
		var list []float64
		for i := range turns {
			if n := of(&turns[i]); n != nil {
				list = append(list, *n)
			}
		}
		if into := of(&sum); into != nil {
			m := median(list)
			*into = m
		}
	}
	sum.Statements, sum.Commits, sum.Again = copied(sum.Statements), copied(sum.Commits), copied(sum.Again)
	for _, of := range []func(f *figures) *float64{
		func(f *figures) *float64 { return &f.PerSecond }, func(f *figures) *float64 { return &f.P50 },
		func(f *figures) *float64 { return &f.P99 }, func(f *figures) *float64 { return &f.P999 },
		func(f *figures) *float64 { return &f.Bytes }, func(f *figures) *float64 { return f.Statements },
		func(f *figures) *float64 { return f.Commits }, func(f *figures) *float64 { return f.Again },
		func(f *figures) *float64 { return &f.ServerCPU }, func(f *figures) *float64 { return &f.DataCPU },
		func(f *figures) *float64 { return &f.CoordinatorCPU },
		func(f *figures) *float64 { return &f.ClientCPU }, func(f *figures) *float64 { return &f.CPUSeconds },
		func(f *figures) *float64 { return &f.Resident },
	} {
		each(of)
	}
	sum.Requests, sum.Failures = 0, 0
	for _, f := range turns {
		sum.Turns = append(sum.Turns, f.PerSecond)
		sum.Requests += f.Requests
		sum.Failures += f.Failures
		sum.Peak = max(sum.Peak, f.Peak)
		if sum.Failure == "" {
			sum.Failure = f.Failure
		}
	}
	return sum
}

func copied(n *float64) *float64 {
	if n == nil {
		return nil
	}
	m := *n
	return &m
}

// result is a whole run.
type result struct {
	At       string    `json:"at"`
	Command  string    `json:"command"`
	Machine  machine   `json:"machine"`
	Engine   string    `json:"engine"`
	Settings []string  `json:"settings,omitempty"` // of PostgreSQL
	Bookings int64     `json:"bookings"`
	Payments int64     `json:"payments"`
	Callers  int       `json:"callers"`
	Notes    []string  `json:"notes,omitempty"`
	Figures  []figures `json:"figures,omitempty"`
	Facts    []said    `json:"facts,omitempty"` // figures that do not belong to one kind of request
}

// said is one figure, as text.
type said struct {
	What   string `json:"what"`
	Value  string `json:"value"`
	Target string `json:"target,omitempty"`
}

// fact records a figure.
func (r *result) fact(what, target, format string, args ...any) {
	r.Facts = append(r.Facts, said{what, fmt.Sprintf(format, args...), target})
}

// add adds the medians of the turns of each kind.
func (r *result) add(turns []figures) {
	type key struct {
		subject, kind string
		callers       int
	}
	byKey := map[key][]figures{}
	var order []key
	for _, f := range turns {
		k := key{f.Subject, f.Kind, f.Callers}
		if byKey[k] == nil {
			order = append(order, k)
		}
		byKey[k] = append(byKey[k], f)
	}
	for _, k := range order {
		r.Figures = append(r.Figures, together(byKey[k]))
	}
}

// find returns the figures of a kind with a subject.
func (r *result) find(subject, kind string, callers int) (figures, bool) {
	i := slices.IndexFunc(r.Figures, func(f figures) bool { return f.Subject == subject && f.Kind == kind && f.Callers == callers })
	if i < 0 {
		return figures{}, false
	}
	return r.Figures[i], true
}

// print writes the tables in the format of docs/performance.md.
func (r *result) print(out io.Writer) {
	fmt.Fprintf(out, "\n`%s`\n\n%s\n\n", r.Command, r.Machine)
	if len(r.Facts) > 0 {
		rows := [][]string{{"what", "measured", "target"}}
		for _, f := range r.Facts {
			rows = append(rows, []string{f.What, f.Value, f.Target})
		}
		table(out, rows)
		fmt.Fprintln(out)
	}
	if len(r.Figures) > 0 {
		r.printFigures(out)
		r.printRatios(out)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(out, "\n- %s", note)
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(out)
	}
}

func (r *result) printFigures(out io.Writer) {
	rows := [][]string{{"kind", "callers", "subject", "a second", "p50 ms", "p99 ms", "p99.9 ms", "failed", "bytes", "statements",
		"commits", "server µs", "database µs", "coordinator µs", "client µs", "MB", "peak MB"}}
	for _, f := range r.Figures {
		rows = append(rows, []string{f.Kind, fmt.Sprint(f.Callers), f.Subject, number(f.PerSecond), fine(f.P50), fine(f.P99), fine(f.P999),
			fmt.Sprint(f.Failures), number(f.Bytes), maybe(f.Statements), maybe(f.Commits), number(f.ServerCPU), number(f.DataCPU),
			number(f.CoordinatorCPU), number(f.ClientCPU), number(f.Resident), number(f.Peak)})
	}
	table(out, rows)
}

// printRatios compares the product with each other subject: how many times as many requests per second it handles, and
// how many times as much processor time the other takes per request. On a shared machine the second is steadier.
func (r *result) printRatios(out io.Writer) {
	var subjects []string
	for _, f := range r.Figures {
		if f.Subject != product && !slices.Contains(subjects, f.Subject) {
			subjects = append(subjects, f.Subject)
		}
	}
	if len(subjects) == 0 || !slices.ContainsFunc(r.Figures, func(f figures) bool { return f.Subject == product }) {
		return
	}
	rows := [][]string{{"kind", "callers", product}}
	for _, s := range subjects {
		rows[0] = append(rows[0], "× "+s, "its CPU ÷ ours")
	}
	rows[0] = append(rows[0], "at least")
	for _, f := range r.Figures {
		if f.Subject != product {
			continue
		}
		row := []string{f.Kind, fmt.Sprint(f.Callers), number(f.PerSecond)}
		for _, s := range subjects {
			rate, work := "", ""
			if other, ok := r.find(s, counterpart(s, f.Kind), f.Callers); ok && other.PerSecond > 0 {
				rate, work = fmt.Sprintf("%.2f", f.PerSecond/other.PerSecond), fmt.Sprintf("%.2f", (other.ServerCPU+other.DataCPU)/(f.ServerCPU+f.DataCPU))
			}
			row = append(row, rate, work)
		}
		rows = append(rows, append(row, least(r.Engine, f.Kind, f.Callers)))
	}
	fmt.Fprintln(out)
	table(out, rows)
}

// counterpart is the kind to compare with when a peer lacks one: all its records are of the same type.
func counterpart(subject, kind string) string {
	if subject != peer && subject != syncedPeer {
		return kind
	}
	switch kind {
	case logPayment, logPayments:
		return createBooking
	case getTransaction:
		return getBooking
	}
	return kind
}

// table writes rows as Markdown with aligned columns.
func table(out io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(out, "| %s%s ", cell, strings.Repeat(" ", widths[i]-len([]rune(cell))))
		}
		fmt.Fprintln(out, "|")
		if n == 0 {
			for _, w := range widths {
				fmt.Fprintf(out, "| %s ", strings.Repeat("-", max(3, w)))
			}
			fmt.Fprintln(out, "|")
		}
	}
}

// number formats a figure with a sensible number of digits.
func number(n float64) string {
	switch {
	case n == 0:
		return ""
	case n < 10:
		return fmt.Sprintf("%.1f", n)
	default:
		return fmt.Sprintf("%.0f", n)
	}
}

func fine(n float64) string {
	if n == 0 {
		return ""
	}
	if n < 10 {
		return fmt.Sprintf("%.2f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

func maybe(n *float64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", *n)
}

// write saves a result as JSON.
func (r *result) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
