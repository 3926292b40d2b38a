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

// How long a program may take to start, with the migrations of a large book that an earlier version made, and to end.
const (
	startPatience = 15 * time.Minute
	patience      = time.Minute
)

// process is a program that serves.
type process struct {
	cmd     *exec.Cmd
	address string
	took    time.Duration // from its start to the line that says where it serves
	ended   chan struct{}
	log     string
}

// serving matches the line in which each of our programs says where it serves.
var serving = regexp.MustCompile(`(?m) on http://([^ ,\n]+)`) // also of earlier builds

// begin starts a program and waits until it says where it serves. What it writes to standard error goes to a file.
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
	defer time.AfterFunc(startPatience, func() { _ = cmd.Process.Kill() }).Stop() // the reading below then ends
	var said []byte
	buffer := make([]byte, 4096)
	for p.address == "" {
		n, err := out.Read(buffer)
		said = append(said, buffer[:n]...)
		if at := serving.FindSubmatch(said); at != nil {
			p.address = string(at[1])
		} else if err != nil {
			_ = cmd.Wait() // it has ended, and the log says why
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

// tail is the end of a long text.
func tail(text []byte) string {
	if len(text) > 1500 {
		text = text[len(text)-1500:]
	}
	return strings.TrimSpace(string(text))
}

// standStill has the program use no processor until it goes on: it must not take any from another one that is measured.
func (p *process) standStill() { _ = p.cmd.Process.Signal(syscall.SIGSTOP) } // it may have ended already

func (p *process) goOn() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// end stops the program in order, and by force where that takes too long.
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

// processorTime is what a process has used of the processors; with its dead children, where it waits for them.
func processorTime(pid int, children bool) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name of the program may hold spaces; it ends with the last bracket.
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

// megabytes reads one line of what Linux says about the memory of a process, such as VmRSS or VmHWM.
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

// family is the processor time of a process and all its children, alive and dead: of a PostgreSQL server. The time of a child that
// ends becomes its parent's, so all is read again where that happens meanwhile: else it would be counted twice, or not at all.
func family(pid int) time.Duration {
	return steady(func() time.Duration { return processorTime(pid, true) }, func() time.Duration { return ofChildren(pid) })
}

// steady adds up what a parent and its children say, when the parent says the same before and after. It gives up after some tries.
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

// ofChildren is the processor time of the children of a process that have not ended.
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
