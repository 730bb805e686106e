//go:build browser

// Package browser opens what noslower writes for people in a real browser.
//
// It is a module of its own: a driver of browsers is nothing that the program
// needs. It needs Debian's chromium, and npm for axe-core.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axeVersion is the accessibility checker that pages are held against.
const axeVersion = "4.14.1"

var pictures = flag.String("pictures", "", "write pictures of the pages to this folder, to be looked at")

// chromium is the one browser that all tests open tabs of.
var chromium = sync.OnceValues(func() (context.Context, error) {
	profile, err := os.MkdirTemp("", "noslower-browser")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile), chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(profile))
	}
	ended = func() error { return errors.Join(chromedp.Cancel(ctx), os.RemoveAll(profile)) }
	return ctx, nil
})

// ended ends the browser, if it was started.
var ended = func() error { return nil }

func TestMain(m *testing.M) {
	status := m.Run()
	if err := ended(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// A tab is an open page, and what it did that it should not.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	trouble  []string
	requests []string
}

// open writes a page to a file and opens it, in a tab that is prepared before.
// When the test ends, the page must have asked for nothing but itself and have
// complained of nothing.
func open(t *testing.T, source string, prepare ...func(*tab)) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	address := (&url.URL{Scheme: "file", Path: file}).String()
	browser, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	b := &tab{t: t, ctx: ctx}
	b.do() // which opens the tab
	var stop func()
	b.ctx, stop = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(func() {
		stop()
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, s := range b.trouble {
			t.Errorf("the page complains: %s", s)
		}
		if !slices.Contains(b.requests, address) {
			t.Errorf("no request is seen: of the page itself there must be one")
		}
		for _, r := range b.requests {
			if r != address && r != "data:," {
				t.Errorf("the page asks for %s", r)
			}
		}
	})
	if err := chromedp.Listen(b.ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	for _, f := range prepare {
		f(b)
	}
	b.do(chromedp.Navigate(address))
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.trouble = append(b.trouble, "an exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.trouble = append(b.trouble, fmt.Sprintf("on its console, %v", e.Type))
	case *log.EventEntryAdded:
		b.trouble = append(b.trouble, e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		b.trouble = append(b.trouble, "a dialog: "+e.Message)
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

func (b *tab) enter(selector, keys string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS(selector), keys))
}

// call runs a command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// value returns what an expression is in the page.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression[:min(len(expression), 200)], err)
	}
	return v
}

func equal[T comparable](b *tab, what, expression string, want T) {
	b.t.Helper()
	if got := value[T](b, expression); got != want {
		b.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// A look is a way to look at a page.
type look struct {
	name   string
	width  int64
	scheme string
}

var looks = []look{{"light", 1280, "light"}, {"dark", 1280, "dark"}, {"narrow", 400, "light"}, {"narrow-dark", 400, "dark"}}

// prepare makes a tab look at its page in this way.
func (l look) prepare(b *tab) {
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: 900, DeviceScaleFactor: 1})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}},
	})
}

// picture writes what the tab shows to the folder of pictures.
func (b *tab) picture(name string) {
	b.t.Helper()
	if *pictures == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(*pictures, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// axe fetches the accessibility checker.
var axe = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "noslower-axe")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	out, err := exec.Command("npm", "install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "axe-core@"+axeVersion).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("npm install axe-core: %w\n%s", err, out)
	}
	script, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	return string(script), err
})

// accessible finds no violation of any rule of axe-core.
func (b *tab) accessible() {
	b.t.Helper()
	script, err := axe()
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Evaluate[chromedp.Void](script))
	found := value[string](b, `axe.run(document, {resultTypes: ['violations']}).then((r) => JSON.stringify(
		r.violations.map((v) => ({rule: v.id, help: v.help, nodes: v.nodes.length, first: v.nodes[0].html, why: v.nodes[0].failureSummary}))))`)
	var violations []struct {
		Rule, Help, First, Why string
		Nodes                  int
	}
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range violations {
		b.t.Errorf("axe: %s: %s: %d times, first %s\n%s", v.Rule, v.Help, v.Nodes, strings.TrimSpace(v.First), v.Why)
	}
}
