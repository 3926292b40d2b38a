// Package browsertest runs Chromium for tests of pages. Only tests import it.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// programs are the names of browsers, in order of preference. The headless shell is Chromium without windows: it renders
// pages the same way with half the resources.
var programs = []string{"chromium-headless-shell", "chromium"}

// find returns the first browser installed on this machine.
func find() (path string, ok bool) {
	for _, program := range programs {
		if path, err := exec.LookPath(program); err == nil {
			return path, true
		}
	}
	return "", false
}

// started is the browser of a test binary, started by the first test that needs it.
var started struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

// Context is the browser's context. A tab is a chromedp context derived from it; use WithNewBrowserContext for separate
// cookies and storage. Without Chromium the test is skipped, or fails with CI=true, where nothing may go untested.
func Context(t testing.TB) context.Context {
	t.Helper()
	path, ok := find()
	if !ok && os.Getenv("CI") == "true" {
		t.Fatal("Chromium is not installed; with CI=true, pages must be tested (`make test` installs it)")
	} else if !ok {
		t.Skip("Chromium is not installed, so pages are not tested (`make test` installs it)")
	}
	if started.once.Do(func() { start(path) }); started.err != nil {
		t.Fatalf("%s does not start: %v", path, started.err)
	}
	return started.ctx
}

func start(path string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		// The browser's sandbox needs privileges that test machines do not have, and only our own pages are opened.
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		// All frames of a tab run in one process, so that one connection reaches them all.
		chromedp.Flag("disable-site-isolation-trials", true),
		chromedp.Flag("disable-features", "IsolateOrigins,site-per-process,Translate,BlinkGenPropertyTrees"),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		// Nobody watches the animations, and they must be redrawn all the time.
		chromedp.Flag("force-prefers-reduced-motion", true),
	)
	allocated, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocated)
	started.ctx, started.err = ctx, chromedp.Do(ctx)
	started.stop = func() {
		_ = chromedp.Cancel(ctx) // asks the browser to exit; stop and stopAll force it
		stop()
		stopAll()
	}
}

// Stop stops the browser if a test has started it. TestMain calls it after all tests.
func Stop() {
	if started.stop != nil {
		started.stop()
	}
}
