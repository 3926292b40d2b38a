package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
)

// The environment variables that make a test run longer. Without them, a test that reads them runs only a few rounds.
const (
	seedVariable   = "HOLDFAST_TEST_SEED"
	roundsVariable = "HOLDFAST_TEST_ROUNDS"
)

// figureLine matches a line in which a test reports a figure with t.Logf("figure: %s: %v", what, value).
var figureLine = regexp.MustCompile(`^\s*(?:\S+\.go:\d+: )?figure: ([^:]+): (.+)$`)

// goTest is a scenario that runs a Go test with the seed and this many rounds.
func goTest(pkg, pattern string, rounds int) func(r *run) error {
	return func(r *run) error {
		cmd := exec.CommandContext(r.ctx, "go", "test", "-count=1", "-vet=off", "-timeout=0", "-v", "-run", pattern, pkg)
		cmd.Env = append(os.Environ(),
			fmt.Sprintf("%s=%d", seedVariable, r.seed), fmt.Sprintf("%s=%d", roundsVariable, r.count(rounds)))
		// go test starts the test binary, which must end with it.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			return err
		}
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 16<<20)
		ran := false
		for lines.Scan() {
			line := lines.Text()
			if at := figureLine.FindStringSubmatch(line); at != nil {
				r.figure(at[1], "%s", at[2])
				continue
			}
			ran = ran || strings.HasPrefix(line, "--- PASS") || strings.HasPrefix(line, "--- FAIL")
			if strings.HasPrefix(line, "=== ") || strings.Contains(line, "--- PASS") {
				continue
			}
			r.say("%s", line)
		}
		if err := cmd.Wait(); err != nil {
			r.fail("go test %s -run %s: %v", pkg, pattern, err)
		} else if !ran {
			return fmt.Errorf("go test %s -run %s ran no tests", pkg, pattern)
		}
		return lines.Err()
	}
}
