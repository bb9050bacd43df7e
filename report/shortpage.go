package report

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
)

// shortDocument is a page without the parts that only a run has: a comparison,
// a history.
type shortDocument struct {
	w        *words
	Lang     string
	Kind     string
	Title    string
	Tagline  string
	Sentence string
	Badge    *badge
	Sections []section
}

const shortText = `<!DOCTYPE html>
<html lang="{{.Lang}}">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta name="generator" content="headroom"/>
<title>{{plain .Title}} – {{.Kind}}</title>
<style>{{style}}</style>
</head>
<body>
<header>
<p class="kind">{{.Kind}}</p>
<h1>{{plain .Title}}</h1>
{{with .Tagline}}<p class="tagline">{{plain .}}</p>{{end}}
{{with .Badge}}<p class="badges"><span class="badge {{.Tone}}">{{.Sign}} {{plain .Word}}</span></p>{{end}}
<p class="sentence">{{plain .Sentence}}</p>
</header>
<main>
{{- range .Sections}}
<section id="{{.ID}}">
<h2>{{plain .Title}}</h2>
{{with .Intro}}<p class="intro">{{plain .}}</p>{{end}}
{{- template "blocks" .}}
</section>
{{- end}}
</main>
</body>
</html>
`

var shortPage = template.Must(template.Must(page.Clone()).New("short").Parse(shortText))

func (d *shortDocument) html() ([]byte, error) {
	var b bytes.Buffer
	if err := shortPage.Execute(&b, d); err != nil {
		return nil, fmt.Errorf("%s: %w", d.Kind, err)
	}
	return b.Bytes(), nil
}

func (d *shortDocument) markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", md(d.Title))
	if d.Tagline != "" {
		fmt.Fprintf(&b, "\n%s\n", md(d.Tagline))
	}
	fmt.Fprintf(&b, "\n> **%s**\n", md(d.Sentence))
	if d.Badge != nil {
		fmt.Fprintf(&b, "\n**%s %s**\n", d.Badge.Sign, md(d.Badge.Word))
	}
	for _, s := range d.Sections {
		fmt.Fprintf(&b, "\n## %s\n", md(s.Title))
		if s.Intro != "" {
			fmt.Fprintf(&b, "\n%s\n", md(s.Intro))
		}
		for i := range s.Blocks {
			s.Blocks[i].markdown(&b)
		}
	}
	return []byte(b.String())
}

// drawn renders pictures for a page.
func drawn(pictures []Picture) ([]figure, error) {
	var out []figure
	for _, p := range pictures {
		svg, err := p.Figure.SVG()
		if err != nil {
			return nil, err
		}
		out = append(out, figure{p.Name, p.Figure.Title(), p.Figure.About(), svg})
	}
	return out, nil
}
