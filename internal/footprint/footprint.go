// Package footprint gives memory back to the system that the program does not need any more. It owns nothing. Begin reading at
// Release.
package footprint

import "runtime/debug"

// Release collects garbage, gives the memory of it back, and lets go of the program's own file: of its code and constants the start has
// touched much that nothing else needs. The system keeps the file, so whatever is used again is there at once. It takes some
// milliseconds, which is too long for something that happens often.
func Release() {
	debug.FreeOSMemory()
	forgetProgram()
}
