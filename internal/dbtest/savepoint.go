package dbtest

import (
	"errors"
)

var ErrNotThisOne = errors.New("not this one")
