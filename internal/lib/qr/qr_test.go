package qr_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"holdfast/internal/lib/qr"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
)

// texts are typical contents: URLs of certificates, and of second factors.
var texts = []string{
	"https://pay.example.org/certificate/" + strings.Repeat("k", 22),
	"otpauth://totp/Acme%20Travel:ada@example.org?algorithm=SHA1&digits=6&issuer=Acme%20Travel&period=30&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
	"HTTPS://PAY.EXAMPLE.ORG/1", "12345678", "Zahlung für Łukasz 支付", strings.Repeat("https://pay.example.org/", 40),
}

// scanned decodes an image like a camera app.
func scanned(picture image.Image) (string, error) {
	bitmap, err := gozxing.NewBinaryBitmapFromImage(picture)
	if err != nil {
		return "", err
	}
	found, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
	if err != nil {
		return "", err
	}
	return found.GetText(), nil
}

// drawn draws the path of an outline, which only has these commands.
func drawn(t *testing.T, c qr.Code, pixels int) image.Image {
	picture := image.NewGray(image.Rect(0, 0, c.Size()*pixels, c.Size()*pixels))
	for i := range picture.Pix {
		picture.Pix[i] = 255
	}
	for step := range strings.SplitSeq(strings.TrimSuffix(c.Outline(), "z"), "z") {
		var x, y, width, back int
		if _, err := fmt.Sscanf(step, "M%d %dh%dv1h-%d", &x, &y, &width, &back); err != nil || width != back {
			t.Fatalf("a step of the path is %q, %v", step, err)
		}
		for py := y * pixels; py < (y+1)*pixels; py++ {
			for px := x * pixels; px < (x+width)*pixels; px++ {
				picture.Set(px, py, color.Black)
			}
		}
	}
	return picture
}

// TestAScannerReadsTheCode: both forms, at the sizes that pages and mails show.
func TestAScannerReadsTheCode(t *testing.T) {
	t.Parallel()
	for _, text := range texts {
		code, err := qr.Of(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, pixels := range []int{2, 4, 8} {
			made, err := code.PNG(pixels)
			if err != nil {
				t.Fatal(err)
			}
			picture, err := png.Decode(bytes.NewReader(made))
			if err != nil {
				t.Fatal(err)
			}
			for form, picture := range map[string]image.Image{"PNG": picture, "outline": drawn(t, code, pixels)} {
				if got, err := scanned(picture); err != nil || got != text {
					t.Errorf("%s of %d pixels: %q is read as %q, %v", form, pixels, text, got, err)
				}
				if picture.Bounds().Dx() != code.Size()*pixels {
					t.Errorf("%s is %d pixels wide", form, picture.Bounds().Dx())
				}
				for _, edge := range []int{0, 4*pixels - 1} { // the light frame that scanners need
					if r, _, _, _ := picture.At(edge, picture.Bounds().Dy()/2).RGBA(); r != 0xffff {
						t.Errorf("%s has a dark point at %d of its frame", form, edge)
					}
				}
			}
		}
	}
}

// TestWhatIsTooLongHasNoCode: it is an error, not a truncated code.
func TestWhatIsTooLongHasNoCode(t *testing.T) {
	t.Parallel()
	if _, err := qr.Of(strings.Repeat("a", 2400)); err == nil {
		t.Error("2,400 bytes have a code")
	}
}
