package web

import (
	"html/template"
	"slices"
	"strings"
)

// manual is the content of the page about the API, in its order.
type manual struct {
	Title    string
	Version  string
	Summary  string
	Intro    template.HTML
	Chapters []link // the headings of Intro
	Sections []section
	Errors   []problem
}

type link struct{ Text, Anchor string }

// section is the operations of one tag, and the objects in their answers.
type section struct {
	Name       string
	Anchor     string
	About      template.HTML
	Operations []operation
	Objects    []object
}

type operation struct {
	Anchor     string
	Method     string
	Path       []segment
	Summary    string
	About      template.HTML
	Open       bool // needs no credentials
	Parameters []field
	Body       *object
	Answers    []answer
	Problems   []problem
}

// segment is a piece of an address. Parameters look different on the page.
type segment struct {
	Text      string
	Parameter bool
}

type object struct {
	Name    string
	Anchor  string
	About   template.HTML
	Fields  []field
	Example string
}

// answer is a successful answer of an operation.
type answer struct {
	Status  string
	About   template.HTML
	Of      string // name of the object in it
	Anchor  string // anchor of that object
	List    bool
	Headers []field
}

// problem is one row of the catalogue of errors.
type problem struct {
	Code      string
	Status    string
	Anchor    string
	Condition template.HTML
}

// readDescription turns a description into a manual.
func readDescription(text []byte) (manual, error) {
	root, err := parse(text)
	if err != nil {
		return manual{}, err
	}
	intro := root.at("info", "description").text()
	m := manual{
		Title: root.at("info", "title").text(), Version: root.at("info", "version").text(),
		Summary: root.at("info", "summary").text(), Intro: prose(intro), Chapters: headings(intro),
	}
	for _, row := range root.at("x-error-catalogue").items() {
		code, status := row.at("code").text(), row.at("status").text()
		m.Errors = append(m.Errors, problem{
			Code: code, Status: status, Anchor: "error-" + anchor(code+" "+status), Condition: phrase(row.at("condition").text()),
		})
	}
	for _, tag := range root.at("tags").items() {
		m.Sections = append(m.Sections, m.readSection(root, tag))
	}
	return m, nil
}

func (m manual) readSection(root, tag part) section {
	s := section{Name: tag.at("name").text(), About: prose(tag.at("description").text())}
	s.Anchor = anchor(s.Name)
	for path, methods := range root.at("paths").fields() {
		shared := methods.at("parameters").items()
		for method, op := range methods.fields() {
			if method == "parameters" || !slices.Contains(op.at("tags").texts(), s.Name) {
				continue
			}
			read := m.readOperation(path, method, shared, op)
			s.Operations = append(s.Operations, read)
			m.addObjects(&s, root, read)
		}
	}
	return s
}

// addObjects adds the objects in an operation's answers to its section, unless the page has them already.
func (m manual) addObjects(s *section, root part, op operation) {
	for _, a := range op.Answers {
		has := func(o object) bool { return o.Name == a.Of }
		known := slices.ContainsFunc(s.Objects, has) ||
			slices.ContainsFunc(m.Sections, func(earlier section) bool { return slices.ContainsFunc(earlier.Objects, has) })
		if a.Of != "" && !known {
			s.Objects = append(s.Objects, objectOf(a.Of, root.at("components", "schemas", a.Of)))
		}
	}
}

func objectOf(name string, schema part) object {
	return object{
		Name: name, Anchor: "object-" + anchor(name), About: phrase(schema.whole().at("description").text()),
		Fields: fieldsOf(schema, ""), Example: example(schema, ""),
	}
}

func (m manual) readOperation(path, method string, shared []part, op part) operation {
	o := operation{
		Anchor: anchor(op.at("operationId").text()), Method: strings.ToUpper(method), Path: segments(path),
		Summary: op.at("summary").text(), About: prose(op.at("description").text()),
		Open: op.field("security").exists() && len(op.at("security").items()) == 0,
	}
	for _, p := range slices.Concat(shared, op.at("parameters").items()) {
		row := fieldOf(p.at("name").text(), p.at("schema").whole())
		row.In, row.Required = p.at("in").text(), p.is("required")
		if about := p.at("description").text(); about != "" {
			row.About = phrase(about)
		}
		o.Parameters = append(o.Parameters, row)
	}
	if schema := op.at("requestBody", "content", "application/json").field("schema"); schema.exists() {
		body := objectOf(schema.reference(), schema.resolved())
		if method == "put" { // a field that a change leaves out stays as it is, so its default does not matter
			for i := range body.Fields {
				body.Fields[i].Default = ""
			}
		}
		o.Body = &body
	}
	for status, response := range op.at("responses").fields() {
		if status < "400" {
			o.Answers = append(o.Answers, readAnswer(status, response.resolved()))
		}
	}
	codes := op.at("x-errors").texts()
	for _, p := range m.Errors {
		if slices.Contains(codes, p.Code) && p.Status != "405" { // 405 belongs to an address, not to an operation
			o.Problems = append(o.Problems, p)
		}
	}
	return o
}

func readAnswer(status string, response part) answer {
	a := answer{Status: status, About: phrase(response.at("description").text())}
	schema := response.at("content", "application/json").field("schema")
	a.Of = schema.reference()
	if items := schema.field("items"); items.exists() {
		a.Of, a.List = items.reference(), true
	}
	if a.Of != "" {
		// addObjects shows each object once, so its name is enough.
		a.Anchor = "object-" + anchor(a.Of)
	}
	for name, header := range response.at("headers").fields() {
		header = header.resolved()
		row := fieldOf(name, header.at("schema").whole())
		row.About = phrase(header.at("description").text())
		a.Headers = append(a.Headers, row)
	}
	return a
}

// segments splits an address at its parameters.
func segments(path string) []segment {
	var list []segment
	for path != "" {
		before, rest, found := strings.Cut(path, "{")
		if before != "" {
			list = append(list, segment{before, false})
		}
		if !found {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		list = append(list, segment{"{" + name + "}", true})
		path = after
	}
	return list
}
