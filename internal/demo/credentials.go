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

// Credentials holds the secrets of the demo. The database only stores their hashes, so they are also saved in a file next to
// it, readable only by its owner, so that the next start can print them again.
type Credentials struct {
	OperatorPassword string `json:"operator_password"`
	ApproverPassword string `json:"approver_password"`
	AdminPassword    string `json:"admin_password"`
	Token            string `json:"token"`
	// BookDay is the day for which the book was created. If loading is interrupted, the next start creates the same book again.
	BookDay    string `json:"book_day,omitempty"`
	BookLoaded bool   `json:"book_loaded"`
	// Origins are the origins that the last start allowed for the payment modal. They may differ at the next start.
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
		return c, fmt.Errorf("cannot read the demo's credentials in %s. Delete the file to create new ones: %w", path, err)
	}
	return c, nil
}

// write replaces the file atomically. If it is interrupted, the old file remains.
func (c Credentials) write(path string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("the folder of the demo's credentials: %w", err)
	}
	draft, err := os.CreateTemp(filepath.Dir(path), "demo-credentials-*") // readable only by the owner
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
