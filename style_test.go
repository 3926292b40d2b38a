// Package holdfast_test keeps the rules of the repository: what docs/ARCHITECTURE.md says about the tree, the direction
// of imports and the style is checked here, so that it stays true. Each rule is a function over all Go files;
// style_rules_test.go shows each of them a file that breaks it.
package holdfast_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "holdfast"

// The limits.
const (
	functionLines, testFunctionLines = 70, 150
	fileLines, testFileLines         = 500, 800
	interfaces                       = 7
)

// speaksHTTP are the packages that may import net/http: the edges of the program, on which others call it or it calls
// others.
var speaksHTTP = []string{
	"internal/api", "internal/web", "internal/web/*", "internal/psp/*", "internal/domain/fx", "internal/notify/webhooks", "internal/cli", "internal/testkit/webtest", "cmd/*",
	"client", "bench", "bench/*",
}

// exact reports whether amounts and rates are computed in a package, where floating-point numbers are not allowed.
func exact(pkg string) bool {
	return strings.HasPrefix(pkg, "internal/domain/") || pkg == "internal/lib/i18n" || isRoom(pkg) && pkg != "internal/book/paper"
}

// saysNothing are package names that say nothing about their content.
var saysNothing = []string{"util", "utils", "common", "core", "base", "helper", "helpers", "shared", "types", "misc"}

// source is one parsed Go file.
type source struct {
	path   string // from the root, with slashes
	pkg    string // its directory
	test   bool
	tokens *token.FileSet
	file   *ast.File
}

func parse(name string, text []byte) (source, error) {
	tokens := token.NewFileSet()
	file, err := parser.ParseFile(tokens, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), tokens, file}, err
}

func (s source) line(node ast.Node) int { return s.tokens.Position(node.Pos()).Line }

// lines counts the lines that a node covers.
func (s source) lines(node ast.Node) int {
	return s.tokens.Position(node.End()).Line - s.line(node) + 1
}

func (s source) at(node ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.line(node), fmt.Sprintf(format, args...))
}

// imports returns the file's imports by path.
func (s source) imports() map[string]*ast.ImportSpec {
	found := map[string]*ast.ImportSpec{}
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			found[p] = spec
		}
	}
	return found
}

// uses finds mentions of names of an imported package, called or not: a clock is also passed as a function.
func (s source) uses(importPath string, names ...string) []*ast.SelectorExpr {
	spec := s.imports()[importPath]
	if spec == nil {
		return nil
	}
	local := path.Base(importPath)
	if spec.Name != nil {
		local = spec.Name.Name
	}
	var found []*ast.SelectorExpr
	for node := range ast.Preorder(s.file) {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok || !slices.Contains(names, selector.Sel.Name) {
			continue
		}
		if x, ok := selector.X.(*ast.Ident); ok && x.Name == local {
			found = append(found, selector)
		}
	}
	return found
}

// matches reports whether a package is one of the patterns.
func matches(pkg string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, pkg)
		return ok && err == nil
	})
}

// rule is one rule of the repository. It returns its findings, one line each.
type rule struct {
	name  string
	check func([]source) []string
}

var rules = []rule{
	{"functions and files are short", each(length)},
	{"every package says what it is", packageDocs},
	{"every exported name has a doc comment", each(nameDocs)},
	{"imports follow the arrows", each(importArrows)},
	{"every package is in the table", each(inTable)},
	{"no binary fractions where money is computed", each(fractions)},
	{"SQL stands in the rooms", each(sqlText)},
	{"a table is written by its owner", each(tableOwners)},
	{"a table is read on its owner's floor or above", each(tableReaders)},
	{"a statement keeps to one site", oneSite},
	{"a statement uses what distributed databases have", each(lackingParts)},
	{"a part of the dashboard's address belongs to one package", each(pageAddresses)},
	{"a package exports few names", exportCounts},
	{"HTTP stands at the edges", each(httpImports)},
	{"the clock is handed in", each(clock)},
	{"nothing is unsafe", each(unsafeParts)},
	{"few interfaces", interfaceCount},
	{"package names say something", each(packageNames)},
	{"packages are not deep", each(depth)},
	{"a skipped test says why", each(skips)},
	{"nothing sleeps", each(sleeps)},
}

func each(check func(source) []string) func([]source) []string {
	return func(sources []source) []string {
		var found []string
		for _, s := range sources {
			found = append(found, check(s)...)
		}
		return found
	}
}

func TestStyle(t *testing.T) {
	sources := repository(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, finding := range r.check(sources) {
				t.Error(finding)
			}
		})
	}
}

// repository parses every Go file of the project, including this one.
func repository(t *testing.T) []source {
	t.Helper()
	var sources []source
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// The go command ignores the same directories.
		base := entry.Name()
		if entry.IsDir() && name != "." && (base[0] == '.' || base[0] == '_' || base == "testdata" || base == "node_modules") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(name), text)
		sources = append(sources, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

func length(s source) []string {
	var found []string
	most, mostInFile := functionLines, fileLines
	if s.test {
		most, mostInFile = testFunctionLines, testFileLines
	}
	if n := s.tokens.File(s.file.Pos()).LineCount(); n > mostInFile {
		found = append(found, fmt.Sprintf("%s:%d: the file has %d lines, at most %d are allowed", s.path, n, n, mostInFile))
	}
	for node := range ast.Preorder(s.file) {
		switch node.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			if n := s.lines(node); n > most {
				found = append(found, s.at(node, "the function has %d lines, at most %d are allowed", n, most))
			}
		}
	}
	return found
}

func packageDocs(sources []source) []string {
	documented := map[string]bool{}
	first := map[string]source{}
	for _, s := range sources {
		if s.test {
			continue
		}
		if _, ok := first[s.pkg]; !ok {
			first[s.pkg] = s
		}
		documented[s.pkg] = documented[s.pkg] || s.file.Doc != nil
	}
	var found []string
	for pkg, s := range first {
		if !documented[pkg] {
			found = append(found, s.at(s.file, "no file of package %s says what the package is", pkg))
		}
	}
	slices.Sort(found)
	return found
}

func nameDocs(s source) []string {
	if s.test {
		return nil
	}
	var found []string
	for _, decl := range s.file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Name.IsExported() && exportedReceiver(decl) && decl.Doc == nil {
				found = append(found, s.at(decl, "%s has no doc comment", decl.Name.Name))
			}
		case *ast.GenDecl:
			for _, name := range undocumented(decl) {
				found = append(found, s.at(name, "%s has no doc comment", name.Name))
			}
		}
	}
	return found
}

// exportedReceiver reports whether a function is visible elsewhere: it is not a method of an unexported type.
func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	for node := range ast.Preorder(f.Recv.List[0].Type) {
		// The first name is the type's; those of its parameters follow.
		if name, ok := node.(*ast.Ident); ok {
			return name.IsExported()
		}
	}
	return true
}

// undocumented returns the exported names of a declaration without a comment. One comment is enough for a group of
// constants or variables, but not for a group of types.
func undocumented(decl *ast.GenDecl) []*ast.Ident {
	var found []*ast.Ident
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			alone := !decl.Lparen.IsValid() && decl.Doc != nil
			if spec.Name.IsExported() && spec.Doc == nil && !alone {
				found = append(found, spec.Name)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() && spec.Doc == nil && decl.Doc == nil {
					found = append(found, name)
				}
			}
		}
	}
	return found
}

func importArrows(s source) []string {
	var found []string
	for imported, spec := range s.imports() {
		ours, ok := strings.CutPrefix(imported, module+"/")
		switch {
		case !ok:
		case strings.HasPrefix(ours, "cmd/"):
			found = append(found, s.at(spec, "nothing imports a program: %s", imported))
		case s.test:
			// Tests may use other packages.
		case ours == "internal/testkit/pgtest" && matches(s.pkg, []string{"bench", "cmd/torture"}):
			// They start the same clusters as the tests.
		case strings.HasPrefix(ours, "internal/testkit/") && !strings.HasPrefix(s.pkg, "internal/testkit/"):
			found = append(found, s.at(spec, "only tests import %s", imported))
		case !mayImport(s.pkg, ours):
			found = append(found, s.at(spec, "package %s may not import %s", s.pkg, imported))
		}
	}
	slices.Sort(found)
	return found
}

func inTable(s source) []string {
	if strings.HasPrefix(s.pkg, "internal/") && groupOf(s.pkg) >= 0 || targetsOf(outside, s.pkg) != nil {
		return nil
	}
	return []string{s.at(s.file, "package %s is new: add it to the table and to docs/ARCHITECTURE.md", s.pkg)}
}

func fractions(s source) []string {
	if !exact(s.pkg) {
		return nil
	}
	var found []string
	for node := range ast.Preorder(s.file) {
		switch node := node.(type) {
		case *ast.Ident:
			switch node.Name {
			// The second form passes one without writing the type.
			case "float32", "float64",
				"ParseFloat", "Float32", "Float64", "SetFloat64":
				found = append(found, s.at(node, "%s, where every amount and rate is exact", node.Name))
			}
		case *ast.BasicLit:
			// A literal such as 1e15 is a whole number, if it is meant as one.
			if node.Kind == token.FLOAT && strings.Contains(node.Value, ".") {
				found = append(found, s.at(node, "%s, where every amount and rate is exact", node.Value))
			}
		}
	}
	return found
}

var statement = regexp.MustCompile(`(?is)^\s*(` + strings.Join([]string{
	`select\b.+\bfrom\b`, `select\s+\d`, `insert\s+into\b`, `update\s.+\sset\b`, `delete\s+from\b`,
	`(create|alter|drop)\s+(temp\s+|unique\s+)*(table|index|view)\b`, `with\s+\w+(\s*\([^)]*\))?\s+as\s*\(`, `pragma\s+\w+`,
}, "|") + `)`)

func httpImports(s source) []string {
	if matches(s.pkg, speaksHTTP) {
		return nil
	}
	var found []string
	for imported, spec := range s.imports() {
		if imported == "net/http" || strings.HasPrefix(imported, "net/http/") {
			found = append(found, s.at(spec, "package %s may not import %s", s.pkg, imported))
		}
	}
	slices.Sort(found)
	return found
}

func clock(s source) []string {
	if s.test || matches(s.pkg, []string{"cmd/*", "internal/cli", "bench", "bench/*"}) {
		return nil
	}
	var found []string
	for _, use := range s.uses("time", "Now", "Since", "Until") {
		found = append(found, s.at(use, "time.%s outside cmd: take a clock, func() time.Time", use.Sel.Name))
	}
	return found
}

// unsafeParts finds code that bypasses Go's type system or uses the internals of SQLite. A ledger does neither; tests may.
func unsafeParts(s source) []string {
	if s.test {
		return nil
	}
	var found []string
	for imported, spec := range s.imports() {
		if imported == "unsafe" || imported == "modernc.org/libc" {
			found = append(found, s.at(spec, "nothing imports %s", imported))
		}
	}
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname ") {
				found = append(found, s.at(c, "nothing is linked by name"))
			}
		}
	}
	for _, literal := range texts(s) {
		if strings.Contains(literal.text, "writable_schema") {
			found = append(found, s.at(literal.node, "SQLite's schema is changed by its own statements only"))
		}
	}
	slices.Sort(found)
	return found
}

func interfaceCount(sources []source) []string {
	var found []string
	for _, s := range sources {
		if s.test || !strings.HasPrefix(s.pkg, "internal/") {
			continue
		}
		for node := range ast.Preorder(s.file) {
			spec, ok := node.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if i, ok := spec.Type.(*ast.InterfaceType); ok && !constraint(i) {
				found = append(found, s.at(spec, "%s is one of too many interfaces, at most %d are allowed", spec.Name.Name, interfaces))
			}
		}
	}
	if len(found) <= interfaces {
		return nil
	}
	return found
}

// constraint reports whether an interface is only a constraint of a type parameter.
func constraint(i *ast.InterfaceType) bool {
	return slices.ContainsFunc(i.Methods.List, func(element *ast.Field) bool {
		switch element.Type.(type) {
		case *ast.UnaryExpr, *ast.BinaryExpr:
			return true
		}
		return false
	})
}

func packageNames(s source) []string {
	for _, name := range []string{path.Base(s.pkg), strings.TrimSuffix(s.file.Name.Name, "_test")} {
		if slices.Contains(saysNothing, name) {
			return []string{s.at(s.file, "package name %s does not say what the package is for", name)}
		}
	}
	return nil
}

func depth(s source) []string {
	if strings.Count(s.pkg, "/") <= 2 {
		return nil
	}
	return []string{s.at(s.file, "package %s is deeper than internal/psp/<processor>", s.pkg)}
}

func skips(s source) []string {
	var found []string
	for node := range ast.Preorder(s.file) {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			continue
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		// Other types have a Skip too; tests have one of these names.
		x, ok := selector.X.(*ast.Ident)
		if !ok || !slices.Contains([]string{"t", "b", "f", "tb"}, x.Name) {
			continue
		}
		switch selector.Sel.Name {
		case "SkipNow":
			found = append(found, s.at(call, "a test is skipped without a reason: use Skip and say it"))
		case "Skip", "Skipf":
			if len(call.Args) == 0 || emptyText(call.Args[0]) {
				found = append(found, s.at(call, "a test is skipped without a reason"))
			}
		}
	}
	return found
}

func emptyText(x ast.Expr) bool {
	literal, ok := x.(*ast.BasicLit)
	return ok && (literal.Value == `""` || literal.Value == "``")
}

func sleeps(s source) []string {
	var found []string
	for _, use := range s.uses("time", "Sleep") {
		found = append(found, s.at(use, "time.Sleep: wait for what has to happen instead"))
	}
	return found
}
