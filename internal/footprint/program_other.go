//go:build !linux

package footprint

// forgetProgram does nothing: what to say differs from system to system.
func forgetProgram() {}
