// Package pdf draws text in all languages of the service on PDF pages. The same text always produces the same bytes.
// Fonts for Latin, Greek, Cyrillic, Arabic, Hebrew and Thai are embedded. Fonts for Chinese, Japanese and Korean are
// read from a folder because they are forty times as large. Start at Fonts.New.
package pdf

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"holdfast/internal/errs"

	"golang.org/x/image/font/sfnt"
)

// DefaultFontDir is the folder into which Debian's package fonts-noto-cjk puts its fonts.
const DefaultFontDir = "/usr/share/fonts/opentype/noto"

//go:embed fonts
var files embed.FS

// Fonts is the folder of the fonts that are not part of the program.
type Fonts struct {
	Dir string // "" means DefaultFontDir
}

func (f Fonts) dir() string {
	if f.Dir == "" {
		return DefaultFontDir
	}
	return f.Dir
}

// retryTime is when to retry a document after a font was missing: the font has to be installed first.
const retryTime = time.Hour

// The weights of a document.
const (
	regular = "Regular"
	bold    = "Bold"
)

// faces are the names of the fonts inside the collections, by language. Japan and China draw the same character
// differently. Other languages take the first font that has the character.
var faces = map[string]string{"jaJA": "JP", "koKO": "KR", "zhZH": "SC"}

// typeface collects the glyphs of the characters of a text, and returns the characters that no font has. If the fonts that may
// have them are not installed, the error is Unavailable: the bytes of a document must not depend on the machine.
func (f Fonts) typeface(text string, weight, language string) (glyphs []glyph, missing []rune, err error) {
	inside, err := embedded(weight)
	if err != nil {
		return nil, nil, err
	}
	characters := map[rune]bool{}
	for _, r := range printableASCII + text {
		characters[r] = true
	}
	glyphs, missing, err = collect(characters, inside)
	elsewhere := func(r rune) bool { return r <= lastCharacter } // another font may have it
	if err != nil || !slices.ContainsFunc(missing, elsewhere) {
		return glyphs, missing, err
	}
	collection, err := os.Open(filepath.Join(f.dir(), "NotoSansCJK-"+weight+".ttc"))
	if err != nil { // it is not installed: the caller decides whether the document can do without
		return glyphs, missing, nil
	}
	defer collection.Close()
	fonts, err := openCollection(collection, faces[language])
	if err != nil {
		return nil, nil, fmt.Errorf("the font %s: %w", collection.Name(), err)
	}
	return collect(characters, slices.Concat(inside, fonts))
}

// embedded opens the fonts that are part of the program.
func embedded(weight string) (fonts []*sfnt.Font, err error) {
	contents, err := unpacked[weight]()
	if err != nil {
		return nil, err
	}
	for _, content := range contents {
		font, err := sfnt.Parse(content)
		if err != nil {
			return nil, fmt.Errorf("a font of the weight %s: %w", weight, err)
		}
		fonts = append(fonts, font)
	}
	return fonts, nil
}

// unpacked gives the fonts of each weight. They lie in the program compressed, half as large, and are unpacked for the first
// document.
var unpacked = map[string]func() ([][]byte, error){
	regular: sync.OnceValues(func() ([][]byte, error) { return unpack(regular) }),
	bold:    sync.OnceValues(func() ([][]byte, error) { return unpack(bold) }),
}

func unpack(weight string) (contents [][]byte, err error) {
	for _, name := range []string{"NotoSans", "NotoSansArabic", "NotoSansHebrew", "NotoSansThai"} {
		file, err := files.Open("fonts/" + name + "-" + weight + ".ttf.gz")
		if err != nil {
			return nil, err
		}
		content, err := inflate(file)
		if err != nil {
			return nil, fmt.Errorf("the font %s-%s: %w", name, weight, err)
		}
		contents = append(contents, content)
	}
	return contents, nil
}

func inflate(file io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// noFont is the error when no font has a character of our own texts. Nothing is wrong with the request.
func noFont(r rune) error {
	return &errs.Error{
		Kind: errs.Unavailable, RetryAfter: retryTime,
		Message: fmt.Sprintf("This server has no font for some characters of the document, such as %q (%U). The operator must install "+
			"the Debian package fonts-noto-cjk.", r, r),
	}
}

// printableASCII is the characters that the PDF library itself uses in every document.
var printableASCII = func() string {
	var b strings.Builder
	for r := ' '; r <= '~'; r++ {
		b.WriteRune(r)
	}
	return b.String()
}()

// openCollection opens the fonts of a collection. The font of the region comes first.
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
