package modal_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"holdfast/internal/browsertest"
)

// patience is how long a browser may take for one step on a busy machine.
const patience = 60 * time.Second

// tab is a tab of a browser, with the JavaScript contexts of the frames in it.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	contexts []*runtime.ExecutionContextDescription
	asked    []string // questions of the browser, by their kinds; each is answered with yes
	errors   []string // what scripts threw, and what the console told as an error
}

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Stop()
	os.Exit(code)
}

// newTab opens a tab with no memory of any other.
func newTab(t *testing.T) *tab {
	t.Helper()
	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(browsertest.Context(t), chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hears))
	t.Cleanup(cancel)
	// The tab lives as long as the context of the first step.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	b.ctx = ctx
	return b
}

func (b *tab) hears(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExecutionContextCreated:
		b.contexts = append(b.contexts, e.Context)
	case *runtime.EventExecutionContextDestroyed:
		b.contexts = slices.DeleteFunc(b.contexts, func(c *runtime.ExecutionContextDescription) bool {
			return c.UniqueID == e.ExecutionContextUniqueID
		})
	case *runtime.EventExecutionContextsCleared:
		b.contexts = nil
	case *page.EventJavascriptDialogOpening:
		b.asked = append(b.asked, string(e.Type))
		go func() { // not in here, where messages are read
			// Where it fails the page does not go on, which the test waits for.
			_, _ = chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, fmt.Sprint(e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			b.errors = append(b.errors, fmt.Sprint(e.Args))
		}
	}
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

// page evaluates an expression in the page.
func (b *tab) page(expression string) (value any) {
	b.t.Helper()
	value, err := run(b.ctx, expression)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func run(ctx context.Context, expression string, options ...chromedp.EvaluateOption) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	options = append(options, chromedp.EvalAsValue, chromedp.EvalAwaitPromise)
	return chromedp.Run(ctx, chromedp.Evaluate[any](expression, options...))
}

// inFrame evaluates an expression in the frame whose path ends so; ok is false as long as there is none.
func (b *tab) inFrame(path, expression string) (value any, ok bool) {
	b.mu.Lock()
	contexts := slices.Clone(b.contexts)
	b.mu.Unlock()
	for _, c := range slices.Backward(contexts) {
		within := func(p *runtime.EvaluateParams) { p.UniqueContextID = c.UniqueID }
		at, err := run(b.ctx, "location.pathname", within)
		if text, is := at.(string); err != nil || !is || !strings.HasSuffix(text, path) {
			continue
		}
		value, err = run(b.ctx, expression, within)
		if err != nil { // the frame went away, or is not finished
			continue
		}
		return value, true
	}
	return nil, false
}

// frame evaluates an expression in the modal's frame.
func (b *tab) frame(expression string) any {
	b.t.Helper()
	value, ok := b.inFrame("/modal/v1/frame", expression)
	if !ok {
		b.t.Fatalf("no frame in which to find %s", expression)
	}
	return value
}

// until waits for an expression to be true in the frame whose path ends so.
func (b *tab) until(path, expression string) {
	b.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(30 * time.Millisecond)
	defer again.Stop()
	for {
		if value, ok := b.inFrame(path, expression); ok && value == true {
			return
		}
		select {
		case <-deadline.C:
			state, _ := b.inFrame("/modal/v1/frame", "document.documentElement.dataset.state + ': ' + document.querySelector('main').innerText")
			b.mu.Lock()
			defer b.mu.Unlock()
			b.t.Fatalf("it never was that %s; the frame shows %v; errors: %v", expression, state, b.errors)
		case <-again.C:
		}
	}
}

// shows waits for a state of the frame.
func (b *tab) shows(state string) {
	b.t.Helper()
	b.until("/modal/v1/frame", fmt.Sprintf("document.documentElement.dataset.state === %q", state))
}

// calls are the names of the callbacks that fired, in order, as soon as there are so many.
func (b *tab) calls(n int) []string {
	b.t.Helper()
	b.until("/", fmt.Sprintf("window.calls.length >= %d", n))
	var names []string
	for _, name := range b.page("window.calls.map(([name]) => name)").([]any) {
		names = append(names, name.(string))
	}
	return names
}

// argument is what the n-th callback was called with.
func (b *tab) argument(n int) object {
	b.t.Helper()
	return b.page(fmt.Sprintf("window.calls[%d][1]", n)).(object)
}

// press sends keys to what has the focus.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// click clicks an element of the frame.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.frame(fmt.Sprintf("document.querySelector(%q).click()", selector))
}

// fill types a card into the form, as a person does.
func (b *tab) fill(number, expiry, code, name string) {
	b.t.Helper()
	for i, text := range []string{number, expiry, code, name} {
		id := []string{"number", "expiry", "code", "name"}[i]
		b.frame(fmt.Sprintf("(() => { const field = document.getElementById(%q); field.focus(); field.select(); })()", id))
		b.press(text)
	}
}

// newTabIn opens another tab of the same browser, with the same storage but for what each tab has for itself.
func newTabIn(t *testing.T, beside *tab) *tab {
	t.Helper()
	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(beside.ctx, chromedp.WithListener(b.hears))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	b.ctx = ctx
	return b
}

func (b *tab) resize(width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}
