package merchants

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
)

// ChannelFilter picks channels from a list (section 4.3). An empty field picks all.
type ChannelFilter struct {
	Include, Exclude []int64
	Modified         civil.Span
	Modes            []merchant.AccountMode
	AccountType      string
	Currency         string // part of the currency code
	ExternalID       string
	Name             string // part of the name, in small or capital letters
	StatementPeriod  string
}

// ChannelOrders lists the values of orderby for channels.
var ChannelOrders = []string{"id", "name", "slug", "external_id", "account_mode", "currencies", "include"}

// PolicyOrders lists the values of orderby for policies.
var PolicyOrders = []string{"id", "from", "recorded_at"}

// SiteFilter picks sites from a list. An empty field picks all.
type SiteFilter struct {
	Only             int64  // the only site that a customer sees; 0 for the operator, who sees all
	Text             string // a part of the name or of the path
	Include, Exclude []int64
	Modified         civil.Span
}

// SiteOrders lists the values of orderby for sites.
var SiteOrders = []string{"id", "name", "path", "include"}

// SupplierFilter picks suppliers from a list (section 4.5). An empty field picks all.
type SupplierFilter struct {
	Include, Exclude []int64
	Modified         civil.Span
	Name             string // part of the name, in small or capital letters
	URL              string // part of the address, in small or capital letters
	Countries        []string
	Categories       []string
}

// SupplierOrders lists the values of orderby for suppliers.
var SupplierOrders = []string{"id", "name", "url", "category", "country", "include"}
