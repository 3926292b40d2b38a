package demo

import "holdfast/internal/travel"

// Names in the demo. Those of users say what they are for, because user names are one space for all sites.
const (
	SitePath = "demo"
	SiteName = "Demo Travel Group"

	OperatorName = "demo-operator"
	AdminName    = "demo-admin"
	tokenName    = "demo"

	TestChannel  = "Test channel" // that every site has from the start
	DraftChannel = "Newcomer Tours"
	EURChannel   = "Azure Coast Holidays"
	GBPChannel   = "Northern Trails"
)

// processor is where channels of the demo take payments in the server-to-server profile; its accounts are made up.
const (
	processor    = "sandbox"
	processorKey = "key of the demo"
)

// channels are those besides the test channel. Those of mode protection-only are live and protected in the
// server-to-server profile.
var channels = []struct {
	name     string
	mode     travel.AccountMode
	currency string
}{
	{DraftChannel, travel.ModeDraft, "EUR"},
	{EURChannel, travel.ModeProtectionOnly, "EUR"},
	{GBPChannel, travel.ModeProtectionOnly, "GBP"},
}

// suppliers are eight in four countries.
var suppliers = []struct{ name, host, category, country string }{
	{"Hotel Cala Serena", "cala-serena.example", "HOT", "ES"},
	{"Balear Coaches", "balear-coaches.example", "COA", "ES"},
	{"Quinta do Mar", "quinta-do-mar.example", "HOT", "PT"},
	{"Air Lusitania", "air-lusitania.example", "AIR", "PT"},
	{"Villa Etna", "villa-etna.example", "HOT", "IT"},
	{"Traghetti del Sud", "traghetti-del-sud.example", "FER", "IT"},
	{"Glen Lodge", "glen-lodge.example", "HOT", "GB"},
	{"Highland Rail", "highland-rail.example", "TRA", "GB"},
}
