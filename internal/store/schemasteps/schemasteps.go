// Package schemasteps reads the numbered steps of a schema, and compares them with those that have run in a database. It owns nothing, and
// no table either. Begin reading at Read.
package schemasteps

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
)

// Step is one numbered step of the schema. There are no steps back: a later step mends the mistake of an earlier.
type Step struct {
	Number int
	Name   string
	Text   string
}

// Ran is a step that has run in a database.
type Ran struct {
	Number int
	Name   string
	Digest string // of its text; "" if it is not known
}

var fileName = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)

// Read reads the steps of a folder in their order. It refuses a gap in the numbers: a gap is a merge that went wrong.
func Read(files fs.FS, folder string) ([]Step, error) {
	names, err := fs.Glob(files, folder+"/*.sql") // sorted by name, and so by number
	if err != nil {
		return nil, err
	}
	var steps []Step
	for i, name := range names {
		parts := fileName.FindStringSubmatch(path.Base(name))
		if parts == nil {
			return nil, fmt.Errorf("migration %s is not named NNNN_words.sql", name)
		}
		number, _ := strconv.Atoi(parts[1])
		if number != i+1 {
			return nil, fmt.Errorf("migration %s stands at place %d", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, Step{Number: number, Name: parts[2], Text: string(text)})
	}
	return steps, nil
}

// String is the name of the file, without its ending.
func (s Step) String() string { return fmt.Sprintf("%04d_%s", s.Number, s.Name) }

// Digest is the SHA-256 of the text of a step, in hexadecimal.
func (s Step) Digest() string {
	sum := sha256.Sum256([]byte(s.Text))
	return hex.EncodeToString(sum[:])
}

// Compare says what does not fit between the steps that have run and those of this program.
func Compare(ran []Ran, steps []Step) error {
	for i, was := range ran {
		switch {
		case i >= len(steps):
			return fmt.Errorf("its schema is at step %d, and this program knows %d steps. Use a newer holdfast",
				ran[len(ran)-1].Number, len(steps))
		case was.Number != i+1:
			return fmt.Errorf("step %d of its schema is missing. Nothing was changed", i+1)
		case was.Name != steps[i].Name:
			return fmt.Errorf("step %d of its schema is %q, and this program's is %q. "+
				"Another program, or another line of holdfast, has made it. Nothing was changed", i+1, was.Name, steps[i].Name)
		case was.Digest != "" && was.Digest != steps[i].Digest():
			return fmt.Errorf("step %d of its schema, %q, had another text than this program's. "+
				"Another line of holdfast has made it. Nothing was changed", i+1, was.Name)
		}
	}
	return nil
}
