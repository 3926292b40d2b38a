package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
)

// limitCommand as the first argument makes this program the server of a limit, which is a separate process like the
// product.
const limitCommand = "serve-limit"

// bare is the limit of a net/http server that does nothing but return as many bytes as the product.
const bare = "bare handler"

// serveLimit serves one limit.
func serveLimit(args []string) error {
	flags := flag.NewFlagSet(limitCommand, flag.ContinueOnError)
	database := flags.String("database", "", "copy of the product's database (default: only serve the bare handler)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	mux := http.NewServeMux()
	mux.HandleFunc("/bare/{status}/{bytes}", bareHandler)
	if *database != "" {
		d, err := openDatabaseLimit(ctx, *database)
		if err != nil {
			return err
		}
		defer d.store.Close()
		mux.HandleFunc("/row/{id}/{status}/{bytes}", d.row)
		mux.HandleFunc("/booking/{status}/{bytes}", d.insert(d.bookings))
		mux.HandleFunc("/payment/{status}/{bytes}", d.insert(d.payments))
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("serving on http://%s\n", listener.Addr())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: answerTime}
	go func() {
		<-ctx.Done()
		_ = server.Close() // the run is over
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// zeros is the content of bare responses.
var zeros = make([]byte, 1<<20)

// bareHandler reads the body and responds with the status and number of bytes in the path.
func bareHandler(w http.ResponseWriter, r *http.Request) {
	_, err := io.Copy(io.Discard, r.Body)
	status, err2 := strconv.Atoi(r.PathValue("status"))
	n, err3 := strconv.Atoi(r.PathValue("bytes"))
	if errors.Join(err, err2, err3) != nil || n < 0 || n > len(zeros) {
		http.Error(w, "wrong address", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(n))
	w.WriteHeader(status)
	_, _ = w.Write(zeros[:n]) // the client reports a truncated response
}

// limitServer starts another process of this program as the server of a limit.
func (b *bench) limitServer(ctx context.Context, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return begin(ctx, filepath.Join(b.dir, "limit.log"), nil, self, append([]string{limitCommand}, args...)...)
}

// bareHead is the approximate size of a bare response's headers.
const bareHead = 130

// bareSubject is a bare handler that returns as many bytes for each kind as the product did.
func (b *bench) bareSubject(ctx context.Context) (*subject, error) {
	server, err := b.limitServer(ctx)
	if err != nil {
		return nil, err
	}
	return b.other(bare, server, func(k kind) (kind, bool) {
		size, measured := b.answers[k.name]
		if !measured || k.status == anySuccess || k.callers != b.callers {
			return k, false
		}
		line := fmt.Appendf(nil, "/bare/%d/%d", k.status, max(0, int(size)-bareHead))
		inner := k.make
		k.make = func(r *rand.Rand, into []byte) []byte { return redirected(inner(r, into), line) }
		return k, true
	}), nil
}

// redirected is a request with another path.
func redirected(request, path []byte) []byte {
	method := bytes.IndexByte(request, ' ')
	end := method + 1 + bytes.IndexByte(request[method+1:], ' ')
	return slices.Replace(request, method+1, end, path...)
}
