// Package browsertest gives tests a Chromium to look at pages with. Only tests import it.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// programs are the names under which a browser is found, the best first. The headless shell is Chromium without its windows: it
// shows pages as Chromium does, for half of the work.
var programs = []string{"chromium-headless-shell", "chromium"}

// find is the first browser that is on this machine.
func find() (path string, ok bool) {
	for _, program := range programs {
		if path, err := exec.LookPath(program); err == nil {
			return path, true
		}
	}
	return "", false
}

// started is the one browser of a test program, started by the first test that needs it.
var started struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

// Context is that of the browser: a tab is a chromedp context made from it, with WithNewBrowserContext for cookies and
// storage of its own. Without a Chromium on the machine the test is skipped, except under CI=true, where it fails: there,
// nothing may go untested.
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
		// Its sandbox needs rights that test machines do not have, and it sees no pages but ours.
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		// All frames of a tab in one process, so that one connection reaches them all.
		chromedp.Flag("disable-site-isolation-trials", true),
		chromedp.Flag("disable-features", "IsolateOrigins,site-per-process,Translate,BlinkGenPropertyTrees"),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		// Nobody watches, and what moves has to be drawn again and again.
		chromedp.Flag("force-prefers-reduced-motion", true),
	)
	allocated, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocated)
	started.ctx, started.err = ctx, chromedp.Do(ctx)
	started.stop = func() {
		_ = chromedp.Cancel(ctx) // it is asked to end, and then ended
		stop()
		stopAll()
	}
}

// Stop ends the browser, where a test has started one. TestMain calls it when all tests have run.
func Stop() {
	if started.stop != nil {
		started.stop()
	}
}
