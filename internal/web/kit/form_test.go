package kit

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/errs"
)

// uploaded is a visit that sends fields of the given lengths, and then a file.
func uploaded(t *testing.T, values ...string) *Visit {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i, value := range values {
		_ = form.WriteField(fmt.Sprint("field", i), value) // a buffer takes everything
	}
	file, _ := form.CreateFormFile("file", "rows.csv")
	_, _ = io.WriteString(file, "the file")
	_ = form.Close()
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "POST", "/", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return &Visit{W: w, R: r, frame: &Frame{Config: Config{ImportBytes: 1 << 20}}}
}

// TestFieldsOfAnUploadHaveABoundTogether: each one is small enough.
func TestFieldsOfAnUploadHaveABoundTogether(t *testing.T) {
	t.Parallel()
	third := strings.Repeat("a", MaxForm/3)
	form, file, name, err := uploaded(t, third, third, third).Upload("file")
	if err != nil || name != "rows.csv" || len(form.Get("field2")) != MaxForm/3 {
		t.Fatalf("as much as may be: %q %v", name, err)
	}
	if text, err := io.ReadAll(file); err != nil || string(text) != "the file" {
		t.Errorf("the file: %q %v", text, err)
	}
	if _, _, _, err := uploaded(t, third, third, third, "more").Upload("file"); !errs.Is(err, errs.BodyTooLarge) {
		t.Errorf("more than may be: %v", err)
	}
	if _, _, _, err := uploaded(t, "a", "4111 1111 1111 1111").Upload("file"); !errs.Is(err, errs.CardNumber) {
		t.Errorf("a card number: %v", err)
	}
}
