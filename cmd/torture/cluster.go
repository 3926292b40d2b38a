package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cluster is a PostgreSQL server for one scenario, which may kill and freeze it.
type cluster struct {
	r        *run
	programs string // the folder of initdb and the other programs
	dir      string
	pgdata   string // the data folder; "" is one in dir
	port     int
}

// errNoPostgres means that the machine has no PostgreSQL. `make torture` installs it if permitted.
var errNoPostgres = errors.New("PostgreSQL is not installed")

// newCluster creates an empty cluster with settings for postgresql.conf, and starts it.
func (r *run) newCluster(name string, settings ...string) (*cluster, error) {
	c, err := r.clusterIn(name)
	if err != nil {
		return nil, err
	}
	err = c.do("initdb", "--pgdata", c.data(), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8",
		"--locale", "C.UTF-8", "--no-sync")
	if err != nil {
		return nil, err
	}
	return c, errors.Join(c.set(settings...), c.start())
}

// clusterIn is a cluster whose data folder does not exist yet.
func (r *run) clusterIn(name string) (*cluster, error) {
	c := &cluster{r: r, dir: filepath.Join(r.dir, name)}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if path, err := exec.LookPath("postgres"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return nil, errNoPostgres
	}
	// The program on the PATH may be a link into the folder of all programs.
	server, err := filepath.EvalSymlinks(found[len(found)-1])
	if err != nil {
		return nil, err
	}
	c.programs = filepath.Dir(server)
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	if owner, err := owner(); err != nil {
		return nil, err
	} else if owner != nil {
		if err := os.Chown(c.dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return nil, err
		}
	}
	c.port, err = freePort()
	return c, err
}

// owner is the user that PostgreSQL runs as, because it refuses to run as root. nil is the current user.
func owner() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL cannot run as root: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err, err2)
}

// freePort returns a port that is currently free.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func (c *cluster) data() string { return cmp.Or(c.pgdata, filepath.Join(c.dir, "data")) }

// url is the URL of a database in the cluster.
func (c *cluster) url(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

// do runs one of PostgreSQL's programs as the owner of the cluster.
func (c *cluster) do(program string, args ...string) error {
	credential, err := owner()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(c.r.ctx, filepath.Join(c.programs, program), args...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "HOME="+c.dir) // a server that connects to others looks for keys there
	if credential != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	}
	// Output goes to a file instead of a pipe, because a server started here would keep the pipe open.
	said, err := os.CreateTemp("", "holdfast-torture-")
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(said.Close(), os.Remove(said.Name())) }() // a leftover file is harmless
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(said.Name())
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, lastOf(string(text)))
	}
	return nil
}

// sql runs a statement.
func (c *cluster) sql(database, statement string) error {
	return c.do("psql", "--no-psqlrc", "--quiet", "-v", "ON_ERROR_STOP=1", "--dbname", c.url(database), "--command", statement)
}

// set adds lines to postgresql.conf. They take effect at the next start.
func (c *cluster) set(lines ...string) error {
	file, err := os.OpenFile(filepath.Join(c.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "\n%s\n", strings.Join(lines, "\n"))
	return errors.Join(err, file.Close())
}

// start starts the server and waits until it accepts connections. After a kill, processes of the old server may still be
// there for a moment, so it retries.
func (c *cluster) start() error {
	var err error
	_, late := c.r.until(patience, "PostgreSQL starts", func() bool {
		err = c.do("pg_ctl", "--pgdata", c.data(), "--log", filepath.Join(c.dir, "log"), "--wait",
			"--options", fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories=''", c.port), "start")
		return err == nil
	})
	if late != nil {
		return errors.Join(late, err)
	}
	return nil
}

// stop stops the server: mode is smart, fast or immediate.
func (c *cluster) stop(mode string) error {
	return c.do("pg_ctl", "--pgdata", c.data(), "--mode", mode, "--wait", "stop")
}

// kill kills the postmaster. The other processes notice and exit; start waits for them.
func (c *cluster) kill() error {
	first, err := c.first()
	if err != nil {
		return err
	}
	return syscall.Kill(first, syscall.SIGKILL)
}

// first is the process id of the postmaster.
func (c *cluster) first() (int, error) {
	text, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(strings.TrimSpace(line))
}

// freeze pauses all processes of the server, and thaw resumes them.
func (c *cluster) freeze() error { return c.signalAll(syscall.SIGSTOP) }

func (c *cluster) thaw() error { return c.signalAll(syscall.SIGCONT) }

func (c *cluster) signalAll(signal syscall.Signal) error {
	first, err := c.first()
	if err != nil {
		return err
	}
	for _, id := range processes(first) {
		// The process may have ended in the meantime.
		if err := syscall.Kill(id, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// processes are a process and its children that are alive. Once the first one has died, its children belong to another
// process, and none is found.
func processes(first int) []int {
	var found []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		// The name is in parentheses and may contain spaces. The state and the parent follow the last parenthesis.
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
		fields := strings.Fields(rest)
		if err != nil || len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		if parent, _ := strconv.Atoi(fields[1]); id == first || parent == first {
			found = append(found, id)
		}
	}
	slices.Sort(found) // the first process before its children, so that it starts no new ones
	return found
}

// remove kills the server, whatever its state, and deletes its data.
func (c *cluster) remove() {
	// The scenario's context may have ended, so it is not used here.
	if first, err := c.first(); err == nil {
		for _, id := range processes(first) {
			_ = syscall.Kill(id, syscall.SIGKILL) // it may have ended already
		}
		for range 500 {
			if len(processes(first)) == 0 {
				break
			}
			<-time.After(10 * time.Millisecond)
		}
	}
	if !c.r.keep {
		_ = os.RemoveAll(c.dir) // a leftover folder is harmless
	}
}
