package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"headroom/analyze"
)

var hostile = []string{"", "plain", "<script>alert(1)</script>", "a|b\n# c", "\x1b[31mred\x00", "=1+1", "çãé – µ", strings.Repeat("long ", 60), "]]>&amp;\"'`", "\u202Eevil", "\xff\xfe", "p99"}

// wild is an analysis in which every number may be absent, every list long or
// empty, and every text hostile.
func wild(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			wild(r, v.Field(i), depth+1)
		}
	case reflect.Pointer:
		if r.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			wild(r, v.Elem(), depth+1)
		}
	case reflect.Slice:
		n := []int{0, 1, 2, 30}[r.IntN(4)]
		if depth > 2 {
			n = min(n, 2)
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			wild(r, v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			wild(r, v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(3) {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			k.SetString([]string{"p50", "p99", "ok", "timeout", "<b>"}[r.IntN(5)])
			wild(r, e, depth+1)
			v.SetMapIndex(k, e)
		}
	case reflect.String:
		v.SetString(hostile[r.IntN(len(hostile))])
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, 0.5, 1e12, -3, r.Float64() * 1e6}[r.IntN(6)])
	case reflect.Uint64:
		v.SetUint(r.Uint64N(1 << 40))
	case reflect.Int:
		v.SetInt(r.Int64N(22) - 1)
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	}
}

// TestLaws: whatever the analysis, the text has at most 40 lines of at most the
// width, pages are well-formed and escape everything, and nothing prints NaN.
func TestLaws(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		a := &analyze.Analysis{}
		wild(r, reflect.ValueOf(a).Elem(), 0)
		width := 40 + r.IntN(160)
		text := Text(a, TextOptions{Width: width, Files: make([]string, r.IntN(30))})
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > 40 {
			t.Fatalf("seed %d: %d lines:\n%s", seed, len(lines), text)
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > width {
				t.Fatalf("seed %d: %d columns of %d: %q", seed, n, width, l)
			}
		}
		if strings.ContainsAny(text, "\x00\x1b\u202e") {
			t.Fatalf("seed %d: control characters in\n%q", seed, text)
		}
		for _, lang := range Languages() {
			html, err := htmlWith(a, nil, lang)
			if err == nil {
				err = checkPage(html)
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			markdown := Markdown(a, lang)
			for _, page := range [][]byte{html, markdown, []byte(text)} {
				if bytes.Contains(page, []byte("NaN")) || bytes.Contains(page, []byte("%!")) {
					t.Fatalf("seed %d: a page with NaN or a bad format:\n%s", seed, page)
				}
			}
			if bytes.Contains(markdown, []byte("<script")) {
				t.Fatalf("seed %d: Markdown that carries a script", seed)
			}
		}
		pictures, err := Pictures(a, nil, English)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pictures {
			if _, err := p.Figure.SVG(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// checkPage wants well-formed XML (which the page is, on purpose, beside being
// HTML), no script, and nothing that is fetched from elsewhere.
func checkPage(html []byte) error {
	d := xml.NewDecoder(bytes.NewReader(html))
	d.Strict, d.Entity = true, xml.HTMLEntity
	ids := map[string]bool{}
	var links []string
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("not well-formed: %w", err)
		}
		el, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		switch el.Name.Local {
		case "script", "link", "iframe", "object", "img", "image":
			return fmt.Errorf("<%s>: the page must need nothing else", el.Name.Local)
		}
		for _, at := range el.Attr {
			switch {
			case at.Name.Local == "id":
				if ids[at.Value] {
					return fmt.Errorf("id %q twice", at.Value)
				}
				ids[at.Value] = true
			case at.Name.Local == "href":
				links = append(links, at.Value)
			case strings.HasPrefix(at.Name.Local, "on") || at.Name.Local == "src":
				return fmt.Errorf("<%s %s=%q>", el.Name.Local, at.Name.Local, at.Value)
			}
		}
	}
	for _, l := range links {
		if !strings.HasPrefix(l, "#") || !ids[l[1:]] {
			return fmt.Errorf("link %q leads nowhere", l)
		}
	}
	return nil
}
