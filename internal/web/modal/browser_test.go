package modal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/testkit/browsertest"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is the timeout of one browser step on a busy machine.
const patience = 60 * time.Second

// tab is a tab of a browser, with the documents of the frames in it.
type tab struct {
	t     *testing.T
	ctx   context.Context
	close context.CancelFunc

	mu       sync.Mutex
	changed  chan struct{} // closed when a document comes or goes
	paths    map[cdp.FrameID]string
	contexts map[cdp.FrameID]string // of scripts, by their unique ids
	asked    []string               // questions of the browser, by their kinds; each is answered with yes
	errors   []string               // errors thrown by scripts and logged to the console
}

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Stop()
	os.Exit(code)
}

// idle are unused tabs. Opening one costs as much as a short test.
var idle struct {
	sync.Mutex
	tabs []*tab
}

// newTab returns an empty tab. It does not remember the previous test: each shop has its own origin.
func newTab(t *testing.T) *tab {
	t.Helper()
	idle.Lock()
	var b *tab
	if last := len(idle.tabs) - 1; last >= 0 {
		b, idle.tabs = idle.tabs[last], idle.tabs[:last]
	}
	idle.Unlock()
	if b == nil {
		b = newTabOf(t, browsertest.Context(t), chromedp.WithNewBrowserContext())
	}
	b.t = t
	t.Cleanup(b.rest)
	return b
}

// rest empties the tab for another test. The tab of a failed test is closed, because its state is unknown.
func (b *tab) rest() {
	if b.t.Failed() {
		b.close()
		return
	}
	b.open("about:blank")
	b.mu.Lock()
	b.asked, b.errors = nil, nil
	b.mu.Unlock()
	call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
	idle.Lock()
	defer idle.Unlock()
	idle.tabs = append(idle.tabs, b)
}

// newTabIn opens another tab of the same browser, with the same storage except session storage.
func newTabIn(t *testing.T, opener *tab) *tab {
	t.Helper()
	b := newTabOf(t, opener.ctx)
	t.Cleanup(b.close)
	return b
}

// unhurried is a script that runs first in each document. The modal times out after 20 seconds or more. Tests must not
// depend on the speed of the machine, so these timeouts are ten times as long.
const unhurried = `(() => {
	const { setTimeout } = window;
	const { timeout } = AbortSignal;
	window.setTimeout = (then, wait, ...rest) => setTimeout(then, wait >= 20000 ? wait * 10 : wait, ...rest);
	AbortSignal.timeout = (wait) => timeout.call(AbortSignal, wait * 10);
})()`

func newTabOf(t *testing.T, parent context.Context, options ...chromedp.ContextOption) *tab {
	t.Helper()
	b := &tab{t: t, changed: make(chan struct{}), paths: map[cdp.FrameID]string{}, contexts: map[cdp.FrameID]string{}}
	ctx, closeTab := chromedp.NewContext(parent, append(options, chromedp.WithListener(b.hears))...)
	b.ctx, b.close = ctx, closeTab
	// The tab lives as long as the context of the first step.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: unhurried})
	// A tab in the background has the focus all the same.
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	// Nobody here looks at these reports, and they cost as much as the pages.
	call(b, network.Disable, cdp.Empty{})
	call(b, css.Disable, cdp.Empty{})
	call(b, dom.Disable, cdp.Empty{})
	return b
}

// call runs a command of the protocol that has to succeed.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, command, params); err != nil {
		b.t.Fatalf("%s: %v", command.Method, err)
	}
}

// hears stores the browser's events. It must not block.
func (b *tab) hears(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *page.EventFrameNavigated:
		if at, err := url.Parse(e.Frame.URL); err == nil {
			b.paths[e.Frame.ID] = at.Path
		}
	case *page.EventFrameDetached:
		delete(b.paths, e.FrameID)
		delete(b.contexts, e.FrameID)
	case *runtime.EventExecutionContextCreated:
		var about struct {
			IsDefault bool        `json:"isDefault"`
			FrameID   cdp.FrameID `json:"frameId"`
		}
		if json.Unmarshal(e.Context.AuxData, &about) == nil && about.IsDefault {
			b.contexts[about.FrameID] = e.Context.UniqueID
		}
	case *runtime.EventExecutionContextDestroyed:
		maps.DeleteFunc(b.contexts, func(_ cdp.FrameID, id string) bool { return id == e.ExecutionContextUniqueID })
	case *runtime.EventExecutionContextsCleared:
		clear(b.contexts)
	case *page.EventJavascriptDialogOpening:
		b.asked = append(b.asked, string(e.Type))
		go func() { // not in here, where messages are read
			// If it fails, the page does not continue, and the test times out.
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, fmt.Sprint(e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			b.errors = append(b.errors, fmt.Sprint(e.Args))
		}
	default:
		return
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// do runs steps, or fails the test.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// in evaluates an expression, which may be a promise, in the document whose path has this suffix. It waits until there
// is one, and retries if the document is replaced meanwhile.
func (b *tab) in(path, expression string, patience time.Duration) (any, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		b.mu.Lock()
		id, changed := "", b.changed
		for frame, at := range b.paths {
			if strings.HasSuffix(at, path) && b.contexts[frame] != "" {
				id = b.contexts[frame]
			}
		}
		b.mu.Unlock()
		if id == "" {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return nil, fmt.Errorf("there is no document at %s: %w", path, ctx.Err())
			}
		}
		within := func(p *runtime.EvaluateParams) { p.UniqueContextID = id }
		value, err := chromedp.Run(ctx, chromedp.Evaluate[any](expression, chromedp.EvalAsValue, chromedp.EvalAwaitPromise, within))
		if thrown := (*chromedp.ExceptionError)(nil); err == nil || ctx.Err() != nil || errors.As(err, &thrown) {
			return value, err
		}
	}
}

// The ends of the paths of the documents in a tab.
const (
	shopPage   = "/"
	modalFrame = "/modal/v1/frame"
)

// page evaluates an expression in the shop's page.
func (b *tab) page(expression string) any {
	b.t.Helper()
	return b.read(shopPage, expression)
}

// frame evaluates an expression in the modal's frame.
func (b *tab) frame(expression string) any {
	b.t.Helper()
	return b.read(modalFrame, expression)
}

func (b *tab) read(path, expression string) any {
	b.t.Helper()
	value, err := b.in(path, expression, patience)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits for an expression to be true in the document whose path has this suffix.
func (b *tab) until(path, expression string) {
	b.t.Helper()
	look := fmt.Sprintf(`new Promise((resolve) => {
		const look = () => {
			try { if (%s) return resolve(true); } catch {}
			setTimeout(look, 20);
		};
		look();
	})`, expression)
	if _, err := b.in(path, look, patience); err != nil {
		state, _ := b.in(modalFrame, "document.documentElement.dataset.state + ': ' + document.querySelector('main').innerText", time.Second)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.t.Fatalf("it never was that %s: %v; the frame shows %v; errors: %v", expression, err, state, b.errors)
	}
}

// shows waits for a state of the frame.
func (b *tab) shows(state string) {
	b.t.Helper()
	b.until(modalFrame, fmt.Sprintf("document.documentElement.dataset.state === %q", state))
}

// calls waits for this many callbacks, and returns their names in order.
func (b *tab) calls(n int) []string {
	b.t.Helper()
	b.until(shopPage, fmt.Sprintf("window.calls.length >= %d", n))
	var names []string
	for _, name := range b.page("window.calls.map(([name]) => name)").([]any) {
		names = append(names, name.(string))
	}
	return names
}

// argument waits for the n-th callback, and returns its argument.
func (b *tab) argument(n int) object {
	b.t.Helper()
	b.calls(n + 1)
	return b.page(fmt.Sprintf("window.calls[%d][1]", n)).(object)
}

// press sends keys to the focused element.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// click clicks an element of the frame.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.frame(fmt.Sprintf("document.querySelector(%q).click()", selector))
}

// fill enters a card into the form, by pasting each field.
func (b *tab) fill(number, expiry, code, name string) {
	b.t.Helper()
	b.until(shopPage, uncovered) // before that the frame takes no keys
	for i, text := range []string{number, expiry, code, name} {
		id := []string{"number", "expiry", "code", "name"}[i]
		b.frame(fmt.Sprintf("(() => { const field = document.getElementById(%q); field.focus(); field.select(); })()", id))
		call(b, input.InsertText, input.InsertTextParams{Text: text})
	}
}

func (b *tab) resize(width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}
