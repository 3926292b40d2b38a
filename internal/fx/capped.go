package fx

import (
	"errors"
	"fmt"
	"io"
)

// errTooLarge is told apart from the end of a file: a cut file would look like a shorter one.
var errTooLarge = errors.New("it is larger than any file of rates")

// capped reads at most left bytes and fails when there are more. It remembers when r itself failed: that says nothing
// about the file, and trying again may help.
type capped struct {
	r      io.Reader
	left   int64
	failed error
}

func (c *capped) Read(p []byte) (int, error) {
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return 0, errTooLarge
	}
	if err != nil && err != io.EOF {
		c.failed = err
	}
	return n, err
}

// fault tells what is wrong with the file from what is wrong with reading it.
func (c *capped) fault(err error) error {
	if c.failed != nil {
		return fmt.Errorf("reading the rates file: %w", c.failed)
	}
	return broken("The rates file cannot be read: %v.", err)
}
