package credentials_test

import (
	"io"
	"math/rand/v2"
)

// seeded is a deterministic source of random bytes.
func seeded(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }
