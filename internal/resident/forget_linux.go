package resident

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// ForgetStart gives back what a process needed for its start: the garbage, and the parts of the program's own file that are in memory,
// because it ran there or because Linux reads around what is used. The system still has them. What is used again comes back without
// reading the disk, piece by piece.
func ForgetStart() {
	debug.FreeOSMemory()
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return // without /proc the process only stays larger
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, m := range mappings(bufio.NewScanner(maps), filepath.Clean(own)) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

// mapping is a piece of a file in memory, by its addresses.
type mapping struct{ from, to uintptr }

// mappings finds the pieces of a file that nobody can write to, and nobody has: so they are the same as in the file.
func mappings(lines *bufio.Scanner, file string) (list []mapping) {
	var at mapping
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		if from, to, ok := strings.Cut(fields[0], "-"); ok && len(fields) >= 5 {
			at = mapping{}
			first, err := strconv.ParseUint(from, 16, 64)
			end, err2 := strconv.ParseUint(to, 16, 64)
			if err == nil && err2 == nil && !strings.Contains(fields[1], "w") && strings.Join(fields[5:], " ") == file {
				at = mapping{uintptr(first), uintptr(end)}
			}
			continue
		}
		if fields[0] == "Anonymous:" && len(fields) > 1 && fields[1] == "0" && at != (mapping{}) {
			list = append(list, at)
		}
	}
	return list
}
