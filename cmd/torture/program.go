package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience is the timeout for anything that takes less than a second on an idle machine.
const patience = time.Minute

// builder builds the real program, once for all scenarios.
type builder struct {
	once sync.Once
	dir  string
	err  error
}

// path is the path of the program.
func (b *builder) path() (string, error) {
	b.once.Do(func() {
		// Not the usual temporary folder: the system may forbid running programs from memory.
		if b.dir, b.err = os.MkdirTemp(os.Getenv("GOTMPDIR"), "holdfast-torture-"); b.err != nil {
			return
		}
		b.err = os.Chmod(b.dir, 0o755) // another user may run it
		if said, err := exec.Command("go", "build", "-o", b.dir, "./cmd/holdfast").CombinedOutput(); err != nil {
			b.err = fmt.Errorf("building the program: %w\n%s", err, said)
		}
	})
	return filepath.Join(b.dir, "holdfast"), b.err
}

func (b *builder) remove() {
	if b.dir != "" {
		_ = os.RemoveAll(b.dir) // a leftover folder is harmless
	}
}

// house is a folder in which the program runs, and the database that it uses.
type house struct {
	r        *run
	dir      string
	database string // "" is SQLite in the folder
	// descriptors limits the program's open files, unless it is 0; as is the user it runs as, unless it is nil.
	descriptors int
	as          *syscall.Credential
	settings    []string // environment variables, such as HOLDFAST_REPLICA=…
}

// newHouse creates the folder.
func (r *run) newHouse(name, database string) (*house, error) {
	dir := filepath.Join(r.dir, name)
	h := &house{r: r, dir: dir, database: database}
	if err := os.MkdirAll(dir, 0o755); err != nil || database == "" {
		return h, err
	}
	_, err := h.must("keys", "make") // with SQLite the program creates the keys itself
	return h, err
}

// command is the program with arguments. It does not inherit this program's HOLDFAST_ variables.
func (h *house) command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	path, err := h.r.builder.path()
	if err != nil {
		return nil, err
	}
	if h.database != "" {
		args = append(args, "--database", h.database)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	if h.descriptors != 0 {
		limited := append([]string{"-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, h.descriptors), path}, args...)
		cmd = exec.CommandContext(ctx, "sh", limited...)
	}
	if h.as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: h.as}
	}
	cmd.Dir = h.dir
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "HOLDFAST_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	if h.database != "" {
		cmd.Env = append(cmd.Env, "HOLDFAST_KEYS_FILE=keys")
	}
	cmd.Env = append(cmd.Env, h.settings...)
	return cmd, nil
}

// must runs a command that must succeed, and returns its output.
func (h *house) must(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(h.r.ctx, 10*patience)
	defer cancel()
	cmd, err := h.command(ctx, args...)
	if err != nil {
		return "", err
	}
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("holdfast %s: %w: %s", strings.Join(args, " "), err, lastOf(problems.String()))
	}
	return out.String(), nil
}

// lastOf returns the end of a long text.
func lastOf(text string) string {
	const most = 1500
	if len(text) > most {
		text = "…" + text[len(text)-most:]
	}
	return strings.TrimSpace(text)
}

// server is a running server.
type server struct {
	house *house
	cmd   *exec.Cmd
	said  string // on standard output, up to the line with its address
	base  string // its address
	log   string // the file with its log
	ended chan struct{}
	stop  context.CancelFunc
}

var servesOn = regexp.MustCompile(`(?m)^(?:Serving|holdfast serves) on (https?://[^ ,\n]+).*\n`)

// start starts serve or demo on a free port and waits until it prints its address.
func (h *house) start(args ...string) (*server, error) {
	ctx, stop := context.WithCancel(h.r.ctx)
	cmd, err := h.command(ctx, append(args, "--listen", "127.0.0.1:0")...)
	if err != nil {
		stop()
		return nil, err
	}
	s := &server{house: h, cmd: cmd, log: filepath.Join(h.dir, "log"), ended: make(chan struct{}), stop: stop}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		stop()
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	defer time.AfterFunc(patience, stop).Stop()
	buffer := make([]byte, 4096)
	for s.base == "" {
		n, err := out.Read(buffer)
		s.said += string(buffer[:n])
		if at := servesOn.FindStringSubmatch(s.said); at != nil {
			s.base = at[1]
		} else if err != nil {
			_ = cmd.Wait() // it has ended; the log has the reason
			stop()
			text, _ := os.ReadFile(s.log)
			return nil, fmt.Errorf("holdfast %s ended: %s\n%s", strings.Join(args, " "), s.said, lastOf(string(text)))
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // callers that stop it check how it ended
		close(s.ended)
	}()
	return s, nil
}

// kill kills the program, as in a crash, and waits until it has ended.
func (s *server) kill() {
	s.stop()
	<-s.ended
}

// signal sends a signal to the program.
func (s *server) signal(signal syscall.Signal) error { return s.cmd.Process.Signal(signal) }

// interrupt sends Ctrl-C: the program must exit gracefully.
func (s *server) interrupt() error {
	if err := s.signal(syscall.SIGINT); err != nil {
		return err
	}
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.kill()
		return errors.New("the program keeps running after Ctrl-C")
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the program exited with status %d after Ctrl-C", code)
	}
	return nil
}

// ready waits until the program reports that it is ready, and returns how long that took.
func (s *server) ready(limit time.Duration) (time.Duration, error) {
	return s.house.r.until(limit, "GET /readyz returns 200", func() bool {
		a, err := s.caller("").ask(http.MethodGet, "/readyz", nil, nil)
		return err == nil && a.status == http.StatusOK
	})
}

// caller makes requests to a server, with or without a token.
type caller struct {
	ctx   context.Context
	base  string
	token string
	http  *http.Client
}

// caller returns a caller with an API token or access token; "" is anonymous.
func (s *server) caller(token string) *caller {
	return &caller{ctx: s.house.r.ctx, base: s.base, token: token, http: &http.Client{
		Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: token == ""},
	}}
}

// reply is a server's response.
type reply struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

// as decodes the body into a value.
func (a reply) as(into any) error {
	if err := json.Unmarshal(a.body, into); err != nil {
		return fmt.Errorf("%d %s: %w", a.status, lastOf(string(a.body)), err)
	}
	return nil
}

// ask makes one request. It returns an error if there was no complete response.
func (c *caller) ask(method, path string, headers map[string]string, body []byte) (reply, error) {
	request, err := http.NewRequestWithContext(c.ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	began := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, err
	}
	return reply{response.StatusCode, response.Header, said, time.Since(began)}, nil
}
