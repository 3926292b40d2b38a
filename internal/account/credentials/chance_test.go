package credentials_test

import (
	"io"
	"math/rand/v2"
)

// seeded is the same chance each time.
func seeded(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }
