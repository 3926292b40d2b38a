package disputefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
)

// lists are the names under which the answers of processors keep their cases, and wrappers those of the objects around these.
var (
	lists    = []string{"data", "edges", "nodes", "disputes", "chargebackDetails", "retrievalDetails"}
	wrappers = []string{"data", "search", "disputes", "report", "viewer", "node"}
)

// jsonCases returns the cases of a JSON file: a list, possibly inside an API response, or one object per line (NDJSON).
// In NDJSON a broken line is a problem of that line only. In other files reading stops at a syntax error, because the
// start of the next case is unknown.
func jsonCases(in *bufio.Reader) iter.Seq2[tree, error] {
	return func(yield func(tree, error) bool) {
		if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" {
			_, _ = in.Discard(3) // it was peeked at
		}
		if oneALine(in) {
			jsonLines(in, yield)
			return
		}
		c := newJSON(in, yield)
		for err := error(nil); err == nil && !c.stopped; {
			if err = c.top(); err != nil && err != io.EOF && !c.stopped {
				c.broken(err)
			}
		}
	}
}

// oneALine reports whether the first line is an object of its own that holds no list of cases.
func oneALine(in *bufio.Reader) bool {
	ahead, _ := in.Peek(in.Size()) // an error is met again by reading
	first, _, found := bytes.Cut(bytes.TrimLeft(ahead, " \t\r\n"), []byte("\n"))
	if len(ahead) == in.Size() && !found || !json.Valid(first) {
		return false
	}
	whole := false
	c := newJSON(bytes.NewReader(first), func(t tree, _ error) bool {
		whole = t.raw != "" && len(t.raw) == len(bytes.TrimSpace(first))
		return false
	})
	_ = c.top() // it is valid
	return whole
}

func jsonLines(in *bufio.Reader, yield func(tree, error) bool) {
	for number := 1; ; number++ {
		line, long, err := boundedLine(in)
		if err != nil && err != io.EOF {
			yield(tree{}, err)
			return
		}
		text := bytes.TrimSpace(line)
		one := tree{number: number, raw: string(text)}
		switch {
		case long:
			one.problem = "This line cannot be read: it is longer than 256 KiB."
		case len(text) > 0:
			c := newJSON(bytes.NewReader(text), nil)
			if err := c.object(&one); err != nil {
				one.problem = "This line cannot be read: it is no JSON object."
			}
		}
		if (long || len(text) > 0) && !yield(one, nil) || err == io.EOF {
			return
		}
	}
}

// boundedLine reads a line, or drops it if it is longer than a case may be.
func boundedLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxCaseBytes {
			line, long = line[:0], true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// jsonReader walks a JSON file, value by value.
type jsonReader struct {
	*json.Decoder
	source  *source
	yield   func(tree, error) bool
	count   int
	stopped bool
}

func newJSON(in io.Reader, yield func(tree, error) bool) *jsonReader {
	s := &source{in: in}
	s.topUp(0)
	d := json.NewDecoder(s)
	d.UseNumber()
	return &jsonReader{Decoder: d, source: s, yield: yield}
}

// give yields one case.
func (c *jsonReader) give(t tree) {
	c.count++
	t.number = c.count
	if !c.stopped {
		c.stopped = !c.yield(t, nil)
	}
}

// broken ends a file that cannot be read any further.
func (c *jsonReader) broken(err error) {
	if c.source.err != nil {
		c.yield(tree{}, c.source.err)
		return
	}
	c.count++
	c.yield(tree{number: c.count, problem: fmt.Sprintf("The file cannot be read from case %d on: %v.", c.count, err)}, nil)
}

// top reads one value of the file: a list of cases, or an object that is a case or has a list of them.
func (c *jsonReader) top() error {
	c.source.topUp(c.InputOffset())
	token, err := c.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		return c.list()
	case json.Delim('{'):
		start := c.InputOffset() - 1
		var own tree
		held, err := c.members(&own, nil, true)
		if err == nil && !held {
			own.raw = c.source.text(start, c.InputOffset())
			c.give(own)
		}
		return err
	}
	return errors.New("it has neither objects nor lists")
}

// list reads the cases of a list up to its end. An item of edges has its case in node.
func (c *jsonReader) list() error {
	for c.More() && !c.stopped {
		c.source.topUp(c.InputOffset())
		var one tree
		if err := c.object(&one); err != nil {
			return err
		}
		c.give(one)
	}
	if c.stopped {
		return io.EOF
	}
	_, err := c.Token()
	return err
}

// object reads one case.
func (c *jsonReader) object(t *tree) error {
	token, err := c.Token()
	start := c.InputOffset() - 1
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		if err := c.value(t, []string{"value"}, token); err != nil {
			return err
		}
		t.problem = "This is no object with fields."
		return nil
	}
	if _, err := c.members(t, nil, false); err != nil {
		return err
	}
	t.raw = c.source.text(start, c.InputOffset())
	if _, ok := indexOf(t.names)["node.id"]; ok {
		for i, name := range t.names {
			if len(name) > 5 && name[:5] == "node." {
				t.names[i] = name[5:]
			}
		}
	}
	return nil
}

// members reads the members of an object up to its end. With search, lists of cases among them are read as such; held says that there was one.
func (c *jsonReader) members(t *tree, path []string, search bool) (held bool, err error) {
	if len(path) > maxCaseDepth {
		return false, errCaseTooDeep
	}
	for c.More() {
		token, err := c.Token()
		if err != nil {
			return held, err
		}
		name, _ := token.(string)
		if token, err = c.Token(); err != nil {
			return held, err
		}
		switch {
		case search && token == json.Delim('[') && slices.Contains(lists, name):
			held = true
			err = c.list()
		case search && token == json.Delim('{') && slices.Contains(wrappers, name):
			var in bool
			in, err = c.members(t, append(path, name), true)
			held = held || in
		default:
			err = c.value(t, append(path, name), token)
		}
		if err != nil {
			return held, err
		}
	}
	_, err = c.Token()
	return held, err
}

// value adds a value whose first token was read.
func (c *jsonReader) value(t *tree, path []string, token json.Token) error {
	if len(path) > maxCaseDepth {
		return errCaseTooDeep
	}
	empty := (token == json.Delim('{') || token == json.Delim('[')) && !c.More()
	if empty && !t.add(path, "") { // it is there
		return errCaseTooLong
	}
	switch token {
	case json.Delim('{'):
		_, err := c.members(t, path, false)
		return err
	case json.Delim('['):
		for i := 0; c.More(); i++ {
			next, err := c.Token()
			if err == nil {
				err = c.value(t, append(path, strconv.Itoa(i)), next)
			}
			if err != nil {
				return err
			}
		}
		_, err := c.Token()
		return err
	}
	text := ""
	if token != nil {
		text = fmt.Sprint(token)
	}
	if !t.add(path, text) {
		return errCaseTooLong
	}
	return nil
}
