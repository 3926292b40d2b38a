package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// machine describes the machine of a run, without its hostname.
type machine struct {
	Cores    int               `json:"cores"`
	CPU      string            `json:"cpu"`
	MemoryGB int               `json:"memory_gb"`
	Disk     string            `json:"file_system"` // of the databases
	Kernel   string            `json:"kernel"`
	Versions map[string]string `json:"versions"`
	Beside   string            `json:"load_before"` // load average before the run: 0.00 is idle
}

// here describes this machine. dir is the folder of the databases.
func here(dir string) machine {
	m := machine{Cores: runtime.NumCPU(), CPU: inFile("/proc/cpuinfo", `(?m)^model name\s*: (.*)$`), Versions: map[string]string{}}
	if kb, err := strconv.Atoi(inFile("/proc/meminfo", `MemTotal:\s+(\d+)`)); err == nil {
		m.MemoryGB = (kb + 1<<19) >> 20
	}
	m.Kernel = inFile("/proc/sys/kernel/osrelease", `^(\S+)`)
	m.Beside = inFile("/proc/loadavg", `^(\S+)`)
	if said, err := exec.Command("df", "--output=fstype", dir).Output(); err == nil {
		m.Disk = strings.TrimSpace(strings.TrimPrefix(string(said), "Type"))
	}
	m.Versions["go"] = strings.TrimPrefix(runtime.Version(), "go")
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "modernc.org/sqlite" || d.Path == "github.com/jackc/pgx/v5" {
				m.Versions[d.Path] = d.Version
			}
		}
	}
	return m
}

// inFile returns the first group of a pattern in a file.
func inFile(name, pattern string) string {
	text, _ := os.ReadFile(name) // empty if this machine does not have the file
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		return ""
	}
	return string(found[1])
}

// String is one line for the docs.
func (m machine) String() string {
	var versions []string
	for _, name := range []string{"go", "modernc.org/sqlite", "github.com/jackc/pgx/v5", "postgres", "pocketbase"} {
		if v := m.Versions[name]; v != "" {
			versions = append(versions, name+" "+v)
		}
	}
	return fmt.Sprintf("%d cores (%s), %d GB, %s, Linux %s; load before the run %s; %s",
		m.Cores, m.CPU, m.MemoryGB, m.Disk, m.Kernel, m.Beside, strings.Join(versions, ", "))
}

// warm reads the databases of a folder into the page cache: the system may have evicted them while another subject was
// measured, and the copy for a limit has just been written.
func warm(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.db"))
	for _, path := range paths {
		file, opened := os.Open(path)
		if opened != nil {
			return opened
		}
		_, read := io.Copy(io.Discard, file)
		err = errors.Join(err, read, file.Close())
	}
	return err
}
