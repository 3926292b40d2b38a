package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"holdfast/internal/store"
	"holdfast/internal/store/catalog"

	"github.com/google/uuid"
)

// samples are the rows that requests to the product have inserted. The limits insert these and do nothing else. Channels
// and days are those of the measured requests, and words vary as much, because the cost of an index depends on where its
// entries go.
type samples struct {
	tables   []catalog.Table // in an order in which rows can be inserted
	requests []sampleRows
	words    func(n int64) words
}

// sampleRows are the rows of one request, by table.
type sampleRows [][][]cell

// words are the texts that differ between requests: a reference, a surname and an e-mail address.
type words [3]string

// marks are the prefixes of the words in sample requests. The prefix of a reference is followed by a number.
var marks = words{"SAMPLE-REFERENCE", "SAMPLE-SURNAME", "sample-email"}

// cell is a value of a row, with the parts that differ between requests.
type cell struct {
	value   any
	variety variety
	parts   []string // the text around the words of a request
	word    []int    // which word goes between the parts
}

type variety int

const (
	same variety = iota
	idOfRequest
	newUUID
	withWords
)

// The ids from sample requests start at firstID, with a separate range for each table, so that ids are recognisable by
// their size.
const (
	firstID = 1_000_000_000_000
	apart   = 1_000_000_000
	stride  = 16 // between the ids of consecutive requests
)

var (
	uuidText = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	anyMark  = regexp.MustCompile(marks[0] + `-[0-9]+-|` + marks[1] + `|` + marks[2])
)

// isID reports whether a value is an id that was assigned to a sample request.
func isID(value any) (id int64, is bool) {
	id, is = value.(int64)
	return id, is && id > firstID && id < firstID+1000*apart
}

// requestOf is the number of the sample request that an id was assigned to.
func requestOf(id int64) int { return int((id - firstID) % apart / stride) }

// cellOf analyses a value from the request with this number.
func cellOf(value any, number int) cell {
	if id, is := isID(value); is {
		return cell{value: id - int64(number)*stride, variety: idOfRequest}
	}
	text, is := value.(string)
	switch {
	case is && uuidText.MatchString(text):
		return cell{value: text, variety: newUUID}
	case is && anyMark.MatchString(text):
		c := cell{value: text, variety: withWords, parts: anyMark.Split(text, -1)}
		for _, found := range anyMark.FindAllString(text, -1) {
			for i, mark := range marks {
				if strings.HasPrefix(found, mark) {
					c.word = append(c.word, i)
				}
			}
		}
		return c
	}
	return cell{value: value}
}

// of is the value for request n.
func (c cell) of(n int64, w *words) any {
	switch c.variety {
	case idOfRequest:
		return c.value.(int64) + n*stride
	case newUUID:
		return uuid.Must(uuid.NewV7()).String() // like the product's
	case withWords:
		var text strings.Builder
		for i, part := range c.parts {
			text.WriteString(part)
			if i < len(c.word) {
				text.WriteString(w[c.word[i]])
			}
		}
		return text.String()
	}
	return c.value
}

// add adds a row that a sample request inserted. Tables must come in order. first is the number of the first request.
func (s *samples) add(t catalog.Table, values []any, first int) error {
	number := -1
	for _, value := range values {
		id, is := isID(value)
		if is && number >= 0 && requestOf(id) != number {
			return fmt.Errorf("a row of %s has ids of more than one request: %v", t.Name, values)
		}
		if is {
			number = requestOf(id)
		}
	}
	if number < first || number >= first+len(s.requests) {
		return fmt.Errorf("no id shows which request inserted a row of %s: %v", t.Name, values)
	}
	cells := make([]cell, len(values))
	for i, value := range values {
		cells[i] = cellOf(value, number)
	}
	if len(s.tables) == 0 || s.tables[len(s.tables)-1].Name != t.Name {
		s.tables = append(s.tables, t)
		for i := range s.requests {
			s.requests[i] = append(s.requests[i], nil)
		}
	}
	rows := &s.requests[number-first][len(s.tables)-1]
	*rows = append(*rows, cells)
	return nil
}

// insert inserts the rows of the requests numbered first to last.
func (s samples) insert(tx *store.Tx, first, last int64) error {
	own := make([]words, last-first+1)
	for i := range own {
		own[i] = s.words(first + int64(i))
	}
	for i, t := range s.tables {
		var rows [][]any
		for n := first; n <= last; n++ {
			for _, cells := range s.requests[n%int64(len(s.requests))][i] {
				row := make([]any, len(cells))
				for j, c := range cells {
					row[j] = c.of(n, &own[n-first])
				}
				rows = append(rows, row)
			}
		}
		if err := tx.Catalog().Whole(t).Put(rows); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

// String lists the tables with the number of rows in one request.
func (s samples) String() string {
	var list []string
	for i, t := range s.tables {
		list = append(list, fmt.Sprintf("%s %d", t.Name, len(s.requests[0][i])))
	}
	return strings.Join(list, ", ")
}

// anyWords are the words of requests in random order: see visitor.bookingOf.
func anyWords(int64) words {
	number := func(n int) string { return strconv.Itoa(rand.IntN(n)) }
	return words{"B-" + number(1_000_000) + "a" + number(1_000_000), "Lovelace" + number(5000), "traveller" + number(1_000_000)}
}

// wordsInTurn are the words of consecutive requests: see visitor.payment and writeImport.
func wordsInTurn(n int64) words {
	number := strconv.FormatInt(n, 10)
	return words{"I-n" + number, "Lovelace" + strconv.FormatInt(n%5000, 10), "traveller" + number}
}
