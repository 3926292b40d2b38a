package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"holdfast/internal/civil"
)

// Credentials is what of the demo cannot be read back from its database, which keeps hashes only. It lies in a file
// beside the database that only its owner can read, so that the next start can show it again.
type Credentials struct {
	OperatorPassword string `json:"operator_password"`
	AdminPassword    string `json:"admin_password"`
	Token            string `json:"token"`
	// BookDay is the day that the book was made for. A book that was interrupted is taken up on the same day again.
	BookDay    string `json:"book_day,omitempty"`
	BookLoaded bool   `json:"book_loaded"`
	// Origins are those that the last start let the payment modal open on; the next may be found under others.
	Origins []string `json:"origins,omitempty"`
}

func readCredentials(path string) (Credentials, error) {
	var c Credentials
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err == nil && c.BookDay != "" {
		_, err = civil.ParseDay(c.BookDay)
	}
	if err != nil {
		return c, fmt.Errorf("the demo's credentials in %s cannot be read (without the file, new ones are made): %w", path, err)
	}
	return c, nil
}

// write replaces the file as a whole, so that an end in the middle leaves the one before.
func (c Credentials) write(path string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("the folder of the demo's credentials: %w", err)
	}
	draft, err := os.CreateTemp(filepath.Dir(path), "demo-credentials-*") // readable by the owner alone
	if err != nil {
		return fmt.Errorf("the demo's credentials: %w", err)
	}
	_, err = draft.Write(append(text, '\n'))
	err = errors.Join(err, draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the demo's credentials: %w", err), os.Remove(draft.Name()))
	}
	return nil
}
