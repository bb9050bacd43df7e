package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// clicked clicks what a selector finds and waits for the page of the address
// that contains want.
func clicked(ctx context.Context, t testing.TB, selector, want string) {
	t.Helper()
	do(ctx, t, selector, chromedp.ScrollIntoView(selector))
	leads(ctx, t, selector, want, chromedp.Click(selector))
}

// leads runs what opens another page, and waits for it.
func leads(ctx context.Context, t testing.TB, what, want string, s step) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	res, err := chromedp.RunResponse(ctx, s)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if res.Status != 200 || !strings.Contains(res.URL, want) {
		t.Fatalf("%s leads to %s (%d), not to %s", what, res.URL, res.Status, want)
	}
}

// A person goes from the history through a run, a plateau, a comparison and a
// trend to a download, in both languages, with pointer and keys.
func TestJourney(t *testing.T) {
	ctx := chromium(t)
	ts, _ := served(t, newShelf(t), nil)
	screen(ctx, t, 1200, "light")
	for _, lang := range []string{"en", "pt"} {
		base := ts.URL + "/" + lang
		do(ctx, t, "history", chromedp.Navigate(base+"/"))
		clicked(ctx, t, `a[href="/`+lang+`/runs/checkout-3"]`, "/runs/checkout-3")
		if got := ask(ctx, t, "heading", chromedp.Text("h1")); got != "checkout · v1.42" {
			t.Errorf("%s: the run's heading is %q", lang, got)
		}

		// The nearest interval is told at a key, and under the pointer.
		do(ctx, t, "timeline", chromedp.ScrollIntoView("#picture-timeline .picture"), chromedp.Focus("#picture-timeline .picture"))
		ask(ctx, t, "values of an interval", chromedp.Poll[bool](`(() => {
			const box = document.querySelector("#picture-timeline .picture");
			box.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
			return document.querySelector("#picture-timeline .readout").textContent.length > 40;
		})()`))
		// Dragging asks the server for that stretch; Escape for the whole again.
		ask(ctx, t, "all pictures", chromedp.Poll[bool](loaded))
		box := ask(ctx, t, "timeline", chromedp.Dimensions("#picture-timeline img"))
		x, y, w := box.Content[0], box.Content[1], float64(box.Width)
		do(ctx, t, "drag", chromedp.DragAndDropXY(x+0.4*w, y+150, x+0.6*w, y+150, 8))
		ask(ctx, t, "a stretch", chromedp.Poll[bool](`(() => {
			const i = document.querySelector("#picture-timeline img");
			return i.src.includes("from=") && i.complete && i.naturalWidth > 0 && document.querySelector("#picture-heat img").src.includes("from=");
		})()`))
		do(ctx, t, "escape", chromedp.Focus("#picture-timeline .picture"), chromedp.KeyEvent(kb.Escape))
		ask(ctx, t, "the whole", chromedp.Poll[bool](`!document.querySelector("#picture-timeline img").src.includes("from=")`))

		// A plateau of the knee curve leads to its page.
		do(ctx, t, "knee", chromedp.ScrollIntoView("#picture-knee .picture"), chromedp.Focus("#picture-knee .picture"))
		ask(ctx, t, "values of a plateau", chromedp.Poll[bool](`(() => {
			document.querySelector("#picture-knee .picture").dispatchEvent(new KeyboardEvent("keydown", {key: "Home"}));
			return document.querySelector("#picture-knee .readout").textContent.length > 40;
		})()`))
		leads(ctx, t, "enter", "/steps/", chromedp.KeyEvent(kb.Enter))
		clicked(ctx, t, `a[rel=next]`, "/steps/1")
		clicked(ctx, t, `nav.pager a:nth-of-type(2)`, "/runs/checkout-3")
		clicked(ctx, t, `#plateaus table a`, "/steps/")
		clicked(ctx, t, `nav.pager a[href$="checkout-3"]`, "/runs/checkout-3")

		clicked(ctx, t, `#others a[href*="compare"]`, "/compare?base=")
		if n := ask(ctx, t, "metrics", chromedp.Evaluate[int](`document.querySelectorAll("#metrics tbody tr").length`)); n < 5 {
			t.Errorf("%s: %d metrics are compared", lang, n)
		}
		if got := ask(ctx, t, "sides", chromedp.Text(`.drop[data-side=new] li`)); !strings.Contains(got, "v1.42") {
			t.Errorf("%s: side B is %q", lang, got)
		}
		clicked(ctx, t, `.menu a[href$="/trend"]`, "/trend")
		do(ctx, t, "run of the trend", chromedp.ScrollIntoView("#runs a"))
		clicked(ctx, t, `#runs a`, "/runs/checkout-3")

		clicked(ctx, t, `.lang a`, map[string]string{"en": "/pt/runs/", "pt": "/en/runs/"}[lang])
		download(ctx, t, `#downloads a[href$="analysis.json"]`, func(b []byte) error {
			var a struct{ Schema string }
			if err := json.Unmarshal(b, &a); err != nil || a.Schema != "headroom.analysis/1" {
				return fmt.Errorf("%q, %v", a.Schema, err)
			}
			return nil
		})
	}
}

// download clicks a link and checks the file that the browser wrote.
func download(ctx context.Context, t testing.TB, selector string, check func([]byte) error) {
	t.Helper()
	dir, yes := t.TempDir(), true
	_, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, EventsEnabled: &yes,
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan browser.EventDownloadProgress, 100)
	err = chromedp.ListenBrowser(ctx, func(ev any) {
		if e, ok := ev.(*browser.EventDownloadProgress); ok && e.State != "inProgress" {
			select {
			case done <- *e:
			default:
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	do(ctx, t, "download", chromedp.ScrollIntoView(selector), chromedp.Click(selector))
	select {
	case e := <-done:
		if e.State != "completed" {
			t.Fatalf("download %s", e.State)
		}
	case <-ctx.Done():
		t.Fatal("the download does not end")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err == nil {
		err = check(b)
	}
	if err != nil {
		t.Errorf("%s: %v", files[0], err)
	}
}

// contrast lists texts whose colour is too near to what is behind them (WCAG 2.2,
// 1.4.3), and what is wider than the screen.
const contrast = `(() => {
	const bad = [];
	const rgb = c => (c.match(/[\d.]+/g) || []).map(Number);
	const lum = c => [0, 1, 2].map(i => c[i] / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
		.reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
	const behind = e => {
		for (; e; e = e.parentElement) {
			const c = rgb(getComputedStyle(e).backgroundColor);
			if (c.length === 3 || c[3] > 0) { return c; }
		}
		return [255, 255, 255];
	};
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const e = n.parentElement, s = getComputedStyle(e);
		if (!n.data.trim() || !e.checkVisibility() || e.closest(".skip, option, title, desc")) { continue; }
		const a = lum(rgb(s.color)), b = lum(behind(e));
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		const size = parseFloat(s.fontSize), large = size >= 24 || size >= 18.66 && s.fontWeight >= 700;
		if (ratio < (large ? 3 : 4.5)) { bad.push(ratio.toFixed(2) + " " + n.data.trim().slice(0, 40)); }
	}
	if (document.documentElement.scrollWidth > innerWidth + 1) { bad.push("the page is " + document.documentElement.scrollWidth + " wide"); }
	let last = 0;
	document.querySelectorAll("h1, h2, h3, h4").forEach(h => {
		const level = Number(h.tagName[1]);
		if (level > last + 1) { bad.push("heading of level " + level + " after " + last + ": " + h.textContent); }
		last = level;
	});
	if (document.querySelectorAll("h1").length !== 1) { bad.push("not one h1"); }
	if (document.querySelectorAll("main").length !== 1) { bad.push("not one main"); }
	document.querySelectorAll("th").forEach(th => { if (!th.scope) { bad.push("th without scope: " + th.textContent); } });
	return bad;
})()`

// focusOrder presses nothing: it asks which elements take the focus, in order of
// the document; the test compares it with what Tab does.
const focusOrder = `Array.from(document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']"))
	.filter(e => e.checkVisibility()).length`

// Names, roles, contrast, headings, width and the order of keys on every kind of
// page.
func TestAccessibility(t *testing.T) {
	ctx := chromium(t)
	ts, _ := served(t, newShelf(t), nil)
	for _, at := range []string{
		"/en/", "/pt/runs/checkout-1", "/en/runs/steady-1", "/en/runs/checkout-1/steps/0", "/en/runs/damaged-1", "/pt/live/now-1", "/en/compare?base=checkout-1&new=checkout-2",
		"/en/trend?name=checkout", "/pt/diff?a=checkout-1&b=checkout-2", "/en/api", "/en/runs/none",
	} {
		for _, width := range []int64{360, 1600} {
			for _, scheme := range []string{"light", "dark"} {
				screen(ctx, t, width, scheme)
				do(ctx, t, at, chromedp.Navigate(ts.URL+at))
				for _, bad := range ask(ctx, t, at, chromedp.Evaluate[[]string](contrast)) {
					t.Errorf("%s, %d, %s: %s", at, width, scheme, bad)
				}
			}
		}
		named(ctx, t, at)
		keys(ctx, t, at)
	}
}

// named asks the browser's tree for assistive technology: whatever can be used
// has a name.
func named(ctx context.Context, t testing.TB, at string) {
	t.Helper()
	tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	text := func(v *accessibility.Value) string {
		if v == nil {
			return ""
		}
		return strings.Trim(string(v.Value), `"`)
	}
	roles := map[string]int{}
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		role := text(n.Role)
		roles[role]++
		switch role {
		case "link", "button", "textbox", "searchbox", "combobox", "checkbox", "spinbutton", "image", "img", "navigation", "group", "region", "Date", "DateTime":
			if strings.TrimSpace(text(n.Name)) == "" {
				t.Errorf("%s: a %s without a name", at, role)
			}
		}
	}
	if roles["main"] != 1 || roles["navigation"] < 2 || roles["heading"] == 0 {
		t.Errorf("%s: %d main, %d navigation, %d headings", at, roles["main"], roles["navigation"], roles["heading"])
	}
}

// keys presses Tab through the page: the first stop is the way to the content,
// every stop is visible and in the order of the document, none is a trap.
func keys(ctx context.Context, t testing.TB, at string) {
	t.Helper()
	n := ask(ctx, t, at, chromedp.Evaluate[int](focusOrder))
	do(ctx, t, at, chromedp.Evaluate[chromedp.Void](`window.stops = []; window.scrollTo(0, 0); document.activeElement.blur();
		document.addEventListener("focusin", e => window.stops.push(e.target)); undefined`))
	for range min(n, 25) {
		do(ctx, t, at, chromedp.KeyEvent(kb.Tab))
	}
	bad := ask(ctx, t, at, chromedp.Evaluate[[]string](`(() => {
		const bad = [];
		if (!window.stops.length || window.stops[0].className !== "skip") { bad.push("the first stop is not the way to the content"); }
		window.stops.forEach((e, i) => {
			if (i && !(window.stops[i - 1].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)) { bad.push("out of order: " + e.outerHTML.slice(0, 80)); }
		});
		const s = getComputedStyle(document.activeElement);
		if (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 1) { bad.push("the focus can't be seen on " + document.activeElement.outerHTML.slice(0, 80)); }
		return bad;
	})()`))
	for _, b := range bad {
		t.Errorf("%s: %s", at, b)
	}
}
