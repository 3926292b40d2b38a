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

// Bounds of the server: a slow client cannot hold a connection for long. The times for reading and writing are longer
// than the API's own time-out, so that a request that takes too long still gets an answer that says so.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = 30 * time.Second
	readTimeout    = 40 * time.Second
	reportTimeout  = 20 * time.Second // of a report that goes through many rows, once it is its turn
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

// listen takes the port. It comes before all else, so that a second holdfast on the same port stops before it touches
// the database.
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
	p.app.Mails.Addresses = p.mailAddresses()
	return listener, nil
}

// serve answers requests until the context ends. Then it takes no new ones, and waits for the open ones.
func (p *program) serve(ctx context.Context, listener net.Listener) error {
	log := p.app.Config.Log
	slog.SetDefault(log) // of store/sqlite, which tells of a failed sync
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
	p.certificates, err = certificate.New(certificate.Config{Base: cfg.BaseURL, Find: p.app.Certificates.Show})
	if err != nil {
		return err
	}
	p.dashboard, err = dashboard.New(kit.Config{
		Log: log, Base: cfg.BaseURL, Profile: string(p.Profile), Version: moduleVersion(), API: "/" + p.RESTRoot + "/" + p.Namespace + "/v2",
		FontDir: cfg.FontDir, Clock: p.clock.Now, AddressOf: service.AddressOf, Noting: p.app.Health.NotingLag,
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
		// The API answers for the whole service, too.
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
	// The context of the command has ended, but requests may still be open.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.ShutdownTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close() // cuts the requests that are still open
		return fmt.Errorf("some requests were still open after %s and were aborted: %w", p.ShutdownTimeout, err)
	}
	log.Info("stopped")
	return nil
}

// tuneRuntime gives the program one thread more than there are processors, once. Go polls its connections when a thread is
// idle. If all threads compute, new requests would wait behind all earlier ones, and could not even be rejected. If GOMAXPROCS
// or GOGC is set, leave it.
var tuneRuntime = sync.OnceFunc(func() {
	if _, chosen := os.LookupEnv("GOMAXPROCS"); !chosen {
		runtime.GOMAXPROCS(threadsFor(runtime.GOMAXPROCS(0)))
	}
	collectSeldom()
})

// collectSeldom lets the heap grow to five times what is in use before it is collected, unless GOGC is set: little is in use.
func collectSeldom() {
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		debug.SetGCPercent(400)
	}
}

// threadsFor is how many threads serve on some processors. SQLite reads with at least two.
func threadsFor(processors int) int { return max(2, processors) + 1 }

// startJobs runs the background jobs. The function that it returns stops them and waits for the running ones, because
// the database must not be closed under them.
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
