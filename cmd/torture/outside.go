package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// A crowd is one process, and its callers wait for each other before they see a response. So this command starts itself
// as subprocesses: as a few callers outside the crowd, which only wait for the server, and as a server that rejects
// everything.
const (
	asOutsiders  = "outsiders"
	asBareServer = "bare-server"
	outsiders    = 8
)

// helpers are the functions of the subprocesses, by first argument.
var helpers = map[string]func(args []string) error{asOutsiders: askOutside, asBareServer: refuseAll}

// helper is such a subprocess. It ends when its standard input is closed.
type helper struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

func (r *run) helper(args ...string) (*helper, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &helper{cmd: exec.CommandContext(r.ctx, path, args...)}
	h.cmd.Stderr = os.Stderr
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.out = bufio.NewReader(out)
	return h, h.cmd.Start()
}

// end stops the process and returns its unread output.
func (h *helper) end() ([]byte, error) {
	_ = h.in.Close() // no error matters: if the process has ended already, Wait returns the reason
	said, err := io.ReadAll(h.out)
	return said, errors.Join(err, h.cmd.Wait())
}

// untilClosed returns a channel that is closed when the parent process wants this one to end, or has ended.
func untilClosed() <-chan struct{} {
	closed := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // however it ends
		close(closed)
	}()
	return closed
}

// askOutside sends requests continuously and prints how long each rejection took. The arguments are a server and, for
// each caller, the source address and the token.
func askOutside(args []string) error {
	stop := untilClosed()
	t := tally{refused: []time.Duration{}, expected: []int{http.StatusUnauthorized, http.StatusOK}}
	var work sync.WaitGroup
	for of := range slices.Chunk(args[1:], 2) {
		c := callerFrom(context.Background(), args[0], of[0], of[1])
		work.Go(func() { t.goOn(stop, c, api+"bookings") })
	}
	work.Wait()
	if t.broken > 0 {
		return fmt.Errorf("%d unexpected responses: %s", t.broken, strings.Join(t.problems, "; "))
	}
	return json.NewEncoder(os.Stdout).Encode(t.refused)
}

// refuseAll is a minimal server: it rejects every request without reading it.
func refuseAll([]string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	})}
	stop := untilClosed()
	go func() {
		<-stop
		_ = server.Close() // the process ends
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// surround sends requests to a server from a crowd, and from callers of the same kind outside the crowd. At the same
// time, others call an otherwise idle server that rejects everything: this shows how long any response takes on this
// machine meanwhile.
func (s *siege) surround(base, who string) error {
	idle, err := s.book.r.bareServer()
	if err != nil {
		return err
	}
	others, err := s.outside(base, who, outsiders)
	if err != nil {
		return err
	}
	control, err := s.outside(idle.base, oneToken, 2)
	if err != nil {
		return err
	}
	err = s.gather(base, who)
	for _, of := range []struct {
		name string
		*helper
	}{{"callers outside the crowd", others}, {"callers of an idle server meanwhile", control}} {
		said, ended := of.end()
		if err = errors.Join(err, ended); err != nil {
			continue
		}
		var took []time.Duration
		if err = json.Unmarshal(said, &took); err != nil {
			err = fmt.Errorf("the %s printed %s: %w", of.name, lastOf(string(said)), err)
		} else {
			s.book.r.refusedIn(s.name+", "+of.name, took)
		}
	}
	_, ended := idle.end()
	return errors.Join(err, ended)
}

// outside starts callers that are not part of the crowd, but send the same requests.
func (s *siege) outside(base, who string, callers int) (*helper, error) {
	args := []string{asOutsiders, base}
	for n := range callers {
		address, token := s.member(who, crowd+n)
		args = append(args, address, token)
	}
	return s.book.r.helper(args...)
}

// bareServer is a server that rejects everything.
type bareServer struct {
	*helper
	base string
}

func (r *run) bareServer() (bareServer, error) {
	server, err := r.helper(asBareServer)
	if err != nil {
		return bareServer{}, err
	}
	base, err := server.out.ReadString('\n')
	return bareServer{server, strings.TrimSpace(base)}, err
}

// surroundBare does the same with a server that rejects everything. Delays that this server shows too are not caused by
// the program.
func (s *siege) surroundBare() error {
	server, err := s.book.r.bareServer()
	if err != nil {
		return err
	}
	err = s.surround(server.base, oneToken)
	_, ended := server.end()
	s.book.r.figure(s.name, "%s", &s.crowd)
	return errors.Join(err, ended)
}
