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

// The limits of rooms and types.
const (
	roomLines = 3500
	methods   = 30
)

// words are plain values and their rules: no input, no output, no SQL.
var words = []string{
	"internal/money", "internal/fault", "internal/civil", "internal/fx", "internal/travel", "internal/protection",
	"internal/exposure", "internal/estimate",
	"internal/auth", "internal/psp", "internal/texts", "internal/qr",
}

// room is a package of internal that holds one capability, its use cases and its own SQL.
type room struct {
	name  string
	above []string // the rooms that it may import, besides db, core and the words
	owns  []string // the tables that it alone writes; a name that ends in _ stands for all that begin so
}

// rooms are all of them, from the ground up.
var rooms = []room{
	{"core", nil, []string{
		"sites", "site_versions", "site_names", "clock_moves", "audit_", "proposals", "idempotency_keys", "sealed_columns", "jobs", "write_tries",
	}},
	{"events", nil, []string{"events", "event_"}},
	{"webhooks", []string{"events"}, []string{"webhook_"}},
	{"merchants", []string{"events"}, []string{
		"channels", "channel_", "suppliers", "policies", "rate_card_lines", "contracts",
	}},
	{"identity", []string{"merchants", "loginline"}, []string{
		"users", "memberships", "recovery_codes", "api_tokens", "jwt_keys", "login_attempts", "refresh_families", "sign_ins", "password_",
	}},
	{"bookings", []string{"events", "merchants"}, []string{"bookings", "booking_suppliers"}},
	{"ledger", []string{"events", "merchants", "bookings"}, []string{
		"allocations", "allocation_terms", "allocation_events", "premium_lines", "booking_totals", "collateral", "exposure_",
	}},
	{"limits", []string{"events", "merchants", "ledger"}, []string{"limits", "limit_", "over_limits"}},
	{"rates", []string{"merchants", "ledger", "limits"}, []string{"fixings"}},
	{"statements", []string{"events", "merchants", "bookings", "ledger"}, []string{"statements", "statement_"}},
	{"payments", []string{"events", "merchants", "bookings", "ledger", "rates", "limits", "statements"}, []string{
		"transactions", "payments", "gateway_charges", "disputes", "modal_payments",
	}},
	{"processors", []string{"merchants", "payments"}, []string{"processor_notices", "processor_events", "sandbox_charges"}},
	{"checkout", []string{"merchants", "bookings", "payments"}, []string{"modal_sessions"}},
	{"underwriting", []string{"events", "merchants"}, []string{"protection_"}},
	{"certificates", []string{"merchants", "bookings", "ledger"}, []string{"certificates"}},
	{"mail", []string{"merchants", "identity", "bookings", "ledger", "payments", "events", "underwriting", "webhooks"}, []string{"mails", "mail_"}},
	{"standing", []string{"identity", "mail"}, []string{"standing_"}},
	{"backup", []string{"events", "mail", "standing", "webhooks", "sqlitefile", "catalog"}, nil},
	{"takeover", []string{"merchants", "bookings", "payments", "beside"}, []string{"imports", "import_"}},
	{"reports", []string{
		"merchants", "identity", "bookings", "ledger", "rates", "limits", "statements", "payments",
	}, nil},
	{"seals", []string{
		"merchants", "bookings", "ledger", "rates", "limits", "statements", "payments",
	}, []string{"fact_"}},
	{"verify", []string{
		"events", "merchants", "identity", "bookings", "ledger", "rates", "limits", "statements", "payments", "processors",
		"checkout", "certificates", "seals", "webhooks",
	}, []string{"verify_"}},
}

// arrows says which packages of ours a package may import, outside its tests. A package that is not here is not part of
// the architecture yet.
var arrows = withRooms(map[string][]string{
	"internal/money":        {"internal/civil"},
	"internal/fault":        {},
	"internal/civil":        {},
	"internal/fx":           {"internal/money", "internal/fault", "internal/civil"},
	"internal/travel":       {"internal/money", "internal/fault", "internal/civil"},
	"internal/protection":   {"internal/money", "internal/fault", "internal/civil", "internal/fx", "internal/travel"},
	"internal/exposure":     {"internal/money", "internal/fault", "internal/civil", "internal/fx", "internal/travel", "internal/protection"},
	"internal/estimate":     {"internal/money", "internal/fault", "internal/civil", "internal/fx", "internal/travel", "internal/protection", "internal/exposure"},
	"internal/auth":         {"internal/fault", "internal/civil"},
	"internal/psp":          {"internal/money", "internal/fault"},
	"internal/texts":        {"internal/money", "internal/civil"},
	"internal/qr":           {},
	"internal/psp/*":        {"internal/money", "internal/fault", "internal/psp", "internal/psp/tokenizer"},
	"internal/digest":       {},
	"internal/sqltext":      {},
	"internal/sqlitecache":  {},
	"internal/sqlitefile":   {},
	"internal/sqlitelog":    {},
	"internal/postgrestx":   {},
	"internal/sqliteplan":   {},
	"internal/sqliteschema": {},
	"internal/sqlitetx":     {"internal/again"},
	"internal/beside":       {},
	"internal/lane":         {"internal/fault"},
	"internal/loginline":    {"internal/fault"},
	"internal/crew":         {},
	"internal/schemasteps":  {},
	"internal/catalog":      {},
	"internal/db": and(words, "internal/sqlitecache", "internal/sqlitefile", "internal/postgrestx", "internal/sqlitelog", "internal/sqliteplan", "internal/sqliteschema", "internal/sqlitetx", "internal/schemasteps", "internal/beside", "internal/crew", "internal/lane", "internal/catalog",
		"internal/sqltext"),
	"internal/lists": and(words, "internal/db", "internal/sqltext"),
	"internal/app":   and(words, allRooms()...),
	"internal/paymentfile": {
		"internal/money", "internal/fault", "internal/civil", "internal/travel",
	},
	"internal/pdf": {"internal/fault"},
	"internal/paper": {
		"internal/money", "internal/civil", "internal/travel", "internal/protection", "internal/texts", "internal/pdf",
	},
	// The doors import the rooms that they serve, and none speaks to the database itself.
	"internal/api":        and(words, and(roomsWithoutDB(), "internal/app", "internal/pdf", "internal/paper", "internal/paymentfile", "docs", "internal/api/*")...),
	"internal/api/wire":   words,
	"internal/api/shapes": and(words, and(roomsWithoutDB(), "internal/paymentfile", "internal/api/wire")...),
	"internal/web":        and(words, and(roomsWithoutDB(), "internal/app", "docs", "internal/web/*")...),
	"internal/web/*":      and(words, and(roomsWithoutDB(), "internal/app", "docs", "client")...),
	// Charts are made of numbers alone: whoever has the numbers draws.
	"internal/web/chart": words,
	// The dashboard: a frame that knows no business, packages of pages, and what puts them together.
	"internal/web/shell":      and(words, "internal/identity", "internal/web/chart"),
	"internal/web/choices":    and(words, "internal/app", "internal/web/shell"),
	"internal/web/people":     dashboardPages,
	"internal/web/trade":      dashboardPages,
	"internal/web/channels":   dashboardPages,
	"internal/web/developers": dashboardPages,
	"internal/web/analyst":    dashboardPages,
	"internal/web/terms":      dashboardPages,
	"internal/web/office":     dashboardPages,
	"internal/web/dashboard":  {"internal/app", "internal/auth", "internal/web/*"},
	"internal/jobs":           and(words, and(roomsWithoutDB(), "internal/app", "internal/paymentfile")...),
	"internal/demo":           and(words, and(roomsWithoutDB(), "internal/app", "internal/paymentfile")...),
	// What tests stand on.
	"internal/pgtest":      {},
	"internal/dbtest":      and(words, and(allRooms(), "internal/pgtest")...),
	"internal/apptest":     and(words, and(allRooms(), "internal/app", "internal/dbtest", "internal/psp/*")...),
	"internal/browsertest": {},
	"internal/web/webtest": {"internal/apptest", "internal/dbtest", "internal/auth", "internal/travel", "internal/web/*"},
	"docs":                 {},
	// For others' programs: it stands by itself.
	"client": {},
	// The program wires everything.
	"cmd/*": {"*", "*/*", "*/*/*"},
	// What measures the program is no part of it.
	"bench":            {"bench/book", "internal/*"},
	"bench/book":       {"internal/*"},
	"bench/pocketbase": {},
	"scripts/*":        {"internal/money"},
	// The root holds these rules and nothing else.
	".": {},
})

// dashboardPages is what a package of pages of the dashboard may import.
var dashboardPages = and(words, and(roomsWithoutDB(), "internal/app", "internal/pdf", "internal/paper", "internal/paymentfile", "internal/web/shell",
	"internal/web/chart", "internal/web/choices")...)

// roomsWithoutDB are the packages of all rooms; allRooms has db besides.
func roomsWithoutDB() []string {
	var list []string
	for _, r := range rooms {
		list = append(list, "internal/"+r.name)
	}
	return list
}

func allRooms() []string { return append(roomsWithoutDB(), "internal/db") }

// roomsWithoutDoors are the packages in which amounts go through SQL.
func roomsWithoutDoors() []string { return allRooms() }

// withRooms adds the rooms to the table.
func withRooms(table map[string][]string) map[string][]string {
	for _, r := range rooms {
		below := and(words, "internal/db", "internal/digest", "internal/sqltext", "internal/lists")
		if r.name != "core" {
			below = append(below, "internal/core")
		}
		for _, name := range r.above {
			below = append(below, "internal/"+name)
		}
		table["internal/"+r.name] = below
	}
	return table
}

// writesSQL are the packages in which SQL may stand: the rooms, the ground, and what is no part of the program.
var writesSQL = and(allRooms(), "internal/lists", "internal/sqltext", "internal/postgrestx", "internal/sqlitelog", "internal/sqliteplan", "internal/sqliteschema", "internal/sqlitetx", "internal/dbtest", "internal/pgtest", "bench", "bench/*", "cmd/torture")

func sqlText(s source) []string {
	if s.test || matches(s.pkg, writesSQL) {
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

// writingCalls are the functions of db that write the table that their first argument names.
var writingCalls = []string{"InsertRows", "Remove"}

// tableOwners finds statements that write a table outside the room that owns it. Tests may: they break things on
// purpose.
func tableOwners(s source) []string {
	if s.test || !matches(s.pkg, allRooms()) {
		return nil
	}
	var found []string
	check := func(node ast.Node, table string) {
		if owner := ownerOf(table); owner != "" && "internal/"+owner != s.pkg {
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

// tableReaders finds statements that read a table of a room that theirs may not import: a room below does not know
// those above.
func tableReaders(s source) []string {
	if s.test || !matches(s.pkg, allRooms()) {
		return nil
	}
	var found []string
	for _, literal := range texts(s) {
		for _, m := range reading.FindAllStringSubmatch(literal.text, -1) {
			table := strings.ToLower(m[1])
			owner := "internal/" + ownerOf(table)
			if owner != "internal/" && owner != s.pkg && !slices.Contains(arrows[s.pkg], owner) {
				found = append(found, s.at(literal.node, "the table %s of %s is read here, and %s may not know it", table, owner, s.pkg))
			}
		}
	}
	return found
}

// ownerOf names the room that owns a table, or nothing where none does: the longest name that fits counts.
func ownerOf(table string) string {
	owner, longest := "", ""
	for _, r := range rooms {
		for _, name := range r.owns {
			fits := name == table || strings.HasSuffix(name, "_") && strings.HasPrefix(table, name)
			if fits && len(name) > len(longest) {
				owner, longest = r.name, name
			}
		}
	}
	return owner
}

// roomSizes finds rooms that want to be cut: their tests do not count.
func roomSizes(sources []source) []string {
	lines := map[string]int{}
	for _, s := range sources {
		if !s.test && matches(s.pkg, allRooms()) {
			lines[s.pkg] += s.tokens.File(s.file.Pos()).LineCount()
		}
	}
	var found []string
	for pkg, n := range lines {
		if n > roomLines {
			found = append(found, fmt.Sprintf("%s has %d lines, at most %d are allowed", pkg, n, roomLines))
		}
	}
	slices.Sort(found)
	return found
}

// methodCounts finds types with more exported methods than a reader can hold.
func methodCounts(sources []source) []string {
	counts := map[string]int{}
	for _, s := range sources {
		if s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() {
				continue
			}
			for node := range ast.Preorder(f.Recv.List[0].Type) {
				if name, ok := node.(*ast.Ident); ok {
					counts[s.pkg+"."+name.Name]++
					break
				}
			}
		}
	}
	var found []string
	for name, n := range counts {
		if n > methods {
			found = append(found, fmt.Sprintf("%s has %d exported methods, at most %d are allowed", name, n, methods))
		}
	}
	slices.Sort(found)
	return found
}
