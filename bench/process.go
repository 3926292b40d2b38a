package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// How long a program may take to start, including migrations of a large book from an earlier version, and to stop.
const (
	startPatience = 15 * time.Minute
	patience      = time.Minute
)

// process is a running server.
type process struct {
	cmd     *exec.Cmd
	address string
	took    time.Duration // from the start to the line with its address
	ended   chan struct{}
	log     string
}

// serving matches the line in which each of our programs says where it serves.
var serving = regexp.MustCompile(`(?m) on http://([^ ,\n]+)`) // also of earlier builds

// begin starts a program and waits until it prints its address. Its standard error goes to a file.
func begin(ctx context.Context, log string, env []string, program string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "HOLDFAST_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.Stderr = file
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{}), log: log}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer time.AfterFunc(startPatience, func() { _ = cmd.Process.Kill() }).Stop() // this ends the read loop below
	var said []byte
	buffer := make([]byte, 4096)
	for p.address == "" {
		n, err := out.Read(buffer)
		said = append(said, buffer[:n]...)
		if at := serving.FindSubmatch(said); at != nil {
			p.address = string(at[1])
		} else if err != nil {
			_ = cmd.Wait() // it has ended; the log has the reason
			text, _ := os.ReadFile(log)
			return nil, fmt.Errorf("%s failed to start: %s%s", filepath.Base(program), said, tail(text))
		}
	}
	p.took = time.Since(began)
	go func() {
		for err := error(nil); err == nil; {
			_, err = out.Read(buffer)
		}
		_ = cmd.Wait() // how it ends does not matter here
		close(p.ended)
	}()
	return p, nil
}

// tail returns the end of a long text.
func tail(text []byte) string {
	if len(text) > 1500 {
		text = text[len(text)-1500:]
	}
	return strings.TrimSpace(string(text))
}

// standStill pauses the program until goOn, so that it takes no processor time from the program being measured.
func (p *process) standStill() { _ = p.cmd.Process.Signal(syscall.SIGSTOP) } // it may have ended already

func (p *process) goOn() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// end stops the program gracefully, and kills it if that takes too long.
func (p *process) end() {
	p.goOn()
	_ = p.cmd.Process.Signal(os.Interrupt) // it may have ended already
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// processorTime is the processor time of a process; with children, also that of the dead children it has waited for.
func processorTime(pid int, children bool) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The program's name may contain spaces; it ends at the last parenthesis.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	last := 12
	if children {
		last = 14
	}
	var ticks int64
	for _, field := range fields[11 : last+1] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100) // Linux counts in hundredths of a second
}

// megabytes reads a memory figure of a process from Linux, such as VmRSS or VmHWM.
func megabytes(pid int, line string) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(l, line+":"); ok {
			n, _ := strconv.ParseFloat(strings.Fields(value)[0], 64) // a line without a number counts as 0
			return n * 1024 / 1e6
		}
	}
	return 0
}

// descriptors is how many files and connections a process has open.
func descriptors(pid int) int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)) // none for a process that has ended
	return len(list)
}

// threads is how many threads a process has.
func threads(pid int) int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // none for a process that has ended
	return len(list)
}

// family is the processor time of a process and all its children, alive and dead, such as a PostgreSQL server. When a
// child ends, its time is added to its parent's. If that happens during the reading, everything is read again: otherwise
// the time would be counted twice or not at all.
func family(pid int) time.Duration {
	return steady(func() time.Duration { return processorTime(pid, true) }, func() time.Duration { return ofChildren(pid) })
}

// steady adds up the values of a parent and its children, once the parent's is the same before and after. It gives up
// after some attempts.
func steady(parent, children func() time.Duration) (sum time.Duration) {
	for range 20 {
		before := parent()
		sum = before + children()
		if parent() == before {
			break
		}
	}
	return sum
}

// ofChildren is the processor time of the living children of a process.
func ofChildren(pid int) (sum time.Duration) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil { // it has just ended
			continue
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && fields[1] == strconv.Itoa(pid) {
			sum += processorTime(child, false)
		}
	}
	return sum
}
