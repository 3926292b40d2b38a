package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/browsertest"
	"holdfast/internal/testkit/pgtest"
)

// binary is the program as users have it.
var binary string

// patience is the timeout for a process; normally everything is much faster.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "holdfast-system-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "holdfast")
	if said, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "../../cmd/holdfast").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, said)
		return 1
	}
	defer browsertest.Stop()
	return m.Run()
}

// system is a folder to start the program in, and a database.
type system struct {
	t        *testing.T
	dir      string
	database string // "" takes the default
	site     string // HOLDFAST_SITE, where it is not ""
}

// pgKeys is the key file in the folder of a system on PostgreSQL. With SQLite the program creates one itself.
const pgKeys = "of-postgres.keys"

// onSQLite returns an empty folder, in which the program creates its database.
func onSQLite(t *testing.T) *system {
	t.Helper()
	return &system{t: t, dir: t.TempDir()}
}

// onBoth runs one test on each engine.
func onBoth(t *testing.T, test func(t *testing.T, s *system)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, onSQLite(t)) })
	t.Run("postgres", func(t *testing.T) {
		s := &system{t: t, dir: t.TempDir(), database: pgtest.URL(t)}
		if err := os.WriteFile(filepath.Join(s.dir, pgKeys), []byte(apptest.KeyLine), 0o600); err != nil {
			t.Fatal(err)
		}
		test(t, s)
	})
}

// command is the program with arguments, in its folder and without the environment's settings.
func (s *system) command(ctx context.Context, args ...string) *exec.Cmd {
	if s.database != "" {
		args = append(args, "--database", s.database)
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = s.dir
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "HOLDFAST_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	if strings.HasPrefix(s.database, "postgres") {
		cmd.Env = append(cmd.Env, "HOLDFAST_KEYS_FILE="+pgKeys)
	}
	if s.site != "" {
		cmd.Env = append(cmd.Env, siteVariable+"="+s.site)
	}
	return cmd
}

// result is the output and exit code of a command.
type result struct {
	stdout, stderr string
	code           int
}

// run runs a command to its end, with this standard input.
func (s *system) run(stdin string, args ...string) result {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	cmd := s.command(ctx, args...)
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &log
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited || ctx.Err() != nil {
		s.t.Fatalf("holdfast %s: %v\n%s", strings.Join(args, " "), err, log.String())
	}
	return result{out.String(), log.String(), cmd.ProcessState.ExitCode()}
}

// must runs a command that must succeed and returns its output.
func (s *system) must(args ...string) string {
	s.t.Helper()
	return s.mustWith("", args...)
}

func (s *system) mustWith(stdin string, args ...string) string {
	s.t.Helper()
	r := s.run(stdin, args...)
	if r.code != 0 {
		s.t.Fatalf("holdfast %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// process is a program that serves.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	said string // on standard output until it served
	base string // its address
	log  *lockedBuffer
	kill context.CancelFunc
}

// lockedBuffer is a buffer written by the process and read by the test.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

var servesOn = regexp.MustCompile(`(?m)^(?:Serving|holdfast serves) on (https?://[^ ,\n]+).*\n`)

// start starts serve or demo on a free port and waits until it is ready.
func (s *system) start(args ...string) *process {
	s.t.Helper()
	ctx, kill := context.WithTimeout(context.Background(), patience)
	p := &process{t: s.t, cmd: s.command(ctx, append(args, "--listen", "127.0.0.1:0")...), log: &lockedBuffer{}, kill: kill}
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { p.kill(); _ = p.cmd.Wait() })
	buffer := make([]byte, 4096)
	for {
		n, err := out.Read(buffer)
		p.said += string(buffer[:n])
		if at := servesOn.FindStringSubmatch(p.said); at != nil {
			p.base = at[1]
			return p
		}
		if err != nil {
			s.t.Fatalf("holdfast %s ended: %s\n%s", strings.Join(args, " "), p.said, p.log)
		}
	}
}

// interrupt is Ctrl-C.
func (p *process) interrupt() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
}

// ended waits for the process and expects it to have succeeded.
func (p *process) ended() {
	p.t.Helper()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the program ended with %v\n%s", err, p.log)
	}
}

// stop interrupts the process and expects it to succeed.
func (p *process) stop() {
	p.t.Helper()
	p.interrupt()
	p.ended()
}
