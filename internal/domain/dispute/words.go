package dispute

import (
	"strings"
	"unicode"
)

// The processors whose words are known, as in Report.Source.
const (
	Adyen       = "adyen"
	Stripe      = "stripe"
	Braintree   = "braintree"
	PayPal      = "paypal"
	JPMorgan    = "jpmorgan"
	Worldpay    = "worldpay"
	CyberSource = "cybersource"
	CheckoutCom = "checkout.com"
)

// Meaning is the meaning of a processor's word (R14).
type Meaning struct {
	Stage  Stage  // "" if the word leaves it unchanged
	Status Status // "" if the word leaves it unchanged
	Moves  []Move // in order
}

// Move is a movement of money that follows from a word.
type Move struct {
	Kind    Kind
	Number  int  // as in Report
	Undated bool // its day is unknown
}

var (
	debit      = []Move{{Kind: Debit}}
	credit     = []Move{{Kind: Credit}}
	fee        = []Move{{Kind: Fee}}
	prevention = []Move{{Kind: Prevention}}
)

// words has the meanings by processor and word, as in the table of R14; below a comment, further words that the processors document. See Means
// about the money of Braintree, JPMorgan and PayPal.
var words = map[string]map[string]Meaning{
	Adyen: {
		"NotificationOfFraud":      {Inquiry, Open, nil},
		"RequestForInformation":    {Inquiry, Open, nil},
		"NotificationOfChargeback": {Chargeback, Open, nil},
		"Chargeback":               {Chargeback, Open, []Move{{Kind: Debit, Number: 1}}},
		"ChargebackReversed":       {Chargeback, Won, credit},
		"SecondChargeback":         {PreArbitration, Lost, []Move{{Kind: Debit, Number: 2}}},
		// Actions, without money.
		"InformationSupplied":            {"", Challenged, nil},
		"DisputeDefensePeriodEnded":      {"", Expired, nil},
		"IssuerResponseTimeframeExpired": {"", Won, nil},
		"PreArbitrationWon":              {PreArbitration, Won, nil},
		"PreArbitrationLost":             {PreArbitration, Lost, nil},
	},
	Stripe: {
		"warning_needs_response": {Inquiry, Open, nil},
		"warning_under_review":   {Inquiry, Challenged, nil},
		"warning_closed":         {Inquiry, Cancelled, nil},
		"needs_response":         {Chargeback, Open, debit},
		"under_review":           {Chargeback, Challenged, debit},
		"lost":                   {Chargeback, Lost, debit},
		"won":                    {Chargeback, Won, []Move{{Kind: Debit}, {Kind: Credit, Undated: true}}},
		"prevented":              {PreDispute, Prevented, prevention},
		// Reporting categories of balance transactions.
		"dispute":          {Chargeback, "", debit},
		"dispute_reversal": {Chargeback, "", credit},
	},
	Braintree: {
		"RETRIEVAL":       {Inquiry, "", nil},
		"CHARGEBACK":      {Chargeback, "", nil},
		"PRE_ARBITRATION": {PreArbitration, "", nil},
		"OPEN":            {"", Open, debit},
		"DISPUTED":        {"", Challenged, debit},
		"WON":             {"", Won, credit},
		"LOST":            {"", Lost, debit},
		"EXPIRED":         {"", Expired, debit},
		"ACCEPTED":        {"", Accepted, debit},
		// Newer statuses.
		"AUTO_ACCEPTED": {"", Accepted, debit},
		"UNDER_REVIEW":  {"", Challenged, debit},
	},
	PayPal: {
		"T1201": {Chargeback, Open, debit},
		"T1202": {Chargeback, Won, credit},
		"T0106": {"", "", fee},
	},
	JPMorgan: {
		"RECD":   {"", Open, nil},
		"REP":    {"", Challenged, nil},
		"RTM":    {"", Lost, nil},
		"ENDINV": {},
		"BEGINV": {}, // open at the beginning of the day; ENDINV: at its end
	},
	Worldpay: {
		"Retrieval Request":               {Inquiry, Open, nil},
		"Fraud Notification":              {Inquiry, Open, nil},
		"First Chargeback":                {Chargeback, Open, debit},
		"Representment":                   {Chargeback, Challenged, debit},
		"Pre-Arbitration":                 {PreArbitration, Open, debit},
		"Issuer Declined Pre-Arbitration": {PreArbitration, Challenged, debit},
		"Issuer Accepted Pre-Arbitration": {PreArbitration, Won, debit},
		"Arbitration":                     {Arbitration, Open, debit},
		"Rapid Dispute Resolution":        {PreDispute, Prevented, prevention},
		// Activities of a case.
		"Merchant Represent":            {"", Challenged, credit},
		"Merchant Respond":              {"", Challenged, nil},
		"Merchant Accepts Liability":    {"", Accepted, nil},
		"Merchant Requests Arbitration": {Arbitration, Challenged, nil},
	},
	CyberSource: {
		"Retrieval":           {Inquiry, Open, nil},
		"Retrieval Request":   {Inquiry, Open, nil},
		"Chargeback":          {Chargeback, Open, nil},
		"First Chargeback":    {Chargeback, Open, nil},
		"Representment":       {Chargeback, Challenged, nil},
		"Second Chargeback":   {PreArbitration, Lost, nil},
		"Pre-Arbitration":     {PreArbitration, Open, nil},
		"Arbitration":         {Arbitration, Open, nil},
		"Chargeback Reversal": {Chargeback, Won, nil},
	},
	CheckoutCom: {
		"evidence_required":        {Chargeback, Open, debit},
		"evidence_under_review":    {Chargeback, Challenged, debit},
		"accepted":                 {Chargeback, Accepted, debit},
		"expired":                  {Chargeback, Expired, debit},
		"lost":                     {Chargeback, Lost, debit},
		"won":                      {Chargeback, Won, debit},
		"canceled":                 {Chargeback, Cancelled, nil},
		"resolved":                 {Chargeback, Cancelled, nil},
		"arbitration_under_review": {Arbitration, Challenged, debit},
		"arbitration_lost":         {Arbitration, Lost, debit},
		"arbitration_won":          {Arbitration, Won, debit},
	},
}

// Means returns the meaning of a processor's word. Case, spaces, dashes and underscores do not matter. The moves of Braintree's words count
// only on a day of disbursement, and those of PayPal's codes only with status S. At JPMorgan and CyberSource, other columns say whether money
// moved, and in which direction.
func Means(source, word string) (Meaning, bool) {
	m, ok := byPlainWord[source][plainWord(word)]
	return m, ok
}

var byPlainWord = func() map[string]map[string]Meaning {
	all := map[string]map[string]Meaning{}
	for source, list := range words {
		all[source] = map[string]Meaning{}
		for word, m := range list {
			all[source][plainWord(word)] = m
		}
	}
	return all
}()

func plainWord(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, word)
}
