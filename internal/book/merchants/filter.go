package merchants

import (
	"holdfast/internal/domain/merchant"
)

// ChannelFilter picks channels from a list (section 4.3). An empty field picks all.
type ChannelFilter struct {
	Modes           []merchant.AccountMode
	AccountType     string
	Currency        string // part of the currency code
	ExternalID      string
	Name            string // part of the name, in small or capital letters
	Search          string // the id, or a part of the name or external id
	StatementPeriod string
	Insolvent       bool // only channels that are insolvent now
}

// ChannelOrders lists the values of orderby, besides those of every list, for channels.
var ChannelOrders = []string{"name", "slug", "external_id", "account_mode", "currencies"}

// PolicyOrders lists the values of orderby, besides those of every list, for policies.
var PolicyOrders = []string{"from", "recorded_at"}

// SiteFilter picks sites from a list. An empty field picks all.
type SiteFilter struct {
	Only int64  // the only site that a customer sees; 0 for the operator, who sees all
	Text string // a part of the name or of the path
}

// SiteOrders lists the values of orderby, besides those of every list, for sites.
var SiteOrders = []string{"name", "path"}

// SupplierFilter picks suppliers from a list (section 4.5). An empty field picks all.
type SupplierFilter struct {
	Name       string // part of the name, in small or capital letters
	Search     string // the id, or a part of the name or address
	URL        string // part of the address, in small or capital letters
	Countries  []string
	Categories []string
}

// SupplierOrders lists the values of orderby, besides those of every list, for suppliers.
var SupplierOrders = []string{"name", "url", "category", "country"}
