package resident

import (
	"bufio"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var ofFiles = regexp.MustCompile(`RssFile:\s*([0-9]+) kB`)

// TestForgetStart: of the program's own file less is in memory, and it goes on running.
func TestForgetStart(t *testing.T) {
	inMemory := func() int {
		text, err := os.ReadFile("/proc/self/status")
		found := ofFiles.FindSubmatch(text)
		if err != nil || found == nil {
			t.Fatalf("/proc/self/status does not say how much memory files take: %v", err)
		}
		kB, err := strconv.Atoi(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		return kB
	}
	before := inMemory()
	ForgetStart()
	if after := inMemory(); after >= before {
		t.Errorf("the file took %d kB before and %d after", before, after)
	}
}

// TestMappings: what can be written to, what was written to, and what is of other files stays.
func TestMappings(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-01588000 r-xp 00000000 fe:00 12 /opt/hold fast
Size:              17952 kB
Anonymous:             0 kB
01588000-02806000 r--p 01188000 fe:00 12 /opt/hold fast
Anonymous:             0 kB
02806000-029b4000 rw-p 02406000 fe:00 12 /opt/hold fast
Anonymous:             0 kB
029b4000-02a00000 r--p 02506000 fe:00 12 /opt/hold fast
Anonymous:             4 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 13 /opt/other
Anonymous:             0 kB
7f0000002000-7f0000003000 r--p 00000000 00:00 0
Anonymous:             0 kB
7ffd00000000-7ffd00021000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
VmFlags: rd ex mr mw me de sd
`
	got := mappings(bufio.NewScanner(strings.NewReader(smaps)), "/opt/hold fast")
	if want := []mapping{{0x400000, 0x1588000}, {0x1588000, 0x2806000}}; !slices.Equal(got, want) {
		t.Errorf("%x, not %x", got, want)
	}
}
