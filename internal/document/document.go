// Package document makes the papers that people file: the statement of a channel as a PDF, in each language of the
// service. The same statement gives the same bytes. Latin, Greek and Cyrillic letters come with the program; ideographs
// and hangul come from a directory of fonts, because their fonts are forty times as large as the program needs to be.
package document

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/image/font/sfnt"

	"holdfast/internal/fault"
)

// DefaultFontDir is where Debian's package fonts-noto-cjk puts its fonts.
const DefaultFontDir = "/usr/share/fonts/opentype/noto"

//go:embed texts.json fonts
var files embed.FS

// texts holds what is printed around the figures, by language and by name.
var texts = func() map[string]map[string]string {
	content, err := files.ReadFile("texts.json")
	found := map[string]map[string]string{}
	if err == nil {
		err = json.Unmarshal(content, &found)
	}
	if err != nil { // part of the program: a test reads every entry
		panic(err)
	}
	return found
}()

// Languages lists the languages in which a document can be made.
func Languages() []string { return slices.Sorted(maps.Keys(texts)) }

// Fonts says where the fonts lie that are not part of the program.
type Fonts struct {
	Dir string // DefaultFontDir where it is empty
}

func (f Fonts) dir() string {
	if f.Dir == "" {
		return DefaultFontDir
	}
	return f.Dir
}

// The weights of a document.
const (
	regular = "Regular"
	bold    = "Bold"
)

// faces are the names of the fonts inside the collections, by language: the same ideograph is drawn otherwise in Japan
// and in China. Other languages take the first one that has the character.
var faces = map[string]string{"jaJA": "JP", "koKO": "KR", "zhZH": "SC"}

// typeface makes the font of a weight that a text needs, and says which of its characters no font has. Where fonts that
// may have them are not installed, that is an error: the paper must not depend on it.
func (f Fonts) typeface(text string, weight, language string) (made []byte, missing []rune, err error) {
	content, err := files.ReadFile("fonts/NotoSans-" + weight + ".ttf")
	if err != nil {
		return nil, nil, err
	}
	latin, err := sfnt.Parse(content)
	if err != nil {
		return nil, nil, fmt.Errorf("the font NotoSans-%s: %w", weight, err)
	}
	characters := map[rune]bool{}
	for _, r := range printableASCII + text {
		characters[r] = true
	}
	glyphs, missing, err := collect(characters, []*sfnt.Font{latin})
	elsewhere := func(r rune) bool { return r <= lastCharacter } // perhaps in another font
	if err != nil || !slices.ContainsFunc(missing, elsewhere) {
		return typeface(glyphs, weight == bold), missing, err
	}
	collection, err := os.Open(filepath.Join(f.dir(), "NotoSansCJK-"+weight+".ttc"))
	if err != nil {
		return nil, nil, &fault.Error{
			Kind: fault.Invalid, Message: "Invalid parameter(s): language", Err: err,
			Params: map[string]string{"language": fmt.Sprintf("The document has characters (such as %q) whose fonts are not installed: "+
				"Debian's package fonts-noto-cjk has them.", missing[slices.IndexFunc(missing, elsewhere)])},
		}
	}
	defer collection.Close()
	fonts, err := openCollection(collection, faces[language])
	if err != nil {
		return nil, nil, fmt.Errorf("the font %s: %w", collection.Name(), err)
	}
	if glyphs, missing, err = collect(characters, append([]*sfnt.Font{latin}, fonts...)); err != nil {
		return nil, nil, err
	}
	return typeface(glyphs, weight == bold), missing, nil
}

// printableASCII is what the PDF library puts into every document.
var printableASCII = func() string {
	var b strings.Builder
	for r := ' '; r <= '~'; r++ {
		b.WriteRune(r)
	}
	return b.String()
}()

// openCollection opens the fonts of a collection, that of the region first.
func openCollection(file *os.File, region string) ([]*sfnt.Font, error) {
	collection, err := sfnt.ParseCollectionReaderAt(file)
	if err != nil {
		return nil, err
	}
	var fonts []*sfnt.Font
	for i := range collection.NumFonts() {
		f, err := collection.Font(i)
		if err != nil {
			return nil, err
		}
		name, err := f.Name(nil, sfnt.NameIDFamily)
		if err != nil {
			return nil, err
		}
		switch {
		case region != "" && strings.HasSuffix(name, " CJK "+region) && !strings.Contains(name, "Mono"):
			fonts = slices.Insert(fonts, 0, f)
		case !strings.Contains(name, "Mono"):
			fonts = append(fonts, f)
		}
	}
	return fonts, nil
}
