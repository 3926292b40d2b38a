package holdfast_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// broken is a file and the expected findings of a rule, as the beginnings of its messages. None means that the file is
// fine.
type broken struct {
	rule string
	path string
	text string
	want []string
}

// long returns a function of n lines.
func long(n int) string {
	return "func f() {\n" + strings.Repeat("\tf()\n", n-2) + "}\n"
}

// body returns a test file around the statements of a test.
func body(statements string) string {
	return "package p\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestIt(t *testing.T) {\n" + statements + "\n}\n"
}

var lengthCases = []broken{
	{"functions and files are short", "internal/app/a.go", "package app\n\n" + long(70), nil},
	{"functions and files are short", "internal/app/a.go", "package app\n\n" + long(71), []string{
		"internal/app/a.go:3: the function has 71 lines",
	}},
	{"functions and files are short", "internal/app/a.go", "package app\n\nvar g = " + strings.Replace(long(71), " f", "", 1), []string{
		"internal/app/a.go:3: the function has 71 lines",
	}},
	{"functions and files are short", "internal/app/a_test.go", "package app\n\n" + long(150), nil},
	{"functions and files are short", "internal/app/a_test.go", "package app\n\n" + long(151), []string{
		"internal/app/a_test.go:3: the function has 151 lines",
	}},
	{"functions and files are short", "internal/app/a.go", "package app\n" + strings.Repeat("// x\n", 499), nil},
	{"functions and files are short", "internal/app/a.go", "package app\n" + strings.Repeat("// x\n", 500), []string{
		"internal/app/a.go:501: the file has 501 lines",
	}},
	{"functions and files are short", "internal/app/a_test.go", "package app\n" + strings.Repeat("// x\n", 800), []string{
		"internal/app/a_test.go:801: the file has 801 lines",
	}},
}

var docCases = []broken{
	{"every package says what it is", "internal/app/a.go", "// Package app does.\npackage app\n", nil},
	{"every package says what it is", "internal/app/a.go", "// Licence.\n\npackage app\n", []string{
		"internal/app/a.go:3: no file of package internal/app",
	}},
	{"every package says what it is", "internal/app/a_test.go", "package app\n", nil},
	{"every exported name has a doc comment", "internal/app/a.go", `package app

func Bare() {}

// Documented is documented.
func Documented() {}

type Bare2 struct{ Field int }

func (Bare2) Method() {}

func (*hidden[T]) Method() {}

type hidden[T any] struct{}

const (
	Bare3 = 1
	small = 2
)

// The group is documented.
const (
	Documented2 = 1
	Documented3 = 2
)

// One comment is not enough for types.
type (
	Bare4 int
	// Documented4 is documented.
	Documented4 int
)

var Bare5, Bare6 int
`, []string{
		"internal/app/a.go:3: Bare has", "internal/app/a.go:8: Bare2 has", "internal/app/a.go:10: Method has",
		"internal/app/a.go:17: Bare3 has", "internal/app/a.go:29: Bare4 has", "internal/app/a.go:34: Bare5 has",
		"internal/app/a.go:34: Bare6 has",
	}},
	{"every exported name has a doc comment", "internal/app/a_test.go", "package app\n\nfunc TestIt() {}\n", nil},
}

var importCases = []broken{
	{"imports follow the arrows", "internal/domain/money/a.go", "package money\n\nimport \"holdfast/internal/lib/qr\"\n", []string{
		"internal/domain/money/a.go:3: package internal/domain/money may not import holdfast/internal/lib/qr",
	}},
	{"imports follow the arrows", "internal/store/a.go", "package store\n\nimport _ \"holdfast/internal/platform/sites\"\n", []string{
		"internal/store/a.go:3: package internal/store may not",
	}},
	{"imports follow the arrows", "internal/book/ledger/a.go", "package ledger\n\nimport \"holdfast/internal/book/payments\"\n", []string{
		"internal/book/ledger/a.go:3: package internal/book/ledger may not",
	}},
	{"imports follow the arrows", "internal/book/payments/a.go", "package payments\n\nimport \"holdfast/internal/book/ledger\"\n", nil},
	{"imports follow the arrows", "internal/api/a.go", "package api\n\nimport \"holdfast/internal/web/kit\"\n", []string{
		"internal/api/a.go:3: package internal/api may not",
	}},
	{"imports follow the arrows", "internal/web/chart/a.go", "package chart\n\nimport \"holdfast/internal/book/ledger\"\n", []string{
		"internal/web/chart/a.go:3: package internal/web/chart may not",
	}},
	{"imports follow the arrows", "internal/psp/sandbox/a.go", "package sandbox\n\nimport \"holdfast/internal/psp\"\n", nil},
	{"imports follow the arrows", "internal/psp/sandbox/a.go", "package sandbox\n\nimport \"holdfast/internal/store\"\n", nil},
	{"imports follow the arrows", "internal/psp/stripe/a.go", "package stripe\n\nimport \"holdfast/internal/store\"\n", []string{
		"internal/psp/stripe/a.go:3: package internal/psp/stripe may not",
	}},
	{"imports follow the arrows", "internal/psp/a.go", "package psp\n\nimport \"holdfast/internal/psp/sandbox\"\n", []string{
		"internal/psp/a.go:3: package internal/psp may not",
	}},
	{"imports follow the arrows", "internal/app/a.go", "package app\n\nimport (\n\t\"fmt\"\n\t\"holdfast/internal/store\"\n)\n", nil},
	{"imports follow the arrows", "internal/app/a.go", "package app\n\nimport \"holdfast/internal/testkit/pgtest\"\n", []string{
		"internal/app/a.go:3: only tests import",
	}},
	{"imports follow the arrows", "internal/domain/money/a_test.go", "package money\n\nimport \"holdfast/internal/testkit/pgtest\"\n", nil},
	{"imports follow the arrows", "internal/domain/money/a_test.go", "package money\n\nimport \"holdfast/cmd/holdfast\"\n", []string{
		"internal/domain/money/a_test.go:3: nothing imports a program",
	}},
	{"imports follow the arrows", "cmd/holdfast/a.go", "package main\n\nimport (\n\t\"holdfast/internal/psp/sandbox\"\n\t\"holdfast/docs\"\n)\n", nil},
	{"every package is in the table", "internal/psp/sandbox/a.go", "package sandbox\n", nil},
	{"every package is in the table", "internal/novel/a.go", "package novel\n", []string{
		"internal/novel/a.go:1: package internal/novel is new",
	}},
	{"every package is in the table", "pkg/a.go", "package pkg\n", []string{"pkg/a.go:1: package pkg is new"}},
	{"HTTP stands at the edges", "internal/app/a.go", "package app\n\nimport \"net/http\"\n", []string{
		"internal/app/a.go:3: package internal/app may not import net/http",
	}},
	{"HTTP stands at the edges", "internal/jobs/a_test.go", "package jobs\n\nimport \"net/http/httptest\"\n", []string{
		"internal/jobs/a_test.go:3: package internal/jobs may not import net/http/httptest",
	}},
	{"HTTP stands at the edges", "internal/psp/a.go", "package psp\n\nimport \"net/http\"\n", []string{"internal/psp/a.go:3:"}},
	{"HTTP stands at the edges", "internal/psp/spreedly/a.go", "package spreedly\n\nimport \"net/http\"\n", nil},
	{"HTTP stands at the edges", "internal/app/a.go", "package app\n\nimport \"net/url\"\n", nil},
}

var textCases = []broken{
	{"no binary fractions where money is computed", "internal/domain/money/a.go", `package money

import "strconv"

var a float64

var b, _ = strconv.ParseFloat("1", 64)

var c = 0.5

const most int64 = 1e15
`, []string{
		"internal/domain/money/a.go:5: float64", "internal/domain/money/a.go:7: ParseFloat", "internal/domain/money/a.go:9: 0.5",
	}},
	{"no binary fractions where money is computed", "internal/api/a.go", "package api\n\nvar a float64 = 0.5\n", nil},
	{"SQL stands in the rooms", "internal/app/a.go", `package app

var a = []string{
	"SELECT id FROM bookings",
	"\n\tselect 1",
	"insert into a (b) values (1)",
	"update a set b = 1",
	"Delete from a",
	"create unique index a on b (c)",
	"with a as (select 1) values (1)",
	"pragma journal_mode",
	"select a file",
	"update the booking",
	"the bookings to select from",
	"with a reason",
}
`, []string{
		"internal/app/a.go:4:", "internal/app/a.go:5:", "internal/app/a.go:6:", "internal/app/a.go:7:", "internal/app/a.go:8:",
		"internal/app/a.go:9:", "internal/app/a.go:10:", "internal/app/a.go:11:",
	}},
	{"SQL stands in the rooms", "internal/book/ledger/a.go", "package ledger\n\nconst a = `select a from b`\n", nil},
	{"SQL stands in the rooms", "cmd/holdfast/a.go", "package main\n\nconst a = `\n\tselect a\n\tfrom b`\n", []string{
		"cmd/holdfast/a.go:3: SQL stands",
	}},
	{"SQL stands in the rooms", "cmd/holdfast/a_test.go", "package main\n\nconst a = `select a from b`\n", nil},
}

// insertion returns a file of a package with one statement and one call that write a table.
func insertion(pkg, table string) string {
	return "package " + pkg + "\n\nfunc f(tx *store.Tx) {\n\ttx.Exec(`UPDATE " + table + " SET a = 1`)\n" +
		"\ttx.Insert(\"" + table + "\", \"a\", nil)\n\ttx.QueryRow(`SELECT a FROM " + table + "`)\n}\n"
}

var roomCases = []broken{
	{"a table is written by its owner", "internal/book/ledger/a.go", insertion("ledger", "allocations"), nil},
	{"a table is written by its owner", "internal/book/limits/a.go", insertion("limits", "allocations"), []string{
		"internal/book/limits/a.go:4: the table allocations is written here, and it belongs to internal/book/ledger",
		"internal/book/limits/a.go:5: the table allocations is written here, and it belongs to internal/book/ledger",
	}},
	{"a table is written by its owner", "internal/book/limits/a.go", insertion("limits", "limit_changes"), nil},
	{"a table is read on its owner's floor or above", "internal/book/limits/a.go", insertion("limits", "allocations"), nil},
	{"a table is read on its owner's floor or above", "internal/book/bookings/a.go", insertion("bookings", "allocations"), []string{
		"internal/book/bookings/a.go:6: the table allocations of internal/book/ledger is read here",
	}},
	{"a table is written by its owner", "internal/platform/sites/a.go", insertion("sites", "limit_changes"), []string{
		"internal/platform/sites/a.go:4: the table limit_changes is written here, and it belongs to internal/book/limits",
		"internal/platform/sites/a.go:5: the table limit_changes is written here, and it belongs to internal/book/limits",
	}},
	{"a table is written by its owner", "internal/book/limits/a_test.go", insertion("limits", "allocations"), nil},
	{"a part of the dashboard's address belongs to one package", "internal/web/settings/a.go", `package settings

var a = []string{"GET /settings", "POST /settings/limit", "GET /people", "GET ", "POST /settings-of/{id}", "Get /people"}
`, []string{
		"internal/web/settings/a.go:3: the page GET /people does not", "internal/web/settings/a.go:3: the page GET  does not",
		"internal/web/settings/a.go:3: the page POST /settings-of/{id} does not",
	}},
	{"a part of the dashboard's address belongs to one package", "internal/web/people/a.go", "package people\n\nconst a, b = \"GET /people\", \"GET /{$}\"\n", nil},
	{"a package exports few names", "internal/app/a.go", "package app\n" + strings.Repeat("\nfunc A() {}\n\nfunc b() {}\n\nfunc (T) C() {}\n", 60), nil},
	{"a package exports few names", "internal/app/a.go", "package app\n\nconst A, B = 1, 2\n" + strings.Repeat("\ntype A int\n", 59), []string{
		"internal/app exports 61 names, at most 60 are allowed",
	}},
	{"a package exports few names", "internal/domain/payment/a.go", "package payment\n" + strings.Repeat("\ntype A int\n", 120), nil},
	{"a package exports few names", "internal/app/a_test.go", "package app\n" + strings.Repeat("\ntype A int\n", 61), nil},
}

var testCases = []broken{
	{"the clock is handed in", "internal/app/a.go", `package app

import clock "time"

var now = clock.Now

var ago = clock.Since(clock.Unix(0, 0))
`, []string{"internal/app/a.go:5: time.Now", "internal/app/a.go:7: time.Since"}},
	{"the clock is handed in", "internal/app/a.go", "package app\n\nvar a = tx.Now\n", nil},
	{"the clock is handed in", "cmd/holdfast/a.go", "package main\n\nimport \"time\"\n\nvar a = time.Now\n", nil},
	{"the clock is handed in", "internal/app/a_test.go", body("\ttime.Now()"), nil},
	{"nothing is unsafe", "internal/store/a.go", `package store

import (
	_ "modernc.org/libc"
	_ "unsafe"
)

//go:linkname now time.now
func now()

const schema = "PRAGMA writable_schema = 1"
`, []string{
		"internal/store/a.go:11: SQLite's schema", "internal/store/a.go:4: nothing imports modernc.org/libc",
		"internal/store/a.go:5: nothing imports unsafe", "internal/store/a.go:8: nothing is linked by name",
	}},
	{"nothing is unsafe", "internal/store/a_test.go", "package store\n\nimport _ \"unsafe\"\n", nil},
	{"nothing sleeps", "internal/app/a_test.go", body("\ttime.Sleep(1)"), []string{
		"internal/app/a_test.go:9: time.Sleep",
	}},
	{"nothing sleeps", "internal/app/a_test.go", body("\ttime.Now()"), nil},
	{"a skipped test says why", "internal/app/a_test.go", body("\tt.SkipNow()\n\tt.Skip()\n\tt.Skip(\"\")"), []string{
		"internal/app/a_test.go:9:", "internal/app/a_test.go:10:", "internal/app/a_test.go:11:",
	}},
	{"a skipped test says why", "internal/app/a_test.go", body("\tt.Skip(\"no server\")\n\treader.Skip()"), nil},
}

var nameCases = []broken{
	{"few interfaces", "internal/app/a.go", "package app\n" + strings.Repeat("\ntype A interface{ B() }\n", 7), nil},
	{"few interfaces", "internal/app/a.go", "package app\n" + strings.Repeat("\ntype A interface{ B() }\n", 8), []string{
		"internal/app/a.go:3:", "internal/app/a.go:5:", "internal/app/a.go:7:", "internal/app/a.go:9:",
		"internal/app/a.go:11:", "internal/app/a.go:13:", "internal/app/a.go:15:", "internal/app/a.go:17:",
	}},
	{"few interfaces", "internal/app/a.go", "package app\n" + strings.Repeat("\ntype A interface{ ~int | ~int64 }\n", 8), nil},
	{"few interfaces", "internal/app/a_test.go", "package app\n" + strings.Repeat("\ntype A interface{ B() }\n", 8), nil},
	{"package names say something", "internal/util/a.go", "package money\n", []string{"internal/util/a.go:1: package name util"}},
	{"package names say something", "internal/core/a.go", "package core\n", []string{"internal/core/a.go:1: package name core"}},
	{"package names say something", "internal/domain/money/a_test.go", "package helpers_test\n", []string{
		"internal/domain/money/a_test.go:1: package name helpers",
	}},
	{"package names say something", "internal/domain/money/a.go", "package money\n", nil},
	{"packages are not deep", "internal/psp/sandbox/a.go", "package sandbox\n", nil},
	{"packages are not deep", "internal/psp/sandbox/cards/a.go", "package cards\n", []string{
		"internal/psp/sandbox/cards/a.go:1: package internal/psp/sandbox/cards is deeper",
	}},
}

func TestRulesFindWhatBreaksThem(t *testing.T) {
	shown := map[string]bool{}
	for i, c := range slices.Concat(lengthCases, docCases, importCases, textCases, roomCases, testCases, nameCases, scaleCases) {
		shown[c.rule] = shown[c.rule] || len(c.want) > 0
		t.Run(fmt.Sprintf("%s %d", c.rule, i), func(t *testing.T) {
			s, err := parse(c.path, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			found := ruleNamed(t, c.rule).check([]source{s})
			if !slices.EqualFunc(found, c.want, strings.HasPrefix) {
				t.Errorf("found\n\t%s\nwant\n\t%s", strings.Join(found, "\n\t"), strings.Join(c.want, "\n\t"))
			}
		})
	}
	for _, r := range rules {
		if !shown[r.name] {
			t.Errorf("no file here breaks the rule %q", r.name)
		}
	}
}

// TestEachPartOfTheAddressHasOnePackage: no two packages of the dashboard have the same part, and each section has one.
// The start pages of a site and of all sites are different pages.
func TestEachPartOfTheAddressHasOnePackage(t *testing.T) {
	of := map[string]string{}
	for pkg, parts := range addresses {
		for _, part := range parts {
			if part != "" && of[part] != "" {
				t.Errorf("/%s belongs to %s and to %s", part, of[part], pkg)
			}
			of[part] = pkg
		}
	}
	for pkg, targets := range within {
		if slices.Equal(targets, pages) && addresses[pkg] == nil {
			t.Errorf("%s has pages, and no part of the address", pkg)
		}
	}
}

func ruleNamed(t *testing.T, name string) rule {
	t.Helper()
	i := slices.IndexFunc(rules, func(r rule) bool { return r.name == name })
	if i < 0 {
		t.Fatalf("there is no rule %q", name)
	}
	return rules[i]
}

func TestTheRulesSeeTheRepository(t *testing.T) {
	var paths []string
	for _, s := range repository(t) {
		paths = append(paths, s.path)
	}
	for _, path := range []string{"style_test.go", "internal/errs/fault.go", "scripts/gotest/main.go"} {
		if !slices.Contains(paths, path) {
			t.Errorf("%s is not among the files that the rules look at", path)
		}
	}
}
