package demo

import (
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
)

// Names in the demo. Usernames are shared by all sites, so those of the demo start with "demo-".
const (
	SitePath = "demo"
	SiteName = "Fjord & Fell Travel" // also the name of the demo's shop

	// LiveSitePath is the site that is not a sandbox: opening cover there needs two operators.
	LiveSitePath = "demo-live"
	LiveSiteName = "Demo Acquiring"

	OperatorName = "demo-operator"
	ApproverName = "demo-approver" // the second operator
	AdminName    = "demo-admin"
	tokenName    = "demo"

	TestChannel  = "Fellside Journeys" // the site's first merchant, in mode test
	DraftChannel = "Newcomer Tours"
	EURChannel   = "Azure Coast Holidays"
	GBPChannel   = "Northern Trails"
	// FailedChannel is the merchant whose failure is being rehearsed.
	FailedChannel = "Solana Escapes"
	LiveChannel   = "Harbour Cruises" // of the site that is not a sandbox
)

// firstChannel is the name that every new site gives its first merchant.
const firstChannel = "Test channel"

// processor is the processor of the demo's merchants in the server-to-server profile. Its accounts are made up.
const (
	processor    = "sandbox"
	processorKey = "key of the demo"
)

// channels are the merchants other than the test merchant. In the server-to-server profile, those in mode protection-only are
// live and protected.
var channels = []struct {
	name     string
	mode     merchant.AccountMode
	currency string
	other    merchant.OtherProtection
}{
	{DraftChannel, merchant.ModeDraft, "EUR", "none"},
	{EURChannel, merchant.ModeProtectionOnly, "EUR", "trust_account"},
	{GBPChannel, merchant.ModeProtectionOnly, "GBP", "bond"},
	{FailedChannel, merchant.ModeProtectionOnly, "EUR", "none"},
}

// suppliers are the merchants' suppliers.
var suppliers = []struct{ name, host, category, country string }{
	{"Hotel Cala Serena", "cala-serena.example", "HOT", "ES"},
	{"Balear Coaches", "balear-coaches.example", "COA", "ES"},
	{"Quinta do Mar", "quinta-do-mar.example", "HOT", "PT"},
	{"Air Lusitania", "air-lusitania.example", "AIR", "PT"},
	{"Villa Etna", "villa-etna.example", "HOT", "IT"},
	{"Traghetti del Sud", "traghetti-del-sud.example", "FER", "IT"},
	{"Aegean Rooms", "aegean-rooms.example", "HOT", "GR"},
	{"Mas des Lavandes", "mas-des-lavandes.example", "HOT", "FR"},
	{"Istra Apartments", "istra-apartments.example", "APT", "HR"},
	{"Kerry Cottages", "kerry-cottages.example", "APT", "IE"},
	{"Aurora Guesthouse", "aurora-guesthouse.example", "HOT", "IS"},
	{"Lofoten Cabins", "lofoten-cabins.example", "APT", "NO"},
	{"Glen Lodge", "glen-lodge.example", "HOT", "GB"},
	{"Highland Rail", "highland-rail.example", "TRA", "GB"},
}

// collaterals is the merchants' collateral.
var collaterals = []struct {
	channel   string
	kind      exposure.CollateralKind
	currency  money.Currency
	amount    int64
	reference string
}{
	{EURChannel, "guarantee", "EUR", 250_000_00, "Bank guarantee G-2041"},
	{GBPChannel, "cash", "GBP", 60_000_00, "Deposit account 7"},
}

// Limits, as the percentage currently used. One merchant is close to its limit, the other is over.
const (
	nearLimit int64 = 92
	overLimit int64 = 107
	siteLimit int64 = 84
	// transactionLimit is the limit per payment, in minor units of the policy's currency.
	transactionLimit int64 = 5_000_00
)

// The parties on the demo's statements. All details are made up.
var (
	issuer = merchant.Party{
		Name: "Harbour Protection Ltd", Address: "14 Quay Street\nBristol BS1 4DJ\nUnited Kingdom", TaxNumber: "GB 000 0000 00",
		BankDetails: "Harbour Protection Ltd, Example Bank\nIBAN GB00 EXAM 0000 0000 0000 00\nBIC EXAMGB00",
	}
	policyholder = merchant.Party{
		Name: SiteName + " plc", Address: "1 Market Square\nLeeds LS1 1AA\nUnited Kingdom",
		BankDetails: SiteName + " plc, Example Bank\nIBAN GB00 EXAM 0000 0000 0000 01\nBIC EXAMGB00",
	}
)

func fieldsOf(p merchant.Party) merchant.PartyFields {
	return merchant.PartyFields{Name: &p.Name, Address: &p.Address, TaxNumber: &p.TaxNumber, BankDetails: &p.BankDetails}
}
