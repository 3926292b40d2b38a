package footprint

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// TestReleaseLetsGoOfTheProgram: after it, less of the program's file is resident, and the program goes on.
func TestReleaseLetsGoOfTheProgram(t *testing.T) {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	touched, sum := 0, byte(0)
	for _, part := range readOnly(maps, path) {
		for i := 0; i < len(part); i += os.Getpagesize() { // so all of it is resident
			sum += part[i]
			touched++
		}
	}
	t.Log("the sum of a byte of each page:", sum)
	before := resident(t)
	Release()
	after := resident(t)
	if touched == 0 || before < touched || after > before-touched/2 {
		t.Errorf("%d pages of the file are resident, %d before, though %d were touched for the test alone", after, before, touched)
	}
}

// resident is how many pages of files are resident, those of the program among them.
func resident(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	shared, err := strconv.Atoi(strings.Fields(string(text))[2])
	if err != nil {
		t.Fatal(err)
	}
	return shared
}

// TestOnlyWhatCannotBeWrittenIsForgotten: what the program has written would be lost.
func TestOnlyWhatCannotBeWrittenIsForgotten(t *testing.T) {
	const maps = `00400000-00410000 r-xp 00000000 fe:00 77                           /opt/hold fast/holdfast
00410000-00430000 r--p 00010000 fe:00 77                           /opt/hold fast/holdfast
00430000-00440000 rw-p 00030000 fe:00 77                           /opt/hold fast/holdfast
00440000-00450000 r--s 00030000 fe:00 77                           /opt/hold fast/holdfast
00450000-00460000 r--p 00000000 fe:00 78                           /opt/hold fast/holdfast.db
c000000000-c000400000 rw-p 00000000 00:00 0
7f0000000000-7f0000001000 r-xp 00000000 00:00 0                    [vdso]
`
	var found []string
	for _, part := range readOnly([]byte(maps), "/opt/hold fast/holdfast") {
		found = append(found, strconv.FormatUint(uint64(uintptr(unsafe.Pointer(unsafe.SliceData(part)))), 16)+" "+strconv.Itoa(len(part)))
	}
	if want := "400000 65536, 410000 131072"; strings.Join(found, ", ") != want {
		t.Errorf("found %v, not %s", found, want)
	}
}
