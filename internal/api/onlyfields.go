package api

import (
	"bytes"
	"encoding/json"
	"strings"

	"holdfast/internal/api/input"
)

// wanted are the fields that a caller selects with _fields, each with the selected fields inside it; nil for all.
type wanted map[string]wanted

// maxWanted is how many names _fields may have. More are left out, which only makes the answer shorter.
const maxWanted = 200

// wantedFields reads the parameter _fields: names with commas between them, with a dot before a field inside a field.
func (c *call) wantedFields() wanted {
	if !strings.Contains(c.r.URL.RawQuery, "_fields") {
		return nil
	}
	names := input.ReadQuery(c.r.URL.Query()).List("_fields")
	if len(names) == 0 {
		return nil
	}
	want := wanted{}
	for _, name := range names[:min(len(names), maxWanted)] {
		at := want
		parts := strings.Split(name, ".")
		for i, part := range parts {
			inside, known := at[part]
			switch {
			case known && inside == nil: // all of it is wanted already
			case i == len(parts)-1:
				at[part] = nil
			case !known:
				at[part] = wanted{}
			}
			if at = at[part]; at == nil {
				break
			}
		}
	}
	return want
}

// narrow leaves the wanted fields in a JSON object, or in each object of a JSON list, in their order. Anything else stays as
// it is.
func (w wanted) narrow(text []byte) ([]byte, error) {
	var to bytes.Buffer
	err := w.write(&to, bytes.TrimSpace(text))
	to.WriteByte('\n')
	return to.Bytes(), err
}

func (w wanted) write(to *bytes.Buffer, text []byte) error {
	if w == nil || len(text) == 0 || text[0] != '{' && text[0] != '[' {
		to.Write(text)
		return nil
	}
	from, inList := json.NewDecoder(bytes.NewReader(text)), text[0] == '['
	if _, err := from.Token(); err != nil {
		return err
	}
	to.WriteByte(text[0])
	for first := true; from.More(); {
		name, inside, ok := "", w, true
		if !inList {
			token, err := from.Token()
			if err != nil {
				return err
			}
			name, _ = token.(string)
			inside, ok = w[name]
		}
		var value json.RawMessage
		if err := from.Decode(&value); err != nil {
			return err
		}
		if !ok {
			continue
		}
		if !first {
			to.WriteByte(',')
		}
		first = false
		if !inList {
			key, err := json.Marshal(name)
			if err != nil {
				return err
			}
			to.Write(append(key, ':'))
		}
		if err := inside.write(to, value); err != nil {
			return err
		}
	}
	to.WriteByte(text[0] + 2) // the closing bracket
	return nil
}
