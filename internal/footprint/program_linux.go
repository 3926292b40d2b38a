package footprint

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// forgetProgram has the system forget which parts of the program's file are in memory for it. If it cannot, all stays as it is.
func forgetProgram() {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for _, part := range readOnly(maps, path) {
		_ = syscall.Madvise(part, syscall.MADV_DONTNEED) // an advice: the part stays where it is not taken
	}
}

// readOnly finds the parts of memory that show a file and that the program cannot write to: nothing in them can be lost. A line is
// "first-end rights offset device inode path".
func readOnly(maps []byte, path string) (parts [][]byte) {
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.HasPrefix(fields[1], "r-") || !strings.HasSuffix(fields[1], "p") {
			continue
		}
		if _, shown, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "/"); "/"+shown != path {
			continue
		}
		first, end, _ := strings.Cut(fields[0], "-")
		from, err := strconv.ParseUint(first, 16, 64)
		to, err2 := strconv.ParseUint(end, 16, 64)
		if err != nil || err2 != nil || to <= from {
			continue
		}
		parts = append(parts, unsafe.Slice((*byte)(pointer(uintptr(from))), int(to-from)))
	}
	return parts
}

// pointer is the address of something that is no variable of Go.
func pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
