package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"headroom/analyze"
	"headroom/store/record"
)

//go:embed report.html.tmpl
var pageText string

//go:embed report.css
var styleText string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"plain":  plainText,
	"inline": func(svg []byte) template.HTML { return template.HTML(svg) }, // made by report/plot, which escapes every name
	"style":  func() template.CSS { return template.CSS(styleText) },
}).Parse(pageText))

// HTML tells an analysis as one page that needs nothing else: no script, no
// font, no request. The pictures are SVG inside it; those over time need the
// evidence and are left out where ev is nil.
func HTML(a *analyze.Analysis, ev record.Evidence, lang Lang) ([]byte, error) {
	figures, err := render(a, ev, lang)
	if err != nil {
		return nil, err
	}
	return htmlWith(a, figures, lang)
}

func htmlWith(a *analyze.Analysis, figures []figure, lang Lang) ([]byte, error) {
	var b bytes.Buffer
	if err := page.Execute(&b, pageData{build(a, figures, lang), wordsOf(lang)}); err != nil {
		return nil, fmt.Errorf("report.html: %w", err)
	}
	return b.Bytes(), nil
}

// pageData is what the template sees.
type pageData struct {
	D *document
	W *words
}

// render makes the pictures as SVG, with their captions.
func render(a *analyze.Analysis, ev record.Evidence, lang Lang) ([]figure, error) {
	pictures, err := Pictures(a, ev, lang)
	if err != nil {
		return nil, err
	}
	var out []figure
	for _, p := range pictures {
		svg, err := p.Figure.SVG()
		if err != nil {
			return nil, err
		}
		out = append(out, figure{p.Name, p.Figure.Title(), wordsOf(lang).Captions[p.Name], svg})
	}
	return out, nil
}

// Class is the class of a column: n for numbers.
func (c column) Class() string {
	if c.Right {
		return "n"
	}
	return ""
}

// Class joins the classes of a cell in column i.
func (t *table) Class(i int, c tableCell) string {
	var classes []string
	if i < len(t.Head) && t.Head[i].Right {
		classes = append(classes, "n")
	}
	if c.Tone != "" {
		classes = append(classes, c.Tone)
	}
	return strings.Join(classes, " ")
}
