package demo

// The names of the demo's channels.
const (
	TestChannel  = "Demo tests"
	DraftChannel = "Newcomer Tours"
	EURChannel   = "Azure Coast Holidays"
	GBPChannel   = "Northern Trails"
)
