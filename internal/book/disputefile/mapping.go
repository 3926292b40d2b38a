package disputefile

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// Mapping says how to read a table of a processor that has no format of its own: which column holds what, and what its words mean. ParseMapping reads
// it from YAML or JSON; docs/disputes.md has an example.
type Mapping struct {
	Source   string             `yaml:"source"`   // the processor, in lower case
	Columns  map[string]string  `yaml:"columns"`  // the file's column for each of our fields
	Words    map[string]Meaning `yaml:"words"`    // by the word in the column of word; * is any other
	Always   *Meaning           `yaml:"always"`   // of every line, where there is no column of word
	Units    string             `yaml:"units"`    // major (the default) or minor
	Decimal  string             `yaml:"decimal"`  // . or , where it is not clear
	Currency string             `yaml:"currency"` // of all lines, where there is no column
	Date     string             `yaml:"date"`     // such as DD/MM/YYYY or DD.MM.YYYY HH:mm; without it 2026-05-31 in its usual forms
	Zone     string             `yaml:"zone"`     // of all times, where there is no column
}

// Meaning is what a word of a mapped file says.
type Meaning struct {
	Stage  dispute.Stage  `yaml:"stage"`
	Status dispute.Status `yaml:"status"`
	Money  string         `yaml:"money"`  // see moneyWords; "" moves none
	Ignore bool           `yaml:"ignore"` // the line is about something else
}

// moneyWords are the values of Money. sign reads positive amounts as debits and negative ones as credits, minus the
// reverse, and columns uses separate columns for debits and credits.
var moneyWords = []string{"", "debit", "credit", "fee", "prevented", "sign", "minus", "columns"}

// mappedFields are the fields that a column can be named for. docs/disputes.md lists them.
var mappedFields = []string{
	"case_id", "word", "day", "zone", "amount", "debit", "credit", "currency", "due_on", "number", "reason_code", "reason", "merchant", "refers_to",
	"acquirer_reference", "processor_reference", "payment_reference", "auth_code", "card_number", "last_four_digits", "bin_number", "card_types",
	"paid_on", "paid_amount", "paid_currency",
}

// maxMappingBytes bounds a mapping, far above any real one.
const maxMappingBytes = 64 << 10

// ParseMapping reads a mapping from YAML or JSON. Errors are Invalid and name the field map.
func ParseMapping(text []byte) (*Mapping, error) {
	if len(text) > maxMappingBytes {
		return nil, errs.WrongField("map", "The mapping is longer than 64 KiB.")
	}
	var m Mapping
	in := yaml.NewDecoder(bytes.NewReader(text))
	in.KnownFields(true)
	if err := in.Decode(&m); errors.Is(err, io.EOF) {
		return nil, errs.WrongField("map", "The mapping is empty.")
	} else if err != nil {
		return nil, errs.WrongField("map", "The mapping cannot be read: %s.", clip(strings.Join(strings.Fields(err.Error()), " ")))
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return &m, nil
}

func (m *Mapping) check() error {
	wrong := func(format string, args ...any) error { return errs.WrongField("map", format, args...) }
	if m.Source == "" || m.Source != strings.ToLower(m.Source) || len(m.Source) > 40 || strings.ContainsAny(m.Source, " \t\n") {
		return wrong("source must name the processor in lower case, without spaces and in at most 40 characters.")
	}
	for field, column := range m.Columns {
		switch {
		case !slices.Contains(mappedFields, field):
			return wrong("columns has %.40q, which is not one of %s.", field, strings.Join(mappedFields, ", "))
		case plainName(column) == "":
			return wrong("columns.%s names no column.", field)
		}
	}
	has := func(field string) bool { return m.Columns[field] != "" }
	switch {
	case !has("case_id"):
		return wrong("columns.case_id is required.")
	case has("word") == (m.Always != nil):
		return wrong("It needs either columns.word with words, or always.")
	case has("word") && len(m.Words) == 0:
		return wrong("words is required with columns.word.")
	case !slices.Contains([]string{"", "major", "minor"}, m.Units):
		return wrong("units must be major or minor.")
	case !slices.Contains([]string{"", ".", ","}, m.Decimal):
		return wrong("decimal must be . or a comma.")
	case m.Date != "" && !strings.Contains(layoutOf(m.Date), "2006"):
		return wrong("date must have YYYY, MM or M, and DD or D, such as DD/MM/YYYY HH:mm.")
	}
	if m.Currency != "" {
		if _, err := money.ParseCurrency(m.Currency); err != nil {
			return wrong("currency: %v.", err)
		}
	}
	if _, ok := zone(m.Zone); !ok {
		return wrong("zone: %.40q is not known as a time zone.", m.Zone)
	}
	return m.checkWords()
}

func (m *Mapping) checkWords() error {
	all := map[string]Meaning{}
	for word, meaning := range m.Words {
		all["words."+clip(word)] = meaning
	}
	if m.Always != nil {
		all["always"] = *m.Always
	}
	for at, meaning := range all {
		switch moves := meaning.Money != ""; {
		case meaning.Stage != "" && !meaning.Stage.Known():
			return errs.WrongField("map", "%s.stage: %.40q is not one of %v.", at, meaning.Stage, dispute.Stages)
		case meaning.Status != "" && !meaning.Status.Known():
			return errs.WrongField("map", "%s.status: %.40q is not one of %v.", at, meaning.Status, dispute.Statuses)
		case !slices.Contains(moneyWords, meaning.Money):
			return errs.WrongField("map", "%s.money: %.40q is not one of %s.", at, meaning.Money, strings.Join(moneyWords[1:], ", "))
		case meaning.Money == "columns" && (m.Columns["debit"] == "" || m.Columns["credit"] == ""):
			return errs.WrongField("map", "%s.money: columns needs columns.debit and columns.credit.", at)
		case moves && meaning.Money != "columns" && m.Columns["amount"] == "":
			return errs.WrongField("map", "%s.money needs columns.amount.", at)
		case moves && m.Currency == "" && m.Columns["currency"] == "":
			return errs.WrongField("map", "%s.money needs columns.currency or currency.", at)
		}
	}
	return nil
}

// layoutOf writes a date of a mapping as package time does.
func layoutOf(date string) string {
	return strings.NewReplacer("YYYY", "2006", "MM", "01", "M", "1", "DD", "02", "D", "2", "HH", "15", "mm", "04", "ss", "05").Replace(date)
}

// format is a format of its own, recognised by all columns that the mapping names.
func (m *Mapping) format() (*format, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	f := &format{Format: Format{"mapped", "the columns of the mapping"}, open: stateless(m.read)}
	for _, field := range mappedFields {
		if column := m.Columns[field]; column != "" {
			f.needs = append(f.needs, column)
		}
	}
	return f, nil
}

func (m *Mapping) read(r *record) []dispute.Report {
	meaning, ok := m.meaning(r)
	switch {
	case !ok:
		return nil
	case meaning.Ignore:
		return r.ignore("%s: ignored by the mapping.", clip(m.text(r, "word")))
	}
	r.decimal = m.Decimal
	how := calendar{}
	if m.Date != "" {
		how.layout = []string{layoutOf(m.Date)}
	}
	report := dispute.Report{
		Source: m.Source, CaseID: r.caseID(m.Columns["case_id"]), Stage: meaning.Stage, Status: meaning.Status,
		Day: m.day(r, how, "day"), DueOn: m.day(r, how, "due_on"), ReasonCode: m.text(r, "reason_code"), Reason: m.text(r, "reason"),
		Merchant: m.text(r, "merchant"), RefersTo: m.id(r, "refers_to"), Currency: m.currency(r, "currency"),
		Clues: dispute.Clues{ProcessorReference: m.id(r, "processor_reference"), PaymentReference: m.id(r, "payment_reference"), PaidOn: m.day(r, how, "paid_on")},
	}
	if report.Currency == "" {
		report.Currency = money.Currency(m.Currency)
	}
	m.clues(r, &report)
	m.move(r, &report, meaning.Money)
	return []dispute.Report{report}
}

func (m *Mapping) meaning(r *record) (Meaning, bool) {
	if m.Always != nil {
		return *m.Always, true
	}
	word, column := r.cell(m.Columns["word"])
	for name, meaning := range m.Words {
		if strings.EqualFold(strings.TrimSpace(name), word) {
			return meaning, true
		}
	}
	meaning, ok := m.Words["*"]
	if !ok {
		r.wrong(column, "%q is not among the words of the mapping.", clip(word))
	}
	return meaning, ok
}

func (m *Mapping) clues(r *record, report *dispute.Report) {
	c := &report.Clues
	if column := m.Columns["acquirer_reference"]; column != "" {
		c.AcquirerReference = r.acquirerReference(column)
	}
	if column := m.Columns["auth_code"]; column != "" {
		c.AuthCode = r.auth(column)
	}
	if column := m.Columns["card_number"]; column != "" {
		r.card(c, column)
	}
	if column := m.Columns["last_four_digits"]; column != "" {
		c.LastFour = r.lastFour(column)
	}
	if column := m.Columns["bin_number"]; column != "" {
		c.BIN = r.bin(column)
	}
	if column := m.Columns["card_types"]; column != "" {
		c.Scheme = r.scheme(column)
	}
	if c.PaidCurrency = m.currency(r, "paid_currency"); c.PaidCurrency == "" {
		c.PaidCurrency = report.Currency
	}
	if n, present := m.amount(r, c.PaidCurrency, "paid_amount"); present {
		c.PaidAmount = abs(n)
	} else {
		c.PaidCurrency = ""
	}
	if n, present := m.amount(r, "JPY", "number"); present && n > 0 && n < 1000 {
		report.Number = int(n)
	}
}

// move reads what moved.
func (m *Mapping) move(r *record, report *dispute.Report, how string) {
	amount, present := m.amount(r, report.Currency, "amount")
	switch how {
	case "":
		report.Amount = abs(amount)
		return
	case "columns":
		taken, _ := m.amount(r, report.Currency, "debit")
		given, _ := m.amount(r, report.Currency, "credit")
		amount, present, how = abs(taken)-abs(given), true, "sign"
	case "minus":
		amount, how = -amount, "sign"
	}
	report.Amount, report.Kind = abs(amount), dispute.Kind(how)
	switch {
	case !present || amount == 0:
		r.problems = append(r.problems, "The amount is empty or zero.")
	case how == "sign" && amount > 0:
		report.Kind = dispute.Debit
	case how == "sign":
		report.Kind = dispute.Credit
	}
}

func (m *Mapping) text(r *record, field string) string {
	if m.Columns[field] == "" {
		return ""
	}
	return r.text(m.Columns[field])
}

func (m *Mapping) id(r *record, field string) string {
	if m.Columns[field] == "" {
		return ""
	}
	return r.id(m.Columns[field])
}

func (m *Mapping) currency(r *record, field string) money.Currency {
	if m.Columns[field] == "" {
		return ""
	}
	return r.currency(m.Columns[field])
}

// day reads a day. Where no column names the zone of its time, that of the mapping does.
func (m *Mapping) day(r *record, how calendar, field string) civil.Day {
	if m.Columns[field] == "" {
		return civil.NoDay
	}
	how.zone = m.Zone
	var zones []string
	if m.Columns["zone"] != "" {
		zones = []string{m.Columns["zone"]}
	}
	return r.day(how, zones, m.Columns[field])
}

func (m *Mapping) amount(r *record, c money.Currency, field string) (int64, bool) {
	switch {
	case m.Columns[field] == "":
		return 0, false
	case m.Units == "minor":
		return r.minor(c, m.Columns[field])
	}
	return r.major(c, m.Columns[field])
}

// MappedFields lists the fields that a mapping can name a column for.
func MappedFields() []string { return slices.Clone(mappedFields) }
