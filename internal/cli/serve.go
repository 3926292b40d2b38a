package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/jobs"
	"holdfast/internal/store"
	"holdfast/internal/web"
	"holdfast/internal/web/certificate"
	"holdfast/internal/web/checkout"
	"holdfast/internal/web/dashboard"
	"holdfast/internal/web/kit"
)

// Bounds of the server: a slow client cannot hold a connection for long. The read and write timeouts are longer than the
// API's own timeout, so that a request that takes too long still gets a response that says so.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = 30 * time.Second
	readTimeout    = 40 * time.Second
	reportTimeout  = 20 * time.Second // of a long report, from when it leaves the queue
	writeTimeout   = 60 * time.Second
	idleTimeout    = 2 * time.Minute
)

// serveCmd serves the API.
type serveCmd struct{}

// Run serves until the context ends.
func (serveCmd) Run(ctx context.Context, p *program) error {
	listener, err := p.listen(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := p.openOrMake(ctx); err != nil {
		return err
	}
	if err := p.app.Secrets.Check(ctx); err != nil {
		return err
	}
	p.printf("Serving on %s, listening on %s\n", p.baseURL(listener.Addr()), listener.Addr())
	return p.serve(ctx, listener)
}

// listen binds the port before anything else, so that a second holdfast on the same port exits before it touches the
// database.
func (p *program) listen(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", p.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is already in use. Choose another address, "+
			"such as --listen 127.0.0.1:0 for any free port", p.Listen)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: --listen must be an address of this machine with a port, "+
			"such as 127.0.0.1:8080 (%w)", p.Listen, err)
	}
	p.base = p.baseURL(listener.Addr())
	if p.app != nil { // else open does so
		p.app.Mails.Addresses = p.mailAddresses()
	}
	return listener, nil
}

// serve handles requests until the context ends. Then it stops accepting new ones and waits for open ones.
func (p *program) serve(ctx context.Context, listener net.Listener) error {
	log := p.app.Config.Log
	slog.SetDefault(log) // for store/sqlite, which logs a failed sync
	cfg := p.api(p.baseURL(listener.Addr()))
	cfg.Timeout, cfg.TestCards = requestTimeout, modalCards()
	pages := web.Config{Description: api.Description(cfg), BaseURL: cfg.BaseURL}
	if p.shop != nil {
		pages.Checkout = checkout.Path
	}
	p.db.BoundReports(store.ReportBounds{Bounds: store.DefaultReportBounds(), Lifetime: reportTimeout})
	if p.Replica != "" {
		if err := p.db.ReadReportsFrom(p.Replica, p.ReplicaMaxLag); err != nil {
			return fmt.Errorf("--replica: %w", err)
		}
	}
	tuneRuntime()
	p.pages = web.New(pages)
	service := api.New(p.app, cfg)
	p.app.Webhooks.Show = service.ShowEvents
	err := p.makeModal()
	if err != nil {
		return err
	}
	p.certificates, err = certificate.New(cfg.BaseURL, p.app.Certificates)
	if err != nil {
		return err
	}
	p.dashboard, err = dashboard.New(kit.Config{
		Log: log, Base: cfg.BaseURL, Profile: string(p.Profile), Version: moduleVersion(), API: "/" + p.RESTRoot + "/" + p.Namespace + "/v2",
		FontDir: cfg.FontDir, Clock: p.clock.Now,
		ImportBytes: cfg.ImportBytes, ImportRows: cfg.ImportRows,
	}, p.app)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           api.StrictTransport(cfg, p.withPages(service)),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    api.MaxHeaderBytes,
		// The API also handles service-wide endpoints.
		DisableGeneralOptionsHandler: true,

		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(service.Stop)
	defer p.startJobs(ctx)()
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(api.Listen(listener, p.app)) }()
	log.Info("serving", "address", listener.Addr().String(), "engine", p.db.Engine())
	select {
	case err := <-stopped:
		return fmt.Errorf("the server failed: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping", "timeout", p.ShutdownTimeout)
	// The command's context has ended, but requests may still be open.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.ShutdownTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close() // aborts requests that are still open
		return fmt.Errorf("some requests were still open after %s and were aborted: %w", p.ShutdownTimeout, err)
	}
	log.Info("stopped")
	return nil
}

// tuneRuntime gives the program one more thread than there are processors. Go polls connections when a thread is idle: if all
// threads compute, new requests wait behind all earlier ones and cannot even be rejected. If GOMAXPROCS or GOGC is set, leave
// it.
var tuneRuntime = sync.OnceFunc(func() {
	if _, chosen := os.LookupEnv("GOMAXPROCS"); !chosen {
		runtime.GOMAXPROCS(threadsFor(runtime.GOMAXPROCS(0)))
	}
	collectSeldom()
})

// collectSeldom lets the heap grow to five times the live heap before a collection, unless GOGC is set. The live heap is small.
func collectSeldom() {
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		debug.SetGCPercent(400)
	}
}

// threadsFor returns the number of threads for a number of processors. SQLite needs at least two to read.
func threadsFor(processors int) int { return max(2, processors) + 1 }

// startJobs runs the background jobs. The returned function stops them and waits for running ones, so that the database is not
// closed while they use it.
func (p *program) startJobs(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var more []jobs.Job
	if p.AnchorFile != "" {
		more = append(more, jobs.Job{Name: "anchor-heads", Every: p.AnchorEvery, Run: p.anchor})
	}
	runner := jobs.New(p.app, p.app.Config.Log, more...)
	var running sync.WaitGroup
	running.Go(func() { runner.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}
