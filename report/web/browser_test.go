package web_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// chromium starts Chromium with a profile of its own, or skips the test where
// there is none and nobody requires it.
func chromium(t testing.TB) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if strings.Contains(os.Getenv("HEADROOM_REQUIRE"), "chromium") {
			t.Fatal("chromium is required and not installed: apt-get install chromium")
		}
		t.Skip("chromium is not installed: apt-get install chromium")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("no-first-run", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en"),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	quiet := func(string, ...any) {}
	ctx, cancel := chromedp.NewContext(alloc, chromedp.WithErrorf(quiet), chromedp.WithLogf(quiet))
	ctx, cancelTime := context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(func() {
		cancelTime()
		cancel()
		cancelAlloc()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	return ctx
}

// patience is how long one action may take on a busy machine.
const patience = 45 * time.Second

type step = chromedp.Action[chromedp.Void]

func do(ctx context.Context, t testing.TB, what string, steps ...step) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// ask runs an action that has a result.
func ask[T any](ctx context.Context, t testing.TB, what string, a chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return v
}

// screen sets the width and the scheme of colours.
func screen(ctx context.Context, t testing.TB, width int64, scheme string) {
	t.Helper()
	do(ctx, t, "screen", chromedp.EmulateViewport(width, 900))
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// loaded waits until all pictures of the page are there.
const loaded = `document.readyState === "complete" && Array.from(document.images).every(i => i.complete && i.naturalWidth > 0)`

// TestLook takes pictures of all pages for people to look at.
func TestLook(t *testing.T) {
	dir := os.Getenv("HEADROOM_LOOK")
	if dir == "" {
		t.Skip("HEADROOM_LOOK names no folder to write screenshots into")
	}
	ctx := chromium(t)
	ts, _ := served(t, newShelf(t), nil)
	pages := map[string]string{
		"history": "/en/", "run": "/pt/runs/checkout-3", "step": "/en/runs/checkout-1/steps/3", "broken": "/en/runs/damaged-1", "live": "/en/live/now-1",
		"compare": "/en/compare?base=checkout-1&base=checkout-2&new=checkout-3", "trend": "/en/trend?name=checkout", "diff": "/en/diff?a=checkout-1&b=checkout-3", "api": "/en/api",
	}
	only := os.Getenv("HEADROOM_LOOK_AT")
	for name, address := range pages {
		if only != "" && !strings.Contains(only, name) {
			continue
		}
		for _, width := range []int64{360, 1200, 1600} {
			for _, scheme := range []string{"light", "dark"} {
				screen(ctx, t, width, scheme)
				do(ctx, t, name, chromedp.Navigate(ts.URL+address))
				ask(ctx, t, name, chromedp.Poll[bool](loaded))
				png := ask(ctx, t, name, chromedp.FullScreenshot(100))
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), png, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
