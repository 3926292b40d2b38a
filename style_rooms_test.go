package holdfast_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// groups are the folders of internal in import order: a group imports groups on earlier lines, never one on its own or
// a later line. docs/ARCHITECTURE.md draws them.
var groups = [][]string{
	{"errs"}, {"domain"}, {"lib"}, {"store"}, {"psp"}, {"platform"}, {"book"}, {"account"}, {"notify"}, {"report", "ops"}, {"app"},
	{"jobs", "api", "web", "demo"}, {"cli"}, {"testkit"},
}

// within lists the packages of its own group that a package imports. Packages not listed import none.
var within = map[string][]string{
	"domain/money":      {"domain/civil"},
	"domain/fx":         {"domain/money", "domain/civil"},
	"domain/check":      {"domain/money", "domain/civil", "domain/card"},
	"domain/proposal":   {"domain/money", "domain/civil"},
	"domain/access":     {"domain/civil"},
	"domain/terms":      {"domain/money", "domain/civil", "domain/card", "domain/check", "domain/proposal"},
	"domain/merchant":   {"domain/money", "domain/civil", "domain/check", "domain/proposal", "domain/terms"},
	"domain/event":      {"domain/access"},
	"domain/modal":      {"domain/money", "domain/civil", "domain/check"},
	"domain/booking":    {"domain/money", "domain/civil", "domain/check", "domain/merchant", "domain/modal", "domain/terms"},
	"domain/payment":    {"domain/money", "domain/civil", "domain/check", "domain/card", "domain/merchant", "domain/modal", "domain/terms", "domain/booking"},
	"domain/protection": {"domain/*"},
	"domain/exposure":   {"domain/*"},
	"domain/estimate":   {"domain/*"},
	"domain/dispute":    {"domain/money", "domain/civil", "domain/card", "domain/check", "domain/fx"},
	"domain/claim":      {"domain/*"},

	"psp/sandbox":   {"psp", "psp/tokenizer"},
	"psp/stripe":    {"psp", "psp/tokenizer"},
	"psp/tokenizer": {"psp"},

	"store": {"store/*"},

	"platform/audit":       {"platform/sites"},
	"platform/leases":      {"platform/sites", "platform/audit"},
	"platform/secrets":     {"platform/sites", "platform/audit"},
	"platform/events":      {"platform/sites"},
	"platform/health":      {"platform/sites"},
	"platform/idempotency": {"platform/sites", "platform/leases"},
	"platform/clock":       {"platform/sites", "platform/audit", "platform/idempotency"},
	"platform/approvals":   {"platform/sites", "platform/audit", "platform/events", "platform/idempotency"},

	"book/bookings":     {"book/merchants"},
	"book/ledger":       {"book/merchants", "book/bookings"},
	"book/fixings":      {"book/merchants"},
	"book/limits":       {"book/merchants", "book/ledger", "book/fixings"},
	"book/rates":        {"book/merchants", "book/ledger", "book/fixings", "book/limits"},
	"book/statements":   {"book/merchants", "book/bookings", "book/ledger"},
	"book/paper":        {"book/statements", "book/insolvencies", "book/claims", "book/certificates", "book/disputes"},
	"book/payments":     {"book/merchants", "book/bookings", "book/ledger", "book/fixings", "book/limits", "book/statements"},
	"book/onboarding":   {"book/merchants", "book/bookings", "book/limits", "book/payments"},
	"book/intake":       {"book/merchants", "book/bookings", "book/limits", "book/payments"},
	"book/disputes":     {"book/merchants", "book/bookings", "book/ledger", "book/fixings", "book/limits", "book/payments", "book/disputefile", "book/insolvencies"},
	"book/pspevents":    {"book/merchants", "book/payments", "book/disputes"},
	"book/checkout":     {"book/merchants", "book/bookings", "book/payments", "book/intake"},
	"book/underwriting": {"book/merchants"},
	"book/certificates": {"book/merchants", "book/bookings", "book/ledger"},
	"book/imports":      {"book/merchants", "book/bookings", "book/ledger", "book/payments", "book/disputes"},
	"book/insolvencies": {"book/merchants", "book/bookings", "book/ledger", "book/limits", "book/payments"},
	"book/claims":       {"book/merchants", "book/bookings", "book/ledger", "book/certificates", "book/payments", "book/fixings", "book/disputes", "book/insolvencies"},
	"book/paymentfile":  {"book/imports"},

	"account/tokens":   {"account/people"},
	"account/sessions": {"account/people", "account/tokens", "account/credentials"},

	"notify/mail":      {"notify/webhooks"},
	"notify/schedules": {"notify/mail"},
	"notify/links":     {"notify/mail"},

	"ops/verify": {"ops/factchain"},

	"api":         {"api/input", "api/view", "api/reports"},
	"api/reports": {"api/input", "api/view"},
	"api/view":    {"api/input"},

	"web":            {"web/*"},
	"web/kit":        {"web/chart"},
	"web/choices":    {"web/kit"},
	"web/people":     pages,
	"web/trade":      pages,
	"web/channels":   pages,
	"web/developers": pages,
	"web/exposure":   pages,
	"web/failures":   pages,
	"web/disputes":   pages,
	"web/settings":   pages,
	"web/statements": pages,
	"web/office":     pages,
	"web/dashboard":  {"web/*"},

	"testkit/*": {"testkit/*"},
}

// pages are the imports of a dashboard section.
var pages = []string{"web/kit", "web/chart", "web/choices"}

// narrow are the packages that import less of the groups below than allowed, with their imports.
var narrow = map[string][]string{
	// Libraries only know amounts and days.
	"lib/*": {"errs", "domain/money", "domain/civil"},
	// Processors are called over the network. The sandbox is in the program, and stores its charges in the database.
	"psp":           {"errs", "domain/*", "lib/*"},
	"psp/stripe":    {"errs", "domain/*", "lib/*"},
	"psp/tokenizer": {"errs", "domain/*", "lib/*"},
	// Files are parsed without the book.
	"book/disputefile": {"errs", "domain/*", "lib/*"},
	// Charts only need numbers.
	"web/chart": {"domain/*", "lib/*"},
	"web/kit":   {"errs", "domain/*", "lib/*", "store", "platform/health", "account/*"},
}

// outside are the packages outside internal, and their imports.
var outside = map[string][]string{
	"docs":             {},
	"client":           {}, // for other programs: it is independent
	"cmd/*":            {"*", "*/*", "*/*/*", "*/*/*/*"},
	"bench":            {"bench/book", "internal/*", "internal/*/*"},
	"bench/book":       {"internal/*", "internal/*/*"},
	"bench/pocketbase": {},
	"scripts/*":        {"internal/domain/money"},
	".":                {}, // the root only has these rules
}

// groupOf returns the place of a package of internal in the order of groups, or -1.
func groupOf(pkg string) int {
	name, _, _ := strings.Cut(strings.TrimPrefix(pkg, "internal/"), "/")
	return slices.IndexFunc(groups, func(g []string) bool { return slices.Contains(g, name) })
}

// mayImport reports whether a package of ours imports another one of ours, outside its tests.
func mayImport(pkg, other string) bool {
	own, inside := strings.CutPrefix(pkg, "internal/")
	target, targetInside := strings.CutPrefix(other, "internal/")
	switch {
	case !inside:
		return matches(other, targetsOf(outside, pkg))
	case !targetInside:
		return other == "docs" && groupOf(pkg) >= groupOf("api") || other == "client" && strings.HasPrefix(own, "web/") ||
			other == "client" && own == "cli" || strings.HasPrefix(own, "testkit/")
	case own == target:
		return true
	}
	if only, ok := narrow[own]; ok && groupOf(pkg) != groupOf(other) {
		return matches(target, only)
	}
	if strings.HasPrefix(own, "lib/") {
		return matches(target, narrow["lib/*"]) || matches(target, targetsOf(within, own))
	}
	if matches(target, targetsOf(within, own)) {
		return true
	}
	at, to := groupOf(pkg), groupOf(other)
	return to >= 0 && to < at
}

// targetsOf returns the line of a table for a package. An exact line takes precedence over a pattern.
func targetsOf(table map[string][]string, pkg string) []string {
	if targets, ok := table[pkg]; ok {
		return targets
	}
	for pattern, targets := range table {
		if matches(pkg, []string{pattern}) {
			return targets
		}
	}
	return nil
}

// owners are the packages that own tables, from the bottom up. A name that ends in _ is a prefix.
var owners = []struct {
	pkg  string
	owns []string
}{
	{"psp/sandbox", []string{"sandbox_charges"}},
	{"platform/sites", []string{"sites", "site_places", "site_versions", "rate_versions", "site_names", "clock_moves"}},
	{"platform/audit", []string{"audit_"}},
	{"platform/leases", []string{"jobs"}},
	{"platform/secrets", []string{"sealed_columns"}},
	{"platform/health", []string{"write_tries"}},
	{"platform/idempotency", []string{"idempotency_keys", "last_states"}},
	{"platform/approvals", []string{"proposals"}},
	{"platform/events", []string{"events", "event_"}},
	{"book/merchants", []string{"channels", "channel_", "suppliers", "policies", "rate_card_lines", "contracts"}},
	{"book/bookings", []string{"bookings", "booking_suppliers"}},
	{"book/ledger", []string{
		"allocations", "allocation_terms", "allocation_events", "premium_lines", "booking_totals", "collateral", "exposure_",
	}},
	{"book/limits", []string{"limits", "limit_", "over_limits"}},
	{"book/fixings", []string{"fixings"}},
	{"book/statements", []string{"statements", "statement_"}},
	{"book/payments", []string{"transactions", "payments", "gateway_charges", "modal_payments", "processor_events"}},
	{"book/disputes", []string{"disputes", "dispute_"}},
	{"book/pspevents", []string{"processor_notices"}},
	{"book/checkout", []string{"modal_sessions"}},
	{"book/underwriting", []string{"protection_"}},
	{"book/certificates", []string{"certificates", "traveller_notes"}},
	{"book/imports", []string{"imports", "import_"}},
	{"book/insolvencies", []string{"insolvencies", "insolvency_"}},
	{"book/claims", []string{"claims", "claim_", "payouts", "payout_", "recoveries"}},
	{"account/people", []string{"users", "memberships", "recovery_codes", "password_"}},
	{"account/tokens", []string{"api_tokens", "token_uses"}},
	{"account/sessions", []string{"jwt_keys", "login_attempts", "refresh_families", "sign_ins"}},
	{"notify/webhooks", []string{"webhook_"}},
	{"notify/mail", []string{"mails", "mail_"}},
	{"notify/schedules", []string{"schedules", "schedule_"}},
	{"ops/factchain", []string{"fact_"}},
	{"ops/verify", []string{"verify_"}},
}

// isRoom reports whether a package has SQL next to its use cases, or is the store below them.
func isRoom(pkg string) bool {
	at := groupOf(pkg)
	return strings.HasPrefix(pkg, "internal/") && at >= groupOf("internal/store") && at < groupOf("internal/app")
}

func sqlText(s source) []string {
	if s.test || isRoom(s.pkg) || matches(s.pkg, []string{"internal/testkit/*", "bench", "bench/*", "cmd/torture"}) {
		return nil
	}
	var found []string
	for _, literal := range texts(s) {
		if statement.MatchString(literal.text) {
			found = append(found, s.at(literal.node, "SQL stands in the rooms only"))
		}
	}
	return found
}

// text is a string in the source.
type text struct {
	node ast.Node
	text string
}

func texts(s source) []text {
	var list []text
	for node := range ast.Preorder(s.file) {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		if t, err := strconv.Unquote(literal.Value); err == nil {
			list = append(list, text{literal, t})
		}
	}
	return list
}

// writing finds the tables that a statement writes.
var writing = regexp.MustCompile(`(?i)\b(?:insert\s+into|delete\s+from|update)\s+([a-z_]+)`)

// writingCalls are the methods of store.Tx that write to the table named by their first argument.
var writingCalls = []string{"Insert", "UpdateRows"}

// tableOwners finds statements that write a table outside the room that owns it. Tests may: they break things on
// purpose.
func tableOwners(s source) []string {
	if s.test || !isRoom(s.pkg) {
		return nil
	}
	var found []string
	check := func(node ast.Node, table string) {
		if owner := ownerOf(table); owner != "" && owner != s.pkg {
			found = append(found, s.at(node, "the table %s is written here, and it belongs to %s", table, owner))
		}
	}
	for _, literal := range texts(s) {
		for _, m := range writing.FindAllStringSubmatch(literal.text, -1) {
			check(literal.node, strings.ToLower(m[1]))
		}
	}
	for node := range ast.Preorder(s.file) {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			continue
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains(writingCalls, selector.Sel.Name) {
			continue
		}
		if literal, ok := call.Args[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if table, err := strconv.Unquote(literal.Value); err == nil {
				check(call, table)
			}
		}
	}
	return found
}

// reading finds the tables that a statement reads.
var reading = regexp.MustCompile(`(?i)\b(?:from|join)\s+([a-z_]+)`)

// tableReaders finds statements that read a table of a room that theirs may not import: a lower room does not know the
// isRoom above.
func tableReaders(s source) []string {
	if s.test || !isRoom(s.pkg) {
		return nil
	}
	var found []string
	for _, literal := range texts(s) {
		for _, m := range reading.FindAllStringSubmatch(literal.text, -1) {
			table := strings.ToLower(m[1])
			owner := ownerOf(table)
			if owner != "" && owner != s.pkg && !mayImport(s.pkg, owner) {
				found = append(found, s.at(literal.node, "the table %s of %s is read here, and %s may not know it", table, owner, s.pkg))
			}
		}
	}
	return found
}

// ownerOf returns the room that owns a table, or "": the longest match counts.
func ownerOf(table string) string {
	owner, longest := "", ""
	for _, r := range owners {
		for _, name := range r.owns {
			fits := name == table || strings.HasSuffix(name, "_") && strings.HasPrefix(table, name)
			if fits && len(name) > len(longest) {
				owner, longest = "internal/"+r.pkg, name
			}
		}
	}
	return owner
}

// exportedNames is the maximum number of exported top-level names of a package, without methods. Packages of domain may
// have more, because the field has many terms.
const exportedNames, exportedDomain = 60, 120

// exportCounts finds packages that export too many names. Generated code is exempt.
func exportCounts(sources []source) []string {
	counts := map[string]int{}
	for _, s := range sources {
		if s.test || !strings.HasPrefix(s.pkg, "internal/") || ast.IsGenerated(s.file) {
			continue
		}
		for _, decl := range s.file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil && decl.Name.IsExported() {
					counts[s.pkg]++
				}
			case *ast.GenDecl:
				counts[s.pkg] += exportedIn(decl)
			}
		}
	}
	var found []string
	for pkg, n := range counts {
		most := exportedNames
		if strings.HasPrefix(pkg, "internal/domain/") {
			most = exportedDomain
		}
		if n > most {
			found = append(found, fmt.Sprintf("%s exports %d names, at most %d are allowed", pkg, n, most))
		}
	}
	slices.Sort(found)
	return found
}

// exportedIn counts the exported names of a declaration.
func exportedIn(decl *ast.GenDecl) (n int) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				n++
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() {
					n++
				}
			}
		}
	}
	return n
}

// addresses maps each part of the dashboard's URLs to its package: the segment after /dashboard or, for pages of a
// site, /dashboard/sites/{site}. "" is the page without such a segment.
var addresses = map[string][]string{
	"web/trade":      {"", "bookings", "imports", "payments", "search"},
	"web/channels":   {"channels", "suppliers"},
	"web/exposure":   {"exposure"},
	"web/statements": {"statements"},
	"web/developers": {"developers"},
	"web/failures":   {"claims", "insolvencies", "payouts", "recoveries"},
	"web/disputes":   {"dispute-files", "disputes"},
	"web/settings":   {"settings"},
	"web/people":     {"", "account", "forgotten", "password", "people", "prove", "sign-in", "sign-out"},
	"web/office":     {"approvals", "asked", "jobs", "new-site", "receivables", "reports", "sites", "system", "verify"},
}

// pagePattern is the pattern of a dashboard page, or the beginning of one.
var pagePattern = regexp.MustCompile(`^(?:GET|POST) (?:/([a-z-]*))?`)

// pageAddresses finds dashboard pages in the wrong package.
func pageAddresses(s source) []string {
	own, section := addresses[strings.TrimPrefix(s.pkg, "internal/")]
	if s.test || !section {
		return nil
	}
	var found []string
	for _, literal := range texts(s) {
		if m := pagePattern.FindStringSubmatch(literal.text); m != nil && !slices.Contains(own, m[1]) {
			found = append(found, s.at(literal.node, "the page %s does not belong to %s", literal.text, s.pkg))
		}
	}
	return found
}
