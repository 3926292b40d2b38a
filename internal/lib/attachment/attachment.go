// Package attachment recognises the files that people attach (PDF, PNG and JPEG) by their content, and keeps safe names for them. Start at
// TypeOf.
package attachment

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"holdfast/internal/errs"
)

// MaxBytes is the size of the largest file.
const MaxBytes = 5 << 20

// PieceBytes is how much of a file is stored in one row.
const PieceBytes = 256 << 10

// kinds are the types of files, by how their content begins. The type given by a name or a browser is ignored.
var kinds = []struct {
	begin, kind, mime string
	endings           []string // file extensions; the first one is added to names without any
}{
	{"%PDF-", "pdf", "application/pdf", []string{".pdf"}},
	{"\x89PNG\r\n\x1a\n", "png", "image/png", []string{".png"}},
	{"\xff\xd8\xff", "jpeg", "image/jpeg", []string{".jpg", ".jpeg"}},
}

// MIME is a type as HTTP writes it.
func MIME(kind string) string {
	for _, k := range kinds {
		if k.kind == kind {
			return k.mime
		}
	}
	return "application/octet-stream"
}

// TypeOf finds the type of a file: pdf, png or jpeg. Errors, about the field file: Missing if it is empty, Invalid if it is too large or of
// another type.
func TypeOf(content []byte) (string, error) {
	switch {
	case len(content) == 0:
		var p errs.Problems
		p.Missing("file")
		return "", p.Err()
	case len(content) > MaxBytes:
		return "", errs.WrongField("file", "A document can have at most %d MB.", MaxBytes>>20)
	}
	for _, k := range kinds {
		if bytes.HasPrefix(content, []byte(k.begin)) {
			return k.kind, nil
		}
	}
	return "", errs.WrongField("file", "A document must be a PDF, a PNG or a JPEG.")
}

// Pieces cuts a file into pieces of PieceBytes.
func Pieces(content []byte) (list [][]byte) {
	for piece := range slices.Chunk(content, PieceBytes) {
		list = append(list, piece)
	}
	return list
}

// ending matches what programs read as a file extension.
var ending = regexp.MustCompile(`(?i)\.[a-z][a-z0-9]{0,7}$`)

func cutEnding(name string) (rest, given string) {
	given = ending.FindString(name)
	return strings.TrimRight(strings.TrimSuffix(name, given), ". "), strings.ToLower(given)
}

// NameFor keeps the name of a file, without paths and characters that would break a header, and at most so many characters. The result always
// has the extension of its type, whatever the sender used.
func NameFor(name, kind string, most int) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(c rune) rune {
		// Characters of class Cf can reverse the text direction, and so disguise the extension.
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || strings.ContainsRune(`"/;%`, c) {
			return -1
		}
		return c
	}, name)
	name = strings.Trim(name, ". ")
	for _, k := range kinds {
		if k.kind != kind {
			continue
		}
		name, given := cutEnding(name)
		if !slices.Contains(k.endings, given) {
			given = k.endings[0]
			if shorter, inner := cutEnding(name); slices.Contains(k.endings, inner) { // accounts.pdf.exe
				name, given = shorter, inner
			}
		}
		if runes := []rune(name); len(runes)+len(given) > most {
			name = string(runes[:most-len(given)])
		}
		return cmp.Or(name, "document") + given
	}
	return name
}
