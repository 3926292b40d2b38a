package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/testkit/browsertest"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tabPatience is the timeout of a test in a tab, on a machine that is busy with other tests.
const tabPatience = 4 * time.Minute

// tab is one tab.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	changed  chan struct{} // closed when something below changes
	urls     map[cdp.FrameID]string
	contexts map[cdp.FrameID]*runtime.ExecutionContextDescription
	main     cdp.FrameID
	requests []string // sent by the browser: URL, headers and body
	problems []string // errors in scripts
	paused   []*fetch.EventRequestPaused
	dialogs  []*page.EventJavascriptDialogOpening
}

// newTab opens an empty tab.
func newTab(t *testing.T) *tab {
	t.Helper()
	p := &tab{
		t: t, changed: make(chan struct{}), urls: map[cdp.FrameID]string{}, contexts: map[cdp.FrameID]*runtime.ExecutionContextDescription{},
	}
	ctx, closeTab := chromedp.NewContext(browsertest.Context(t), chromedp.WithNewBrowserContext(), chromedp.WithListener(p.heard))
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, tabPatience)
	t.Cleanup(cancel)
	p.ctx = ctx
	call(p, network.Enable, network.EnableParams{})
	// These reports are not used, and cost time.
	call(p, css.Disable, cdp.Empty{})
	call(p, dom.Disable, cdp.Empty{})
	// A tab in the background has the focus as well.
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return p
}

// call runs a command of the protocol that must succeed.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", command.Method, err, p.state())
	}
	return result
}

// heard stores the browser's events. It must not block.
func (p *tab) heard(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *page.EventFrameNavigated:
		p.urls[e.Frame.ID] = e.Frame.URL
		if e.Frame.ParentID == "" {
			p.main = e.Frame.ID
		}
	case *page.EventFrameDetached:
		delete(p.urls, e.FrameID)
		delete(p.contexts, e.FrameID)
	case *runtime.EventExecutionContextCreated:
		var about struct {
			IsDefault bool        `json:"isDefault"`
			FrameID   cdp.FrameID `json:"frameId"`
		}
		if json.Unmarshal(e.Context.AuxData, &about) == nil && about.IsDefault {
			p.contexts[about.FrameID] = e.Context
		}
	case *runtime.EventExecutionContextDestroyed:
		maps.DeleteFunc(p.contexts, func(_ cdp.FrameID, c *runtime.ExecutionContextDescription) bool {
			return c.UniqueID == e.ExecutionContextUniqueID
		})
	case *runtime.EventExecutionContextsCleared:
		clear(p.contexts)
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, e.ExceptionDetails.Text+" "+describe(e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, requestText(e.Request))
	case *fetch.EventRequestPaused:
		p.paused = append(p.paused, e)
	case *page.EventJavascriptDialogOpening:
		p.dialogs = append(p.dialogs, e)
	default:
		return
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

func describe(e *runtime.ExceptionDetails) string {
	if e.Exception == nil {
		return ""
	}
	return e.Exception.Description
}

// requestText is a complete request of the browser.
func requestText(r *network.Request) string {
	var text strings.Builder
	headers, _ := json.Marshal(r.Headers) // the browser's JSON can be encoded
	fmt.Fprintf(&text, "%s %s\n%s\n", r.Method, r.URL, headers)
	for _, entry := range r.PostDataEntries {
		text.Write(entry.Bytes)
	}
	return text.String()
}

// sent is everything that the browser has sent so far.
func (p *tab) sent() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// until waits until look, which runs under the tab's lock, finds what it looks for.
func (p *tab) until(what string, look func() bool) {
	p.t.Helper()
	for {
		p.mu.Lock()
		found, changed := look(), p.changed
		p.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-p.ctx.Done():
			p.t.Fatalf("waiting for %s: %v\n%s", what, context.Cause(p.ctx), p.state())
		}
	}
}

// state describes the tab when a test fails.
func (p *tab) state() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var text strings.Builder
	for _, address := range p.urls {
		fmt.Fprintf(&text, "frame %s\n", address)
	}
	for _, problem := range p.problems {
		fmt.Fprintf(&text, "script: %s\n", problem)
	}
	for _, sent := range p.requests {
		if strings.HasPrefix(sent, "POST") {
			fmt.Fprintf(&text, "request: %s\n", sent)
		}
	}
	return text.String()
}

// The frames of a tab, by a part of their URLs.
const (
	mainFrame      = ""
	modalFrame     = "/modal/v1/frame?"
	challengeFrame = "/sandbox/challenge/"
)

// frame waits for a frame and returns the context of its scripts.
func (p *tab) frame(part string) runtime.ExecutionContextID {
	p.t.Helper()
	var found runtime.ExecutionContextID
	p.until("the frame "+part, func() bool {
		for id, address := range p.urls {
			c := p.contexts[id]
			if c != nil && (part == mainFrame && id == p.main || part != mainFrame && strings.Contains(address, part)) {
				found = c.ID
			}
		}
		return found != 0
	})
	return found
}

// noContext is the browser's response if the document of a script no longer exists.
const noContext = "Cannot find context"

// run runs an expression in a frame and reads its value, which may be a promise's, into target.
func (p *tab) run(part, expression string, target any) error {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ContextID: p.frame(part), AwaitPromise: new(true), ReturnByValue: new(true), UserGesture: new(true),
	})
	if err != nil {
		return err
	}
	if result.ExceptionDetails != nil {
		return errors.New(describe(result.ExceptionDetails))
	}
	if target == nil || len(result.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(result.Result.Value, target)
}

// do runs an expression that must succeed.
func (p *tab) do(part, expression string) {
	p.t.Helper()
	p.read(part, expression, nil)
}

// read is run for an expression that must succeed.
func (p *tab) read(part, expression string, target any) {
	p.t.Helper()
	err := p.run(part, expression, target)
	for err != nil && strings.Contains(err.Error(), noContext) && p.ctx.Err() == nil {
		err = p.run(part, expression, target) // the document was replaced before the script ran
	}
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", expression, err, p.state())
	}
}

// waitFor waits until an expression is true in a frame. Incomplete and replaced documents are polled again.
func (p *tab) waitFor(part, expression string) {
	p.t.Helper()
	look := fmt.Sprintf(`new Promise((resolve) => {
		const look = () => {
			try { if (%s) return resolve(); } catch {}
			setTimeout(look, 20);
		};
		look();
	})`, expression)
	for err := p.run(part, look, nil); err != nil; err = p.run(part, look, nil) {
		if p.ctx.Err() != nil {
			p.t.Fatalf("waiting for %s: %v\n%s", expression, err, p.state())
		}
	}
}

// open goes to a page and waits until it has loaded.
func (p *tab) open(address string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.Navigate(address)); err != nil {
		p.t.Fatalf("opening %s: %v", address, err)
	}
}

// asked waits for the browser's question whether to leave the page, and answers it.
func (p *tab) asked(leave bool) {
	p.t.Helper()
	p.until("the browser's question", func() bool {
		if len(p.dialogs) == 0 || p.dialogs[0].Type != page.DialogTypeBeforeunload {
			return false
		}
		p.dialogs = p.dialogs[1:]
		return true
	})
	call(p, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: leave})
}

// goTo leaves the page with a script, confirms the browser's question if one is expected, and waits for the next page.
func (p *tab) goTo(script, address string, question bool) {
	p.t.Helper()
	p.do(mainFrame, "setTimeout(() => "+script+")")
	if question {
		p.asked(true)
	}
	p.until(address, func() bool { return p.urls[p.main] == address })
}

// keys are those that tests press, by their names.
var keys = map[string]input.DispatchKeyEventParams{
	"Enter":     {Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, Text: "\r"},
	"Tab":       {Key: "Tab", Code: "Tab", WindowsVirtualKeyCode: 9},
	"ArrowDown": {Key: "ArrowDown", Code: "ArrowDown", WindowsVirtualKeyCode: 40},
	"Escape":    {Key: "Escape", Code: "Escape", WindowsVirtualKeyCode: 27},
	"Space":     {Key: " ", Code: "Space", WindowsVirtualKeyCode: 32, Text: " "},
}

const shift = 8

// press presses keys, one after the other. "Shift+" is the prefix for shifted keys.
func (p *tab) press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		plain, shifted := strings.CutPrefix(name, "Shift+")
		key, ok := keys[plain]
		if !ok { // a character
			key = input.DispatchKeyEventParams{Key: plain, Text: plain}
		}
		if shifted {
			key.Modifiers = shift
		}
		key.Type = input.DispatchKeyEventTypeKeyDown
		if key.Text == "" {
			key.Type = input.DispatchKeyEventTypeRawKeyDown
		}
		call(p, input.DispatchKeyEvent, key)
		key.Type, key.Text = input.DispatchKeyEventTypeKeyUp, ""
		call(p, input.DispatchKeyEvent, key)
	}
}

// typeText presses the keys of a text.
func (p *tab) typeText(text string) {
	p.t.Helper()
	for _, r := range text {
		p.press(string(r))
	}
}

// insert puts a text where the focus is, as a paste does.
func (p *tab) insert(text string) {
	p.t.Helper()
	call(p, input.InsertText, input.InsertTextParams{Text: text})
}

// hold delays requests to a URL, before they are sent or before they are answered, until the test releases them.
// Existing frames may not be affected.
func (p *tab) hold(address string, at fetch.RequestStage) {
	p.t.Helper()
	call(p, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: address, RequestStage: at}}})
}

// held waits for the next request that is held.
func (p *tab) held() fetch.RequestID {
	p.t.Helper()
	var id fetch.RequestID
	p.until("a held request", func() bool {
		if len(p.paused) > 0 {
			id, p.paused = p.paused[0].RequestID, p.paused[1:]
		}
		return id != ""
	})
	return id
}

// wholeScripts fails the test if a script of the pages threw an error.
func (p *tab) wholeScripts() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		p.t.Errorf("a script of the page failed: %s", problem)
	}
}

// asScript formats a value as JavaScript.
func asScript(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // tests write plain values
	}
	return string(text)
}
