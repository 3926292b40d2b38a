package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

const (
	uploadHeader = "booking_reference,channel_id,countries,currencies,date,total,firstname,surname,email,content,payment_reference," +
		"transaction_types,paid_at,payment_currencies,payment_total,booking_total\n"
	uploadRow = "B-1,1,PT,EUR,2026-07-08,120000,Ana,Sousa,ana@example.org,Seven nights,B-1-P1,purchase,2026-01-10 09:30:00,EUR,36000,36000\n"
)

// uploading is a world with limits for files, behind a server, with the token of a member.
func uploading(t *testing.T, bounds api.Config) (w *world, send func(file io.Reader) (int, string)) {
	t.Helper()
	w = newWorld(t, dbtest.SQLite(t), io.Discard)
	bounds.BaseURL = baseURL
	server := httptest.NewServer(api.New(w.app, bounds))
	t.Cleanup(server.Close)
	ask := func(path, token, kind string, body io.Reader) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, body)
		must(t, err)
		r.Header.Set("Content-Type", kind)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := server.Client().Do(r)
		must(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		must(t, err)
		return response.StatusCode, string(text)
	}
	_, text := ask("/auth/rest/jwt-auth/v1/token", "", "application/json",
		strings.NewReader(`{"username": "admin", "password": "`+password+`"}`))
	var session struct {
		Token string `json:"token"`
	}
	must(t, json.Unmarshal([]byte(text), &session))
	return w, func(file io.Reader) (int, string) {
		return ask("/demo/rest/svc/v2/imports?dry_run=true", session.Token, "text/csv", file)
	}
}

// TestAFileThatDoesNotComeIsEnded: after its deadline the caller gets an error, the stored part is deleted, and the
// slot is free: the next file of the same caller, who has one slot, is accepted.
func TestAFileThatDoesNotComeIsEnded(t *testing.T) {
	t.Parallel()
	w, send := uploading(t, api.Config{UploadTime: 300 * time.Millisecond})
	file, stuck := io.Pipe()
	defer stuck.Close()
	go func() { _, _ = io.WriteString(stuck, uploadHeader+strings.Repeat(uploadRow, 3000)) }() // more than one chunk, without an end
	if status, text := send(file); status != 400 || !strings.Contains(text, "upload was incomplete") {
		t.Errorf("%d %s", status, text)
	}
	dbtest.Read(t, w.app.DB.Store, func(tx *store.Tx) error {
		var pieces, open int
		err := tx.QueryRow(`SELECT (SELECT COUNT(*) FROM import_pieces), (SELECT COUNT(*) FROM imports WHERE state <> 'dropped')`, nil, &pieces, &open)
		if err != nil || pieces != 0 || open != 0 {
			t.Errorf("%d pieces and %d imports are left: %v", pieces, open, err)
		}
		return nil
	})
	if status, text := send(strings.NewReader(uploadHeader + uploadRow)); status != 202 {
		t.Errorf("the next file: %d %s", status, text)
	}
}

// TestTheBoundsOfFilesAreSettings: bytes, with or without Content-Length, and rows.
func TestTheBoundsOfFilesAreSettings(t *testing.T) {
	t.Parallel()
	_, send := uploading(t, api.Config{ImportBytes: 2000, ImportRows: 5})
	long := uploadHeader + strings.Repeat(uploadRow, 20)
	for _, c := range []struct {
		what   string
		file   io.Reader
		status int
		says   string
	}{
		{"five rows", strings.NewReader(uploadHeader + strings.Repeat(uploadRow, 5)), 202, `"rows":5`},
		{"six rows", strings.NewReader(uploadHeader + strings.Repeat(uploadRow, 6)), 413, "at most 5 rows"},
		{"many bytes", strings.NewReader(long), 413, "at most 2000 bytes"},
		{"many bytes, without Content-Length", io.MultiReader(strings.NewReader(long)), 413, "at most"},
	} {
		if status, text := send(c.file); status != c.status || !strings.Contains(strings.ReplaceAll(text, ": ", ":"), c.says) {
			t.Errorf("%s: %d %s", c.what, status, text)
		}
	}
}
