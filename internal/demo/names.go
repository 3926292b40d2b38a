package demo

import "holdfast/internal/travel"

// Names in the demo. User names are shared by all sites, so those of the demo begin with "demo-".
const (
	SitePath = "demo"
	SiteName = "Demo Travel Group"

	OperatorName = "demo-operator"
	AdminName    = "demo-admin"
	tokenName    = "demo"

	TestChannel  = "Test channel" // every site has it from the start
	DraftChannel = "Newcomer Tours"
	EURChannel   = "Azure Coast Holidays"
	GBPChannel   = "Northern Trails"
)

// processor is the processor of the demo's channels in the server-to-server profile. Its accounts are made up.
const (
	processor    = "sandbox"
	processorKey = "key of the demo"
)

// channels are the channels besides the test channel. In the server-to-server profile, those of mode protection-only are
// live and protected.
var channels = []struct {
	name     string
	mode     travel.AccountMode
	currency string
}{
	{DraftChannel, travel.ModeDraft, "EUR"},
	{EURChannel, travel.ModeProtectionOnly, "EUR"},
	{GBPChannel, travel.ModeProtectionOnly, "GBP"},
}

// suppliers are the suppliers of the channels.
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
