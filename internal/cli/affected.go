package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"holdfast/internal/api/reports"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/paper"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// insolvencyAffectedCmd lists the payments in a snapshot.
type insolvencyAffectedCmd struct {
	siteFlag
	JSON bool   `name:"json" xor:"form" help:"Print JSON, as returned by the API, with amounts in minor units."`
	CSV  bool   `name:"csv" xor:"form" help:"Print CSV with all columns, and amounts in major units, such as 12.34."`
	XLSX string `name:"xlsx" xor:"form" placeholder:"FILE" help:"Write a workbook with all payments and columns to this file."`
	orderFlags
	ID int64 `arg:"" help:"Insolvency id."`
}

// Run prints them, those of people travelling now first.
func (c insolvencyAffectedCmd) Run(ctx context.Context, p *program) error {
	if c.XLSX != "" {
		return c.workbook(ctx, p)
	}
	return printList(ctx, p, listFlags{c.siteFlag, formFlags{JSON: c.JSON, CSV: c.CSV}, c.orderFlags}, listing[insolvencies.Affected]{
		read: func(actor access.Actor, page store.Page) (store.List[insolvencies.Affected], error) {
			if c.Sort.column != "id" {
				page.OrderBy = insolvencies.OrderTravel
			}
			return p.app.Insolvencies.Affected(ctx, actor, c.ID, page)
		},
		shape:   func(a insolvencies.Affected) any { return reports.ShowAffected(a) },
		columns: affectedColumns(),
		table:   "booking travelling surname date scheme last_four_digits currencies remaining undelivered last_day_of_dispute reason",
		row:     affectedCells,
		none:    "No affected payments.",
	})
}

// workbook saves all affected payments as a workbook.
func (c insolvencyAffectedCmd) workbook(ctx context.Context, p *program) error {
	if c.Sort.column != "" || c.Limit != 0 {
		return errs.WrongField("xlsx", "The workbook has all payments. Remove --sort and --limit.")
	}
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if _, err := p.app.Insolvencies.Opened(ctx, actor, c.ID); err != nil {
		return err
	}
	err = writeWhole(c.XLSX, func(w io.Writer) error {
		return paper.WriteAffectedXLSX(w, p.app.Insolvencies.AllAffected(ctx, actor, c.ID))
	})
	if err != nil {
		return fmt.Errorf("cannot write the workbook: %w", err)
	}
	p.printf("Saved the affected payments of insolvency %d to %s\n", c.ID, c.XLSX)
	return nil
}

// writeWhole writes a file that only its owner can read. It appears under its name when it is complete.
func writeWhole(name string, write func(w io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*") // with mode 0600
	if err != nil {
		return err
	}
	err = write(file)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// affectedColumns are the columns of affected payments, by the API's names.
func affectedColumns() []column {
	columns := columnsOf("id payment transaction booking travelling booking_reference firstname surname email language date_start date countries " +
		"suppliers other_protection reference paid_at psp scheme bin_number last_four_digits auth_code acquirer_reference processor_reference " +
		"currencies total payment_currencies payment_total policy_currency value remaining undelivered last_day_of_dispute eligible reason")
	titles := map[string]string{
		"date": "UNTIL", "last_four_digits": "CARD", "currencies": "CURRENCY", "last_day_of_dispute": "DISPUTE BY", "reason": "NOT ELIGIBLE",
	}
	for i, c := range columns {
		columns[i].title = titles[c.name]
	}
	return columns
}

func affectedCells(a insolvencies.Affected) []cell {
	value := cell{figure: true} // unknown until there is a rate
	if a.Value != 0 {
		value = amount(a.Value, a.PolicyCurrency)
	}
	return []cell{
		ident(a.ID), ident(a.AllocationID), ident(a.TransactionID), ident(a.BookingID), yesNo(a.Travelling), words(a.BookingReference),
		words(a.Firstname), words(a.Surname), words(a.Email), words(a.Language), dayCell(a.Start), dayCell(a.End), words(a.Country),
		words(strings.Join(a.Suppliers, "; ")), words(string(a.OtherProtection)), words(a.Reference), words(civil.FormatInstant(a.PaidAt)),
		words(a.PSP), words(string(a.Scheme)), words(a.BIN), words(a.LastFour), words(a.AuthCode), words(a.AcquirerReference),
		words(a.ProcessorReference), words(string(a.Currency)), amount(a.Total, a.Currency), words(string(a.PaymentCurrency)),
		amount(a.PaymentTotal, a.PaymentCurrency), words(string(a.PolicyCurrency)), value, amount(a.Remaining, a.Currency),
		amount(a.Undelivered, a.Currency), dayCell(a.LastDay), yesNo(a.Eligible()), words(string(a.Ineligible)),
	}
}

// insolvencySnapshotCmd prints a snapshot.
type insolvencySnapshotCmd struct {
	siteFlag
	ID int64 `arg:"" help:"Insolvency id."`
}

// Run prints the text whose hash is that of the snapshot.
func (c insolvencySnapshotCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	return p.app.Insolvencies.WriteSnapshot(ctx, actor, c.ID, p.stdout)
}
