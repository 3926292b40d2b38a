// Package qr creates QR codes: of a certificate's address, for its page and for mails, and of any other short text
// for a camera, such as the otpauth: address of a second factor. Start at Of.
package qr

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"
)

// quiet is the number of light modules around a QR code: scanners need four.
const quiet = 4

// Code is a QR code, as a square of modules.
type Code struct{ modules barcode.Barcode }

// Of makes the QR code of a text. It stays readable when 15 % of it are lost (level M), which a folded paper needs. A text of
// more than about 2,300 bytes has no such code.
func Of(text string) (Code, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return Code{}, fmt.Errorf("QR code of %d bytes: %w", len(text), err)
	}
	return Code{code}, nil
}

// Size is the width of the code in modules, with the light ones around it.
func (c Code) Size() int { return c.modules.Bounds().Dx() + 2*quiet }

// dark reports whether a module is dark, counted from the corner of the code itself.
func (c Code) dark(x, y int) bool { return c.modules.At(x, y) == color.Black }

// Outline is the dark modules as the path of an SVG whose viewBox is "0 0 Size Size": one line for each row of modules.
func (c Code) Outline() string {
	var b strings.Builder
	n := c.modules.Bounds().Dx()
	for y := range n {
		for x := 0; x < n; x++ {
			from := x
			for x < n && c.dark(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	return b.String()
}

// PNG is the code as a black and white image, with the light frame. A module is as many pixels wide as given.
func (c Code) PNG(pixels int) ([]byte, error) {
	width := c.Size() * pixels
	drawn := image.NewPaletted(image.Rect(0, 0, width, width), color.Palette{color.White, color.Black})
	n := c.modules.Bounds().Dx() * pixels
	for y := range n {
		for x := range n {
			if c.dark(x/pixels, y/pixels) {
				drawn.SetColorIndex(x+quiet*pixels, y+quiet*pixels, 1)
			}
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, drawn)
	return b.Bytes(), err
}
