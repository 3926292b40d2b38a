package view

import (
	"holdfast/internal/book/imports"
	"holdfast/internal/domain/civil"
)

type importShape struct {
	ID                   int64             `json:"id"`
	State                imports.FileState `json:"state"`
	DryRun               bool              `json:"dry_run"`
	Mode                 *string           `json:"mode"`
	CoverStart           string            `json:"cover_start"`
	Reason               string            `json:"reason"`
	SHA256               string            `json:"sha256"`
	Bytes                int64             `json:"bytes"`
	Rows                 int64             `json:"rows"`
	RowsDone             int64             `json:"rows_done"`
	BookingsCreated      int64             `json:"bookings_created"`
	PaymentsCreated      int64             `json:"payments_created"`
	PaymentsAlreadyThere int64             `json:"payments_already_there"`
	Refused              int64             `json:"refused"`
	ChannelsCreated      []string          `json:"channels_created"`
	Totals               []imports.Total   `json:"totals"`
	UnusedColumns        []unusedColumn    `json:"unused_columns"`
	UnknownCardTypes     []string          `json:"unknown_card_types"`
	Proposal             *int64            `json:"proposal"`
	Problem              string            `json:"problem"`
	Author               string            `json:"author"`
	AuthorID             int64             `json:"author_id"`
	Created              string            `json:"created"`
	Finished             *string           `json:"finished"`
}

type unusedColumn struct {
	Name    string  `json:"name"`
	Nearest *string `json:"nearest"`
}

// ShowImport gives an import of a file.
func ShowImport(f imports.File) importShape {
	shape := importShape{
		ID: f.ID, State: f.State, DryRun: f.DryRun, Mode: OrNull(string(f.Mode)), CoverStart: CoverRecorded, Reason: f.Reason,
		SHA256: f.SHA256, Bytes: f.Bytes, Rows: f.Rows, RowsDone: f.Done, BookingsCreated: f.BookingsCreated,
		PaymentsCreated: f.PaymentsCreated, PaymentsAlreadyThere: f.PaymentsThere, Refused: f.Refused,
		ChannelsCreated: append([]string{}, f.Channels...), Totals: append([]imports.Total{}, f.Totals...),
		UnusedColumns: []unusedColumn{}, UnknownCardTypes: append([]string{}, f.Notes.Schemes...), Proposal: OrNull(f.ProposalID), Problem: f.Problem, Author: f.Author,
		AuthorID: f.AuthorID, Created: civil.FormatInstant(f.CreatedAt),
	}
	for _, c := range f.Notes.Unused {
		shape.UnusedColumns = append(shape.UnusedColumns, unusedColumn{c.Name, OrNull(c.Nearest)})
	}
	if f.CoverFromEffective {
		shape.CoverStart = CoverEffective
	}
	if !f.FinishedAt.IsZero() {
		shape.Finished = new(civil.FormatInstant(f.FinishedAt))
	}
	return shape
}

// The starts of cover, as the command line names them.
const (
	CoverRecorded  = "recorded"
	CoverEffective = "effective"
)

type importRowShape struct {
	Line        int              `json:"line"`
	Status      imports.RowState `json:"status"`
	Booking     *int64           `json:"booking"`
	Transaction *int64           `json:"transaction"`
	Reason      string           `json:"reason"`
}

// ShowImportRow returns a refused row of a file, or the result of a row.
func ShowImportRow(r imports.Row) importRowShape {
	return importRowShape{Line: r.Line, Status: r.State, Booking: OrNull(r.BookingID), Transaction: OrNull(r.TransactionID), Reason: r.Reason}
}
