//go:build !linux

package resident

import "runtime/debug"

// ForgetStart gives back the garbage of a process's start.
func ForgetStart() { debug.FreeOSMemory() }
