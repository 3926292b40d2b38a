package web

import (
	"html/template"
	"slices"
	"strings"
)

// manual is the content of the documentation, in page order.
type manual struct {
	Title    string
	Version  string
	Summary  string
	Intro    template.HTML
	Chapters []link // the headings of Intro
	Sections []section
	Errors   []problem
	Guides   []guide
	Handbook []guide
	Groups   []group // the menu

	root part
	base string            // public URL of the deployment, for curl commands
	home map[string]string // path of each object's description, by name
}

type link struct{ Text, Anchor string }

// section is the operations of one tag, and the objects in their responses.
type section struct {
	Name       string
	Anchor     string // also the last segment of the page's path
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
	Curl       string
	Response   string // example of the first response
	Returned   string // its status

	key     string // method and path as in the description
	objects []string
}

// segment is a piece of a path. Parameters are styled differently.
type segment struct {
	Text      string
	Parameter bool
}

type object struct {
	Name   string
	Anchor string
	About  template.HTML
	Fields []field
}

// answer is a successful response of an operation.
type answer struct {
	Status  string
	About   template.HTML
	Of      string // name of the object in it
	Link    string // path of the object's description
	List    bool
	Headers []field
}

// problem is a row of the error catalogue.
type problem struct {
	Code      string
	Status    string
	Anchor    string
	Condition template.HTML
}

// readDescription turns an API description into a manual. base is the public URL of the deployment.
func readDescription(text []byte, base string) (manual, error) {
	root, err := parse(text)
	if err != nil {
		return manual{}, err
	}
	intro := root.at("info", "description").text()
	m := manual{
		Title: root.at("info", "title").text(), Version: root.at("info", "version").text(),
		Summary: root.at("info", "summary").text(), Intro: prose(intro), Chapters: headings(intro),
		root: root, base: base, home: map[string]string{},
	}
	for _, row := range root.at("x-error-catalogue").items() {
		code, status := row.at("code").text(), row.at("status").text()
		m.Errors = append(m.Errors, problem{
			Code: code, Status: status, Anchor: "error-" + anchor(code+" "+status), Condition: phrase(row.at("condition").text()),
		})
	}
	for _, tag := range root.at("tags").items() {
		m.Sections = append(m.Sections, m.readSection(tag))
	}
	m.placeObjects(func(o operation) bool { return o.Method == "GET" })
	m.placeObjects(func(operation) bool { return true })
	for i := range m.Sections {
		m.linkObjects(&m.Sections[i])
	}
	return m, nil
}

func (m manual) readSection(tag part) section {
	s := section{Name: tag.at("name").text(), About: prose(tag.at("description").text())}
	s.Anchor = anchor(s.Name)
	for path, methods := range m.root.at("paths").fields() {
		shared := methods.at("parameters").items()
		for method, op := range methods.fields() {
			if method == "parameters" || !slices.Contains(op.at("tags").texts(), s.Name) {
				continue
			}
			s.Operations = append(s.Operations, m.readOperation(path, method, shared, op))
		}
	}
	return s
}

// placeObjects assigns each response object to a page: that of the first of the chosen operations that return it.
func (m manual) placeObjects(chosen func(operation) bool) {
	for i := range m.Sections {
		s := &m.Sections[i]
		for _, op := range s.Operations {
			for _, name := range op.objects {
				if m.home[name] == "" && chosen(op) {
					made := objectOf(name, m.root.at("components", "schemas", name))
					m.home[name] = address(s.Anchor) + "#" + made.Anchor
					s.Objects = append(s.Objects, made)
				}
			}
		}
	}
}

// linkObjects sets the links of a section's responses.
func (m manual) linkObjects(s *section) {
	for _, op := range s.Operations {
		for i := range op.Answers {
			op.Answers[i].Link = m.home[op.Answers[i].Of]
		}
	}
}

func objectOf(name string, schema part) object {
	fields := fieldsOf(schema, "")
	for i := range fields {
		fields[i].Required = false // fields that a response always has are not required of the caller
		fields[i].Anchor = "object-" + anchor(name) + "." + fields[i].Name
	}
	return object{
		Name: name, Anchor: "object-" + anchor(name), About: phrase(schema.whole().at("description").text()), Fields: fields,
	}
}

func (m manual) readOperation(path, method string, shared []part, op part) operation {
	o := operation{
		Anchor: anchor(op.at("operationId").text()), Method: strings.ToUpper(method), Path: segments(path),
		key:     strings.ToUpper(method) + " " + path,
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
		body := object{Fields: fieldsOf(schema.resolved(), "")}
		for i := range body.Fields {
			body.Fields[i].Anchor = o.Anchor + "." + body.Fields[i].Name
			if method == "put" { // an update keeps omitted fields, so their defaults do not matter
				body.Fields[i].Default = ""
			}
		}
		o.Body = &body
	}
	for status, response := range op.at("responses").fields() {
		if status < "400" {
			a := readAnswer(status, response.resolved())
			o.Answers = append(o.Answers, a)
			if a.Of != "" {
				o.objects = append(o.objects, a.Of)
			}
			if o.Returned == "" || status == "201" { // 200 is then the response to a repeated request
				o.Returned, o.Response = status, sample(response.resolved())
			}
		}
	}
	o.Curl = m.curl(path, method, slices.Concat(shared, op.at("parameters").items()), op)
	codes := op.at("x-errors").texts()
	for _, p := range m.Errors {
		if slices.Contains(codes, p.Code) && p.Status != "405" { // 405 belongs to a path, not to an operation
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
	for name, header := range response.at("headers").fields() {
		header = header.resolved()
		row := fieldOf(name, header.at("schema").whole())
		row.About = phrase(header.at("description").text())
		a.Headers = append(a.Headers, row)
	}
	return a
}

// segments splits a path at its parameters.
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
