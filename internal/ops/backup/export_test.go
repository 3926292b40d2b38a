package backup

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"io"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// Unpacked returns the lines of a backup.
func Unpacked(t *testing.T, file []byte) string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Packed makes a file of lines.
func Packed(text string) []byte {
	var file bytes.Buffer
	zip := gzip.NewWriter(&file)
	_, _ = io.WriteString(zip, text)
	_ = zip.Close()
	return file.Bytes()
}

// WithoutForeignKeys opens a SQLite file without foreign keys.
func WithoutForeignKeys(t *testing.T, path string) *sql.DB {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	raw.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

// Run runs a statement.
func Run(t *testing.T, raw *sql.DB, text string) {
	t.Helper()
	if _, err := raw.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}
