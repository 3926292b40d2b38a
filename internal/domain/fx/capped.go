package fx

import (
	"errors"
	"fmt"
	"io"
)

// errTooLarge is an error of its own: io.EOF would make a file that was cut look complete.
var errTooLarge = errors.New("it is too large for a rates file")

// capped reads at most left bytes, and fails when there are more. It remembers an error of r itself: then the file
// may be fine, and to try again may help.
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

// fault returns the error of the reader where there was one, and otherwise an Invalid error about the file.
func (c *capped) fault(err error) error {
	if c.failed != nil {
		return fmt.Errorf("reading the rates file: %w", c.failed)
	}
	return broken("The rates file cannot be read: %v.", err)
}
