package holdfast_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"holdfast/internal/store"
)

// Why a statement may span several sites. docs/scale.md explains what that means for a database distributed by site.
const (
	aJob      = "a job looks for its work at all sites, and then works at one at a time"
	aKey      = "a random key, an address or an id finds the site: nothing else is known yet"
	tidying   = "a job looks for the sites with rows that are old, and then removes some at one site at a time"
	aPerson   = "what one person may do is read over all their sites"
	aSite     = "a new site goes to the node with the fewest sites"
	operators = "only operators see it: a list over all sites"
	whole     = "a whole database is backed up, restored or checked"
)

// acrossSites are the functions whose statements span several sites, or find a row before its site is known.
var acrossSites = map[string]string{
	"internal/platform/sites.IDAt":                 aKey,
	"internal/platform/sites.siteClocks":           aJob,
	"internal/platform/sites.Older":                tidying,
	"internal/book/statements.sitesDue":            aJob,
	"internal/ops/factchain.sitesUnsealed":         aJob,
	"internal/book/imports.nextFile":               aJob,
	"internal/book/disputes.nextUpload":            aJob,
	"internal/book/payments.PollsDue":              aJob,
	"internal/platform/events.endsOf":              aJob,
	"internal/platform/events.sitesToForget":       aJob,
	"internal/platform/events.sitesUnplaced":       aJob,
	"internal/book/ledger.SitesToFold":             aJob,
	"internal/book/ledger.SitesWithPendingRates":   aJob,
	"internal/book/insolvencies.sitesToWork":       aJob,
	"internal/book/limits.NoteRates":               aJob,
	"internal/book/limits.booksDue":                aJob,
	"internal/book/limits.unseenChanges":           aJob,
	"internal/book/limits.openReviews":             aJob,
	"internal/notify/mail.sitesBehind":             aJob,
	"internal/notify/mail.sitesDue":                aJob,
	"internal/notify/mail.triedSince":              aJob,
	"internal/book/payments.gatewayChargesDue":     aJob,
	"internal/book/payments.readAuthorisationsDue": aJob,
	"internal/book/pspevents.noticesDue":           aJob,
	"internal/notify/schedules.dueSchedule":        aJob,
	"internal/book/imports.filesWait":              aJob,
	"internal/notify/webhooks.dueEndpoints":        aJob,

	"internal/book/merchants.siteWhere": aKey,
	"internal/platform/sites.Insert":    aSite,

	"internal/platform/approvals.inboxPage":   operators,
	"internal/notify/mail.placeOf":            operators,
	"internal/book/merchants.modesOfChannels": operators,
	"internal/report.System.Report":           operators,
	"internal/book/statements.receivables":    operators,
	"internal/book/underwriting.inStates":     operators,

	"internal/ops/backup.chains":             whole,
	"internal/platform/idempotency.Restored": whole,
	"internal/platform/sites.Restored":       whole,
	"internal/platform/events.Restored":      whole,
	"internal/notify/mail.Restored":          whole,
	"internal/notify/schedules.Restored":     whole,
	"internal/ops/verify.Verify.sitesOf":     whole,
	"internal/notify/webhooks.Restored":      whole,
}

// lacking are the features of PostgreSQL that Citus, YugabyteDB or CockroachDB lack or handle badly, or that a
// transaction pooler (PgBouncer) breaks. No statement of a room and no migration uses one.
var lacking = []struct {
	what string
	text *regexp.Regexp
}{
	{"LISTEN and NOTIFY", regexp.MustCompile(`(?i)^\s*(un)?listen\s|^\s*notify\s|\bpg_notify\b`)},
	{"an advisory lock", regexp.MustCompile(`(?i)\bpg_(try_)?advisory_`)},
	{"a temporary table", regexp.MustCompile(`(?i)\bcreate\s+(unlogged|temp|temporary|global\s+temp\w*)\s+table\b`)},
	{"a trigger, a rule or a function in the database", regexp.MustCompile(`(?i)\bcreate\s+(or\s+replace\s+)?(constraint\s+)?(trigger|rule|function|procedure)\b|^\s*do\s+\$`)},
	{"a materialized view", regexp.MustCompile(`(?i)\bmaterialized\s+view\b`)},
	{"a constraint that waits", regexp.MustCompile(`(?i)\bdeferrable\b`)},
	{"an exclusion constraint", regexp.MustCompile(`(?i)\bexclude\s+using\b`)},
	{"inheritance of tables", regexp.MustCompile(`(?i)\binherits\s*\(`)},
	// All of them support FOR NO KEY UPDATE if a statement names one site.
	{"a lock of rows by SELECT", regexp.MustCompile(`(?i)\bfor\s+(update|share|key\s+share)\b|\bskip\s+locked\b|\bnowait\b`)},
	{"a lock of a table", regexp.MustCompile(`(?i)^\s*lock\s+(table\s+)?\w+(\s+in\b|$)`)},
	{"a CTE that writes", regexp.MustCompile(`(?is)\bas\s+(not\s+)?(materialized\s+)?\(\s*(insert\s+into|update\s+\w+\s+set|delete\s+from)\b`)},
	{"large objects", regexp.MustCompile(`(?i)\blo_(import|export|create|put|get|open)\b`)},
	{"a system column", regexp.MustCompile(`(?i)\b(\w+\.)?(ctid|xmin|xmax|cmin|cmax|tableoid)\b`)},
	{"a cursor", regexp.MustCompile(`(?i)^\s*declare\s+\w+.*\bcursor\b`)},
	{"TABLESAMPLE", regexp.MustCompile(`(?i)\btablesample\b`)},
	{"MERGE", regexp.MustCompile(`(?i)^\s*merge\s+into\b`)},
	{"GROUPING SETS", regexp.MustCompile(`(?i)\bgrouping\s+sets\b|\b(rollup|cube)\s*\(`)},
	{"a setting of the session", regexp.MustCompile(`^\s*SET\s+(SESSION\s+)?[a-z_%]+\s*(=|TO)`)},
	{"a counter that is read by hand", regexp.MustCompile(`(?i)\b(nextval|currval|lastval|setval)\s*\(`)},
	{"another site for a row", regexp.MustCompile(`(?is)\bupdate\s+\w+\s+set\s+([^()]*,\s*)?site_id\s*=`)},
}

// outsideRooms are the uses of such features outside the rooms, each with its reason: the file and the feature.
var outsideRooms = map[string]string{
	"internal/store/postgres.go: an advisory lock": "migrations and idempotency keys take locks that end with the transaction. A pooler keeps " +
		"them; Citus takes them on the coordinator; newer YugabyteDB has them; CockroachDB has none",
	"internal/store/postgres.go: a counter that is read by hand":  "a write draws ids before it inserts their rows, and a restored database goes on counting; docs/scale.md says what that needs",
	"internal/testkit/pgtest/pgtest.go: a setting of the session": "tests only",
}

// lackingParts finds them in the SQL of the rooms and of the store.
func lackingParts(s source) (found []string) {
	if s.test || !isRoom(s.pkg) {
		return nil
	}
	for _, literal := range texts(s) {
		for _, l := range lacking {
			if l.text.MatchString(literal.text) && outsideRooms[s.path+": "+l.what] == "" {
				found = append(found, s.at(literal.node, "%s: distributed databases lack it, or do it badly", l.what))
			}
		}
		for _, m := range onConflict.FindAllStringSubmatch(literal.text, -1) {
			if siteColumn()[strings.ToLower(m[1])] == "site_id" && !strings.HasPrefix(strings.TrimSpace(m[2]), "site_id") {
				found = append(found, s.at(literal.node, "ON CONFLICT of %s does not begin with the site", m[1]))
			}
		}
		for _, m := range insertInto.FindAllStringSubmatch(literal.text, -1) {
			if slices.Contains(withIDs(), strings.ToLower(m[1])) && !slices.Contains(strings.FieldsFunc(m[2], notInNames), "id") {
				found = append(found, s.at(literal.node, "a row of %s without an id: allocate one with Tx.NextID, a cluster has no sequences", m[1]))
			}
		}
	}
	return found
}

var onConflict = regexp.MustCompile(`(?is)insert\s+into\s+(\w+).*?\bon\s+conflict\s*\(([^()]*)\)`)

// insertInto finds the columns that a statement inserts.
var insertInto = regexp.MustCompile(`(?is)insert\s+into\s+(\w+)\s*\(([^()]*)\)`)

func notInNames(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// withIDs are the tables of the schema whose rows have an allocated id.
var withIDs = sync.OnceValue(func() (list []string) {
	for _, table := range createTable.FindAllStringSubmatch(migrated(), -1) {
		if strings.Contains(table[2], "{{serial}}") {
			list = append(list, table[1])
		}
	}
	return list
})

// foreignKey finds the references of a table, and their columns.
var (
	createTable = regexp.MustCompile(`(?s)CREATE TABLE (\w+) \((.*?)\n\);`)
	foreignKey  = regexp.MustCompile(`FOREIGN KEY \(([^()]*)\) REFERENCES (\w+)|(?m)^\s*([a-z_]+)\s[^\n]*?\bREFERENCES (\w+)`)
	comment     = regexp.MustCompile(`(?m)--.*$`)
)

// schemaParts finds in the text of migrations what a distributed database could not have: the features above, and
// references between sites.
func schemaParts(text string) (found []string) {
	text = comment.ReplaceAllString(text, "")
	for _, l := range lacking {
		for statement := range strings.SplitSeq(text, ";\n") {
			if l.text.MatchString(statement) {
				found = append(found, fmt.Sprintf("a migration uses %s: %s", l.what, strings.Join(strings.Fields(statement), " ")))
			}
		}
	}
	for _, table := range createTable.FindAllStringSubmatch(text, -1) {
		for _, m := range foreignKey.FindAllStringSubmatch(table[2], -1) {
			columns, parent := m[1]+m[3], m[2]+m[4]
			of := strings.HasPrefix(strings.TrimSpace(table[2]), "site_id")
			switch {
			case !of && siteColumn()[parent] != "":
				found = append(found, fmt.Sprintf("%s belongs to no site and refers to %s, which does", table[1], parent))
			case of && siteColumn()[parent] != "" && !strings.HasPrefix(columns, "site_id"):
				found = append(found, fmt.Sprintf("%s refers to %s by %s: the site does not come first", table[1], parent, columns))
			}
		}
	}
	return found
}

func TestSchemaFitsASpreadDatabase(t *testing.T) {
	for _, finding := range schemaParts(migrated()) {
		t.Error(finding)
	}
	broken := []string{
		"CREATE TABLE people (\n    id BIGINT NOT NULL,\n    site BIGINT REFERENCES sites (id),\n);\n",
		"CREATE TABLE trips (\n    site_id BIGINT NOT NULL,\n    booking BIGINT REFERENCES bookings (id),\n);\n",
		"CREATE TABLE trips (\n    site_id BIGINT NOT NULL,\n    id BIGINT,\n    FOREIGN KEY (id) REFERENCES bookings (id)\n);\n",
		"CREATE TRIGGER t AFTER INSERT ON bookings EXECUTE FUNCTION f();\n",
	}
	for _, text := range broken {
		if len(schemaParts(text)) != 1 {
			t.Errorf("%q: %q was found", text, schemaParts(text))
		}
	}
}

// migrated are the texts of all migrations, in order.
func migrated() (text string) {
	names, err := filepath.Glob("internal/store/migrations/*.sql") // sorted
	if err != nil || len(names) == 0 {
		panic(fmt.Sprint("the migrations are not found: ", err))
	}
	for _, name := range names {
		step, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		text += string(step)
	}
	return text
}

// siteColumn returns the column with the site of a row, for each table of sites.
var siteColumn = sync.OnceValue(func() map[string]string {
	tables := map[string]string{"sites": "id"}
	for _, table := range store.TablesOfSites {
		tables[table] = "site_id"
	}
	return tables
})

// hole replaces parts of a folded text that are only known at run time.
const hole = "…"

// folder joins SQL texts that are split up in the source.
type folder struct {
	values map[string]ast.Expr        // of the names of each package, by package and name
	funcs  map[string]*ast.FuncDecl   // by package and name
	calls  map[string][]*ast.FuncDecl // by package and name of the callee
}

func newFolder(sources []source) *folder {
	f := &folder{map[string]ast.Expr{}, map[string]*ast.FuncDecl{}, map[string][]*ast.FuncDecl{}}
	for _, s := range sources {
		if s.test || !isRoom(s.pkg) {
			continue
		}
		for _, decl := range s.file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				f.funcs[s.pkg+"."+decl.Name.Name] = decl
				for node := range ast.Preorder(decl) {
					if call, ok := node.(*ast.CallExpr); ok {
						name := s.pkg + "." + called(call)
						f.calls[name] = append(f.calls[name], decl)
					}
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
						for i, name := range v.Names {
							f.values[s.pkg+"."+name.Name] = v.Values[i]
						}
					}
				}
			}
		}
	}
	return f
}

// fold returns the text of an expression. found reports whether it has any.
func (f *folder) fold(pkg string, locals map[string]ast.Expr, x ast.Expr, depth int) (text string, found bool) {
	switch x := x.(type) {
	case *ast.BasicLit:
		if t, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return t, true
		}
	case *ast.ParenExpr:
		return f.fold(pkg, locals, x.X, depth)
	case *ast.BinaryExpr:
		a, foundA := f.fold(pkg, locals, x.X, depth)
		b, foundB := f.fold(pkg, locals, x.Y, depth)
		return a + b, x.Op == token.ADD && (foundA || foundB)
	case *ast.Ident:
		value := locals[x.Name]
		if value == nil {
			value = f.values[pkg+"."+x.Name]
		}
		if value != nil && depth < 6 {
			return f.fold(pkg, locals, value, depth+1)
		}
	case *ast.CallExpr:
		text = hole
		for _, arg := range x.Args {
			if t, ok := f.fold(pkg, locals, arg, depth); ok {
				text, found = text+t+hole, true
			}
		}
		return text, found
	}
	return hole, false
}

// namesOf are the texts that a function assigns to its variables, each once.
func namesOf(decl *ast.FuncDecl) map[string]ast.Expr {
	names := map[string]ast.Expr{}
	set := func(x ast.Expr, value ast.Expr) {
		if name, ok := x.(*ast.Ident); ok {
			if _, again := names[name.Name]; again {
				value = nil
			}
			names[name.Name] = value
		}
	}
	for node := range ast.Preorder(decl) {
		switch node := node.(type) {
		case *ast.AssignStmt:
			for i, x := range node.Lhs {
				if len(node.Rhs) == len(node.Lhs) && node.Tok == token.DEFINE {
					set(x, node.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, name := range node.Names {
				if len(node.Values) == len(node.Names) {
					set(name, node.Values[i])
				}
			}
		}
	}
	return names
}

// asked is a text of SQL in a function.
type asked struct {
	node     ast.Node
	function string // such as internal/book/merchants.Sites.Create
	text     string
	decl     *ast.FuncDecl
}

// texts returns the statements of a function, only the longest texts.
func (f *folder) statements(s source, decl *ast.FuncDecl) (list []asked) {
	locals, function := namesOf(decl), s.pkg+"."+receiver(decl)+decl.Name.Name
	ast.Inspect(decl, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			if text := f.helper(s.pkg, locals, node); text != "" {
				list = append(list, asked{node, function, text, decl})
			}
		case *ast.BinaryExpr, *ast.BasicLit:
			text, found := f.fold(s.pkg, locals, node.(ast.Expr), 0)
			if found && tableName.MatchString(text) {
				list = append(list, asked{node, function, text, decl})
			}
			return !found
		}
		return true
	})
	return list
}

// helper returns the statement that a function of the store builds from the names in a call.
func (f *folder) helper(pkg string, locals map[string]ast.Expr, call *ast.CallExpr) string {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) < 2 {
		return ""
	}
	arg := func(i int) string {
		text, _ := f.fold(pkg, locals, call.Args[i], 0)
		return text
	}
	switch selector.Sel.Name {
	case "ListPage":
		return "SELECT " + hole + " FROM " + arg(1) + " WHERE " + hole
	case "Insert":
		return "INSERT INTO " + arg(0) + " (" + arg(1) + ")"
	}
	return ""
}

// conditions returns the texts of a function and of the functions of its package that it calls: what may fill a hole.
func (f *folder) conditions(pkg string, decl *ast.FuncDecl, to *strings.Builder, depth int) {
	if depth == 0 {
		return
	}
	for node := range ast.Preorder(decl) {
		switch node := node.(type) {
		case *ast.BasicLit:
			// Conditions of one statement do not count for another.
			if t, err := strconv.Unquote(node.Value); err == nil && !statement.MatchString(t) {
				to.WriteString(" AND " + withoutSelects(t))
			}
		case *ast.CallExpr:
			if next := f.funcs[pkg+"."+called(node)]; next != nil && next != decl {
				f.conditions(pkg, next, to, depth-1)
			}
		}
	}
}

// called returns the function of a call, without its package.
func called(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// receiver returns the type of a method, with a dot; "" for a function.
func receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil {
		return ""
	}
	for node := range ast.Preorder(decl.Recv.List[0].Type) {
		if name, ok := node.(*ast.Ident); ok {
			return name.Name + "."
		}
	}
	return ""
}

// tableName finds the tables of a statement, each with its alias.
var tableName = regexp.MustCompile(`(?i)\b(?:from|join|into|update|using)\s+([a-z_]+)(?:\s+(?:as\s+)?([a-z_]+))?((?:\s*,\s*[a-z_]+\s+[a-z]{1,2}\b)*)`)

// notAlias are the words that can follow a table without being its alias.
var notAlias = []string{
	"where", "set", "on", "join", "left", "order", "group", "limit", "union", "values", "using", "as", "cross", "inner", "returning", "select",
}

// named is a table of sites in a statement, by its alias or its own name.
type named struct{ table, name, column string }

// crossSites finds the tables of sites in a text that are not bound to one site: neither by a value nor, inside another
// SELECT, by the outer row. Tables that are joined by site are bound together.
func crossSites(text, pieces string) (tables []string) {
	for _, m := range tableName.FindAllStringSubmatchIndex(text, -1) {
		scope := around(text, m[0])
		list := tablesIn(scope)
		if strings.Contains(scope, hole) || strings.HasSuffix(strings.TrimSpace(strings.ToLower(scope)), "where") {
			scope += " AND " + pieces
		}
		for _, t := range tablesIn(text[m[0]:m[1]]) {
			if !bound(scope, list, t, nil) && !slices.Contains(tables, t.table) {
				tables = append(tables, t.table)
			}
		}
	}
	return tables
}

// tablesIn finds the tables of sites in a part of a statement.
func tablesIn(scope string) (list []named) {
	for _, m := range tableName.FindAllStringSubmatch(scope, -1) {
		for _, one := range append([]string{m[1] + " " + m[2]}, strings.Split(m[3], ",")[1:]...) {
			table, alias, _ := strings.Cut(strings.ToLower(strings.TrimSpace(one)), " ")
			if alias == "" || slices.Contains(notAlias, alias) {
				alias = table
			}
			if column := siteColumn()[table]; column != "" {
				list = append(list, named{table, alias, column})
			}
		}
	}
	return list
}

var (
	equal    = regexp.MustCompile(`([\w.$?]+)\s*=\s*([\w.$?…]+)`)
	ofRow    = regexp.MustCompile(`(?i)\(([^()]*)\)\s*(?:=|in\b)`)
	inserted = regexp.MustCompile(`(?i)insert\s+into\s+(\w+)\s*\(([^()]*)\)?`)
)

// bound reports whether a part of a statement restricts one of its tables to a site.
func bound(scope string, list []named, t named, seen []named) bool {
	seen = append(seen, t)
	is := func(t named, column string) bool {
		return column == t.name+"."+t.column || len(list) < 2 && column == t.column
	}
	for _, m := range equal.FindAllStringSubmatch(scope, -1) {
		for _, other := range [][2]string{{m[1], m[2]}, {m[2], m[1]}} {
			if !is(t, other[0]) {
				continue
			}
			at := slices.IndexFunc(list, func(t named) bool { return is(t, other[1]) })
			if at < 0 || !slices.Contains(seen, list[at]) && bound(scope, list, list[at], seen) {
				return true
			}
		}
	}
	// (site_id, id) IN (SELECT …): the subquery is checked separately.
	for _, m := range ofRow.FindAllStringSubmatch(scope, -1) {
		if slices.ContainsFunc(strings.Split(m[1], ","), func(column string) bool { return is(t, strings.TrimSpace(column)) }) {
			return true
		}
	}
	for _, m := range inserted.FindAllStringSubmatch(scope, -1) {
		columns := m[2]
		if strings.Contains(columns, hole) {
			columns = scope
		}
		if strings.ToLower(m[1]) == t.table && (t.table == "sites" || hasWord(columns, t.column)) {
			return true
		}
	}
	return false
}

func hasWord(text, word string) bool { return regexp.MustCompile(`\b` + word + `\b`).MatchString(text) }

// around returns the part of a statement around a position, up to its brackets or a UNION, without nested SELECTs.
func around(text string, at int) string {
	start, depth := 0, 0
	for i := at - 1; i >= 0 && start == 0; i-- {
		switch {
		case text[i] == ')':
			depth++
		case text[i] == '(' && depth == 0:
			start = i + 1
		case text[i] == '(':
			depth--
		}
	}
	end := len(text)
	depth = 0
	for i := at; i < len(text) && end == len(text); i++ {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')' && depth == 0:
			end = i
		case text[i] == ')':
			depth--
		}
	}
	before, after := withoutSelects(text[start:at]), withoutSelects(text[at:end])
	unions := setOperation.FindAllStringIndex(before, -1)
	if len(unions) > 0 {
		before = before[unions[len(unions)-1][1]:]
	}
	if next := setOperation.FindStringIndex(after); next != nil {
		after = after[:next[0]]
	}
	return before + after
}

var (
	setOperation = regexp.MustCompile(`(?i)\b(?:union|except|intersect)\b`)
	selects      = regexp.MustCompile(`(?is)\(\s*select\b`)
)

// withoutSelects removes SELECTs in brackets from a text.
func withoutSelects(text string) string {
	for {
		from := selects.FindStringIndex(text)
		if from == nil {
			return text
		}
		end, depth := len(text), 0
		for i := from[0]; i < len(text); i++ {
			if text[i] == '(' {
				depth++
			}
			if text[i] == ')' {
				if depth--; depth == 0 {
					end = i + 1
					break
				}
			}
		}
		text = text[:from[0]] + " subselect " + text[end:]
	}
}

// unbound finds the tables of a statement that are not bound to one site. Parts that are only known at run time come
// from the function itself or, if that is not enough, from each of its callers.
func (f *folder) unbound(s source, a asked) []string {
	var own strings.Builder
	f.conditions(s.pkg, a.decl, &own, 3)
	tables := crossSites(a.text, own.String())
	callers := f.calls[s.pkg+"."+a.decl.Name.Name]
	if len(tables) == 0 || len(callers) == 0 || !strings.Contains(a.text, hole) && !strings.HasSuffix(strings.TrimSpace(a.text), "WHERE") {
		return tables
	}
	tables = nil
	for _, caller := range callers {
		var theirs strings.Builder
		f.conditions(s.pkg, caller, &theirs, 1)
		for _, table := range crossSites(a.text, own.String()+theirs.String()) {
			tables = append(tables, table+" (called by "+caller.Name.Name+")")
		}
	}
	return tables
}

// oneSite finds statements of rooms that span several sites, and exceptions that are no longer needed.
func oneSite(sources []source) (found []string) {
	f := newFolder(sources)
	packages, seen := map[string]bool{}, map[string]bool{}
	for _, s := range sources {
		if s.test || !isRoom(s.pkg) {
			continue
		}
		packages[s.pkg] = true
		for _, decl := range s.file.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, a := range f.statements(s, function) {
				for _, table := range f.unbound(s, a) {
					seen[a.function] = true
					if acrossSites[a.function] == "" {
						found = append(found, s.at(a.node, "%s: nothing says of which site the rows of %s are: %s", a.function, table,
							strings.Join(strings.Fields(a.text), " ")))
					}
				}
			}
		}
	}
	for name := range acrossSites {
		if pkg, _, _ := strings.Cut(name, "."); packages[pkg] && !seen[name] {
			found = append(found, fmt.Sprintf("%s goes over several sites no more: take it out of acrossSites", name))
		}
	}
	slices.Sort(found)
	return found
}

// asking returns a file of a room with functions around their statements.
func asking(statements ...string) string {
	text := "package bookings\n"
	for i, statement := range statements {
		text += fmt.Sprintf("\nfunc f%d(tx *store.Tx, condition string) { %s }\n", i, statement)
	}
	return text
}

var scaleCases = []broken{
	{"a statement keeps to one site", "internal/book/bookings/a.go", asking(
		"tx.QueryRow(`SELECT id FROM bookings WHERE site_id = $1 AND id = $2`)",
		"tx.QueryRow(`SELECT b.id FROM bookings b JOIN channels c ON c.site_id = b.site_id AND c.id = b.channel_id WHERE b.site_id = $1`)",
		"tx.QueryRow(`SELECT s.path FROM sites s WHERE s.id = $1 AND EXISTS (SELECT 1 FROM bookings b WHERE b.site_id = s.id)`)",
		"tx.Exec(`DELETE FROM bookings WHERE (site_id, id) IN (SELECT site_id, id FROM bookings WHERE site_id = $1 LIMIT 5)`)",
		"var w sqltext.Where; w.And(`b.site_id = ?`, 1); store.ListPage(tx, `bookings b`, `b.id`, &w)",
		"tx.Insert(`bookings`, `site_id, id`, nil)",
		"tx.QueryRow(`SELECT id FROM bookings WHERE ` + condition)",
		"f6(tx, `site_id = $1`)",
		"tx.QueryRow(`SELECT username FROM users WHERE id = $1`)",
	), nil},
	{"a statement keeps to one site", "internal/book/bookings/a.go", asking(
		"tx.QueryRow(`SELECT id FROM bookings WHERE id = $1`)",
		"tx.QueryRow(`SELECT b.id FROM bookings b JOIN channels c ON c.id = b.channel_id WHERE b.site_id = $1`)",
		"tx.QueryRow(`SELECT b.id FROM bookings b JOIN channels c ON c.site_id = b.site_id WHERE b.uuid = $1`)",
		"tx.QueryRow(`SELECT id FROM bookings WHERE site_id = $1 UNION ALL SELECT id FROM bookings WHERE id = $2`)",
		"tx.QueryRow(`SELECT id FROM bookings WHERE id IN (SELECT c.id FROM channels c WHERE c.site_id = $1)`)",
		"var w sqltext.Where; w.And(`b.id = ?`, 1); store.ListPage(tx, `bookings b`, `b.id`, &w)",
		"tx.Insert(`bookings`, `id, uuid`, nil)",
		"tx.QueryRow(`SELECT id FROM bookings WHERE ` + condition)",
		"f7(tx, `id = $1`)",
	), []string{
		"internal/book/bookings/a.go:11: internal/book/bookings.f4: nothing says of which site the rows of bookings are",
		"internal/book/bookings/a.go:13: internal/book/bookings.f5: nothing says of which site the rows of bookings are",
		"internal/book/bookings/a.go:15: internal/book/bookings.f6: nothing says of which site the rows of bookings are",
		"internal/book/bookings/a.go:17: internal/book/bookings.f7: nothing says of which site the rows of bookings (called by f8) are",
		"internal/book/bookings/a.go:3: internal/book/bookings.f0: nothing says of which site the rows of bookings are",
		"internal/book/bookings/a.go:5: internal/book/bookings.f1: nothing says of which site the rows of channels are",
		"internal/book/bookings/a.go:7: internal/book/bookings.f2: nothing says of which site the rows of bookings are",
		"internal/book/bookings/a.go:7: internal/book/bookings.f2: nothing says of which site the rows of channels are",
		"internal/book/bookings/a.go:9: internal/book/bookings.f3: nothing says of which site the rows of bookings are",
	}},
	{"a statement keeps to one site", "internal/ops/factchain/a.go", "package seals\n", []string{
		"internal/ops/factchain.sitesUnsealed goes over several sites no more",
	}},
	{"a statement uses what distributed databases have", "internal/book/bookings/a.go", asking(
		"tx.Exec(`UPDATE bookings SET total = 1 WHERE site_id = $1`)",
		"tx.Exec(`SET LOCAL lock_timeout = 100`)",
		"tx.Exec(`INSERT INTO idempotency_keys (site_id, key) VALUES ($1, $2) ON CONFLICT (site_id, key) DO NOTHING`)",
	), nil},
	{"a statement uses what distributed databases have", "internal/book/bookings/a.go", asking(
		"tx.Exec(`SELECT pg_advisory_lock(1)`)",
		"tx.Exec(`SELECT id FROM bookings WHERE site_id = $1 FOR UPDATE SKIP LOCKED`)",
		"tx.Exec(`WITH gone AS (DELETE FROM bookings WHERE site_id = $1 RETURNING id) SELECT id FROM gone`)",
		"tx.Exec(`LISTEN events`)",
		"tx.Exec(`SET statement_timeout = 5`)",
		"tx.Exec(`UPDATE bookings SET total = 1, site_id = 2 WHERE site_id = $1`)",
		"tx.Exec(`INSERT INTO idempotency_keys (site_id, key) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING`)",
		"tx.Exec(`SELECT ctid FROM bookings WHERE site_id = $1`)",
	), []string{
		"internal/book/bookings/a.go:3: an advisory lock",
		"internal/book/bookings/a.go:5: a lock of rows by SELECT",
		"internal/book/bookings/a.go:7: a CTE that writes",
		"internal/book/bookings/a.go:9: LISTEN and NOTIFY",
		"internal/book/bookings/a.go:11: a setting of the session",
		"internal/book/bookings/a.go:13: another site for a row",
		"internal/book/bookings/a.go:15: ON CONFLICT of idempotency_keys does not begin with the site",
		"internal/book/bookings/a.go:17: a system column",
	}},
}
