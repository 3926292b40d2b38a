package certificates

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/qr"
)

// quiet is how many light modules stand around a QR code: scanners need four.
const quiet = 4

// QR is a QR code, as a square of modules.
type QR struct{ modules barcode.Barcode }

// QROf makes the QR code of an address. It stays readable when 15 % of it are lost (level M), which a folded paper needs.
func QROf(address string) (QR, error) {
	code, err := qr.Encode(address, qr.M, qr.Auto)
	return QR{code}, err
}

// Size is the width of the code in modules, with the light ones around it.
func (q QR) Size() int { return q.modules.Bounds().Dx() + 2*quiet }

// dark reports whether a module is dark, counted from the corner of the code itself.
func (q QR) dark(x, y int) bool { return q.modules.At(x, y) == color.Black }

// Outline is the dark modules as the path of an SVG whose viewBox is "0 0 Size Size": one line for each row of modules.
func (q QR) Outline() string {
	var b strings.Builder
	n := q.modules.Bounds().Dx()
	for y := range n {
		for x := 0; x < n; x++ {
			from := x
			for x < n && q.dark(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	return b.String()
}
