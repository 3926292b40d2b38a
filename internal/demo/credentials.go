package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"holdfast/internal/domain/civil"
)

// Credentials is the secrets of the demo. The database keeps only their hashes, so they are also kept in a file beside
// it, which only its owner can read. So the next start can print them again.
type Credentials struct {
	OperatorPassword string `json:"operator_password"`
	ApproverPassword string `json:"approver_password"`
	AdminPassword    string `json:"admin_password"`
	Token            string `json:"token"`
	// BookDay is the day for which the book was made. If loading was interrupted, the next start makes the same book again.
	BookDay    string `json:"book_day,omitempty"`
	BookLoaded bool   `json:"book_loaded"`
	// Origins are the origins that the last start permitted for the payment modal. The next start may have others.
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
		return c, fmt.Errorf("the demo's credentials in %s cannot be read; remove the file to get new ones: %w", path, err)
	}
	return c, nil
}

// write replaces the whole file in one step. If it is interrupted, the old file stays.
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
