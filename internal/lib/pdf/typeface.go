package pdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// unitsPerEm is the grid of the fonts that are made here. Outlines from fonts with another grid are scaled to it.
const unitsPerEm = 1000

// Height of a line above and below its base: the values of Noto Sans.
const ascent, descent = 1069, -293

// glyph is one character's outline and width.
type glyph struct {
	character rune
	advance   int
	outline   sfnt.Segments
}

// collect takes every character from the first font that has it. It returns the characters that no font has, because an
// empty box on the paper would say nothing.
func collect(characters map[rune]bool, fonts []*sfnt.Font) (glyphs []glyph, missing []rune, err error) {
	var buffer sfnt.Buffer
	for _, r := range slices.Sorted(maps.Keys(characters)) {
		g, found, err := find(&buffer, r, fonts)
		if err != nil {
			return nil, nil, err
		}
		if !found {
			missing = append(missing, r)
			continue
		}
		glyphs = append(glyphs, g)
	}
	return glyphs, missing, nil
}

func find(buffer *sfnt.Buffer, r rune, fonts []*sfnt.Font) (glyph, bool, error) {
	const size = unitsPerEm << 6 // in 64ths
	if r > lastCharacter {
		return glyph{}, false, nil
	}
	for _, f := range fonts {
		index, err := f.GlyphIndex(buffer, r)
		if err != nil {
			return glyph{}, false, fmt.Errorf("character %U: %w", r, err)
		}
		if index == 0 {
			continue
		}
		advance, err := f.GlyphAdvance(buffer, index, size, font.HintingNone)
		if err != nil {
			return glyph{}, false, fmt.Errorf("character %U: %w", r, err)
		}
		outline, err := f.LoadGlyph(buffer, index, size, nil)
		if err != nil {
			return glyph{}, false, fmt.Errorf("character %U: %w", r, err)
		}
		return glyph{r, advance.Round(), slices.Clone(outline)}, true, nil // cloned, because the buffer is used again
	}
	return glyph{}, false, nil
}

// lastCharacter is the last character for which the character map of the font has a place.
const lastCharacter = 0xFFFE

// typeface writes a TrueType font with the given glyphs, in the order of their characters. The PDF library can embed
// only TrueType outlines, and Debian's CJK fonts have the other kind (CFF). So every document gets its own font with
// the outlines that it needs.
func typeface(glyphs []glyph, bold bool) []byte {
	drawn := []contours{{}} // glyph 0 is for missing characters, and never used
	widths := []int{unitsPerEm / 2}
	for _, g := range glyphs {
		drawn = append(drawn, draw(g.outline))
		widths = append(widths, g.advance)
	}
	var glyf, loca, hmtx table
	most := 0
	for i, c := range drawn {
		loca.u32(len(glyf.Bytes()))
		c.write(&glyf)
		hmtx.u16(widths[i])
		hmtx.u16(c.box().minX)
		most = max(most, c.points())
	}
	loca.u32(len(glyf.Bytes()))
	weight := 400
	if bold {
		weight = 700
	}
	return assemble(map[string][]byte{
		"OS/2": os2(weight), "cmap": characterMap(glyphs), "glyf": glyf.Bytes(), "head": head(drawn),
		"hhea": hhea(len(drawn), slices.Max(widths)), "hmtx": hmtx.Bytes(), "loca": loca.Bytes(), "maxp": maxp(len(drawn), most),
		"name": words(0, 0, 6), "post": post(),
	})
}

// table is one table of a font. All of its numbers are big-endian.
type table struct{ bytes.Buffer }

func (t *table) u16(v int) { _ = binary.Write(t, binary.BigEndian, uint16(v)) }

func (t *table) u32(v int) { _ = binary.Write(t, binary.BigEndian, uint32(v)) }

func words(values ...int) []byte {
	var t table
	for _, v := range values {
		t.u16(v)
	}
	return t.Bytes()
}

func head(drawn []contours) []byte {
	var all box
	for _, c := range drawn {
		all = all.with(c.box())
	}
	var t table
	t.u32(0x00010000) // version
	t.u32(0x00010000) // revision
	t.u32(0)          // checksum, which readers of PDF do not check
	t.u32(0x5F0F3CF5)
	t.u16(3) // base line at 0, left side at the outline
	t.u16(unitsPerEm)
	t.Write(make([]byte, 16)) // no dates, so that the same text gives the same bytes
	for _, v := range []int{all.minX, all.minY, all.maxX, all.maxY, 0, 8, 2, 1, 0} {
		t.u16(v)
	}
	return t.Bytes()
}

func hhea(glyphs, widest int) []byte {
	var t table
	t.u32(0x00010000)
	for _, v := range []int{ascent, descent, 0, widest, 0, 0, widest, 1, 0, 0, 0, 0, 0, 0, 0, glyphs} {
		t.u16(v)
	}
	return t.Bytes()
}

func maxp(glyphs, points int) []byte {
	var t table
	t.u32(0x00010000)
	for _, v := range []int{glyphs, points, points, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0} {
		t.u16(v)
	}
	return t.Bytes()
}

func os2(weight int) []byte {
	var t table
	for _, v := range []int{1, unitsPerEm / 2, weight, 5, 0} {
		t.u16(v)
	}
	t.Write(make([]byte, 58)) // fields that no reader of PDF uses
	for _, v := range []int{ascent, descent, 0, ascent, -descent} {
		t.u16(v)
	}
	t.Write(make([]byte, 8))
	return t.Bytes()
}

func post() []byte {
	var t table
	t.u32(0x00030000)
	t.u32(0)
	t.u16(-100) // underline
	t.u16(50)
	t.Write(make([]byte, 20))
	return t.Bytes()
}

// characterMap maps characters to glyphs (format 4). Glyph i+1 belongs to the i-th character, so that characters that
// follow each other share a segment.
func characterMap(glyphs []glyph) []byte {
	type segment struct{ first, last, delta int }
	var segments []segment
	for i, g := range glyphs {
		r := int(g.character)
		if n := len(segments); n > 0 && segments[n-1].last == r-1 {
			segments[n-1].last = r
			continue
		}
		segments = append(segments, segment{r, r, i + 1 - r})
	}
	segments = append(segments, segment{0xFFFF, 0xFFFF, 1})
	n := len(segments)
	var t table
	for _, v := range []int{0, 1, 3, 1} { // one map, of Unicode
		t.u16(v)
	}
	t.u32(12)
	search := 1
	for search*2 <= n {
		search *= 2
	}
	for _, v := range []int{4, 16 + 8*n, 0, 2 * n, 2 * search, log2(search), 2 * (n - search)} {
		t.u16(v)
	}
	for _, s := range segments {
		t.u16(s.last)
	}
	t.u16(0)
	for _, s := range segments {
		t.u16(s.first)
	}
	for _, s := range segments {
		t.u16(s.delta)
	}
	for range segments {
		t.u16(0)
	}
	return t.Bytes()
}

func log2(n int) (log int) {
	for ; n > 1; n /= 2 {
		log++
	}
	return log
}

// assemble writes the directory of the tables, and then the tables.
func assemble(tables map[string][]byte) []byte {
	var t, data table
	search := 1
	for search*2 <= len(tables) {
		search *= 2
	}
	t.u32(0x00010000)
	for _, v := range []int{len(tables), 16 * search, log2(search), 16 * (len(tables) - search)} {
		t.u16(v)
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		content := tables[name]
		t.WriteString(name)
		t.u32(checksum(content))
		t.u32(12 + 16*len(tables) + data.Len())
		t.u32(len(content))
		data.Write(content)
		data.Write(make([]byte, -len(content)&3))
	}
	return append(t.Bytes(), data.Bytes()...)
}

func checksum(content []byte) int {
	var sum uint32
	for chunk := range slices.Chunk(content, 4) {
		var word [4]byte
		copy(word[:], chunk)
		sum += binary.BigEndian.Uint32(word[:])
	}
	return int(sum)
}

// point is a point on an outline, or a control point of a curve.
type point struct {
	x, y    int
	onCurve bool
}

type contours [][]point

type box struct{ minX, minY, maxX, maxY int }

func (b box) with(o box) box {
	return box{min(b.minX, o.minX), min(b.minY, o.minY), max(b.maxX, o.maxX), max(b.maxY, o.maxY)}
}

func (c contours) points() (n int) {
	for _, contour := range c {
		n += len(contour)
	}
	return n
}

func (c contours) box() (b box) {
	first := true
	for _, contour := range c {
		for _, p := range contour {
			at := box{p.x, p.y, p.x, p.y}
			if first {
				b, first = at, false
			}
			b = b.with(at)
		}
	}
	return b
}

// write writes the contours as a simple glyph, with two bytes for every coordinate. An empty glyph has no bytes.
func (c contours) write(t *table) {
	if len(c) == 0 {
		return
	}
	b := c.box()
	for _, v := range []int{len(c), b.minX, b.minY, b.maxX, b.maxY} {
		t.u16(v)
	}
	end := -1
	for _, contour := range c {
		end += len(contour)
		t.u16(end)
	}
	t.u16(0) // no instructions
	for _, p := range slices.Concat(c...) {
		flag := byte(0)
		if p.onCurve {
			flag = 1
		}
		t.WriteByte(flag)
	}
	x, y := 0, 0
	for _, p := range slices.Concat(c...) {
		t.u16(p.x - x)
		x = p.x
	}
	for _, p := range slices.Concat(c...) {
		t.u16(p.y - y)
		y = p.y
	}
	t.Write(make([]byte, -t.Len()&3))
}

// draw turns an outline into the contours of TrueType: lines and quadratic curves, with y upwards.
func draw(outline sfnt.Segments) (c contours) {
	var at fixed.Point26_6
	for _, s := range outline {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			c = append(c, nil)
			c.add(s.Args[0], true)
			at = s.Args[0]
		case sfnt.SegmentOpLineTo:
			c.add(s.Args[0], true)
			at = s.Args[0]
		case sfnt.SegmentOpQuadTo:
			c.add(s.Args[0], false)
			c.add(s.Args[1], true)
			at = s.Args[1]
		case sfnt.SegmentOpCubeTo:
			c.cubic([4]fixed.Point26_6{at, s.Args[0], s.Args[1], s.Args[2]})
			at = s.Args[2]
		}
	}
	return slices.DeleteFunc(c, func(contour []point) bool { return len(contour) < 2 })
}

func (c contours) add(p fixed.Point26_6, onCurve bool) {
	last := &c[len(c)-1]
	*last = append(*last, point{p.X.Round(), (-p.Y).Round(), onCurve})
}

// cubicParts is the number of quadratic curves that replace a cubic one. With four, the largest curve of a Chinese
// character differs by less than a thousandth of its size.
const cubicParts = 4

// cubic replaces a cubic curve by quadratic ones.
func (c contours) cubic(p [4]fixed.Point26_6) {
	for part := cubicParts; part > 0; part-- {
		// Cut off the first 1/part of the rest, as de Casteljau does.
		cut := func(a, b fixed.Point26_6) fixed.Point26_6 {
			return fixed.Point26_6{X: a.X + (b.X-a.X)/fixed.Int26_6(part), Y: a.Y + (b.Y-a.Y)/fixed.Int26_6(part)}
		}
		ab, bc, cd := cut(p[0], p[1]), cut(p[1], p[2]), cut(p[2], p[3])
		abc, bcd := cut(ab, bc), cut(bc, cd)
		end := cut(abc, bcd)
		// The control point of the quadratic curve nearest to the piece p0, ab, abc, end.
		control := fixed.Point26_6{
			X: (3*(ab.X+abc.X) - p[0].X - end.X) / 4, Y: (3*(ab.Y+abc.Y) - p[0].Y - end.Y) / 4,
		}
		c.add(control, false)
		c.add(end, true)
		p = [4]fixed.Point26_6{end, bcd, cd, p[3]}
	}
}
