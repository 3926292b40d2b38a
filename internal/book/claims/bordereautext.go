package claims

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/tabular"
)

// BordereauColumns are the columns of the bordereau in files: as_of, and then the names of Lloyd's Coverholder Reporting Standards 5.2.
var BordereauColumns = []string{
	"as_of", "Reporting Period (End Date)", "Unique Market Reference (UMR)", "Year of Account", "Certificate Reference", "Claim Reference / Number",
	"Insured Full Name or Company Name", "Risk Inception Date", "Risk Expiry Date", "Date of Loss (From)", "Loss Description",
	"Date Claim First Advised/Date Claim Made", "Date Claim Opened", "Claim Status", "Denial", "Date Closed", "Original Currency",
	"Amount Claimed", "Settlement Currency", "Paid this month - Indemnity", "Paid this month - Fees", "Previously Paid - Indemnity",
	"Previously Paid - Fees", "Reserve - Indemnity", "Reserve - Fees", "Total Incurred - Indemnity", "Total Incurred - Fees", "Total Incurred",
}

// Cells are the cells of a row, in the order of BordereauColumns. Amounts are in major units; there are no fees.
func (b Bordereau) Cells(r BordereauRow) []string {
	amount := func(n int64) string { return money.FormatPlain(n, r.Settlement) }
	none := amount(0)
	incurred := amount(r.Incurred())
	denial := map[bool]string{true: "Y", false: "N"}[r.Denied()]
	return []string{
		b.AsOf.String(), b.Period.Last.String(), tabular.PlainCell(r.Contract.Reference), strconv.FormatInt(r.Year, 10), r.Certificate(),
		r.Reference(), tabular.PlainCell(b.Insured), r.Inception.String(), dayOrNone(r.Expiry), r.Lost.String(), tabular.PlainCell(r.Description()),
		r.Opened.String(), r.Opened.String(), r.Status(), denial, dayOrNone(r.Closed), string(r.Original),
		money.FormatPlain(r.Claimed, r.Original), string(r.Settlement), amount(r.Paid), none, amount(r.Previously), none, amount(r.Reserve), none,
		incurred, none, incurred,
	}
}

func dayOrNone(d civil.Day) string {
	if d == civil.NoDay {
		return ""
	}
	return d.String()
}

// Denied reports whether the claim was rejected.
func (r BordereauRow) Denied() bool { return r.State == claim.StateRejected }

// Description names the failure and the dispute.
func (r BordereauRow) Description() string {
	return fmt.Sprintf("Failure of %s (%s); dispute %s %s", r.Merchant, r.Kind, r.Source, r.CaseID)
}

// WriteCSV writes the bordereau as CSV. That of a month that is over always has the same bytes.
func (b Bordereau) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write(BordereauColumns) // the writer remembers its first error
	for _, r := range b.Rows {
		_ = out.Write(b.Cells(r))
	}
	out.Flush()
	return out.Error()
}
