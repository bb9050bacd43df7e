package report

import (
	"fmt"
	"strings"
	"unicode"

	"headroom/analyze"
)

// Markdown tells an analysis in GitHub's Markdown, without pictures.
func Markdown(a *analyze.Analysis, lang Lang) []byte {
	return markdownOf(build(a, nil, lang))
}

// markdownWith links the SVG files that Write puts beside the page.
func markdownWith(a *analyze.Analysis, figures []figure, lang Lang) []byte {
	return markdownOf(build(a, figures, lang))
}

func markdownOf(d *document) []byte {
	var b strings.Builder
	p := func(format string, values ...any) { fmt.Fprintf(&b, format, values...) }
	p("# %s\n\n", md(d.Title))
	if d.Tagline != "" {
		p("%s\n\n", md(d.Tagline))
	}
	p("> **%s**\n\n", md(d.Sentence))
	p("- %s: **%s %s** (%s)\n", md(d.w.Verdict), d.Verdict.Sign, md(d.Verdict.Word), md(d.Means))
	p("- %s **%s %s**\n\n", md(d.w.Trust), d.Trust.Sign, md(d.Trust.Word))
	p("## %s\n\n", md(d.w.PlainWords))
	for _, c := range d.Cards {
		value := strings.TrimSpace(c.Value + " " + c.Unit)
		if c.Range != "" {
			value += " (" + c.Range + ")"
		}
		p("- **%s: %s** %s\n", md(c.Title), md(value), md(strings.Join(c.Says, " ")))
	}
	for _, s := range d.Sections {
		p("\n## %s\n", md(s.Title))
		if s.Intro != "" {
			p("\n%s\n", md(s.Intro))
		}
		for _, bl := range s.Blocks {
			bl.markdown(&b)
		}
	}
	if d.Footer != "" {
		p("\n---\n\n%s\n", md(d.Footer))
	}
	return []byte(b.String())
}

func (bl *block) markdown(b *strings.Builder) {
	if bl.Title != "" {
		fmt.Fprintf(b, "\n### %s\n", md(bl.Title))
	}
	for _, p := range bl.Paras {
		fmt.Fprintf(b, "\n%s\n", md(p))
	}
	for _, f := range bl.Figures {
		fmt.Fprintf(b, "\n### %s\n\n![%s](%s.svg)\n\n%s\n", md(f.Title), md(f.Title), f.Name, md(f.Caption))
	}
	if len(bl.Terms) > 0 {
		b.WriteByte('\n')
	}
	for _, t := range bl.Terms {
		fmt.Fprintf(b, "- **%s**: %s\n", md(t.Word), md(t.Means))
	}
	if bl.Table == nil {
		return
	}
	b.WriteString("\n|")
	for _, c := range bl.Table.Head {
		b.WriteString(" " + md(c.Name) + " |")
	}
	b.WriteString("\n|")
	for _, c := range bl.Table.Head {
		b.WriteString(map[bool]string{true: "---:|", false: "---|"}[c.Right])
	}
	b.WriteByte('\n')
	for _, row := range bl.Table.Rows {
		b.WriteByte('|')
		for _, c := range row {
			b.WriteString(" " + c.markdown() + " |")
		}
		b.WriteByte('\n')
	}
}

func (c *tableCell) markdown() string {
	s := md(c.Text)
	if c.Code && c.Text != "" && !strings.Contains(c.Text, "`") && !looksLikeTag(c.Text) {
		s = "`" + strings.ReplaceAll(plainText(c.Text), "|", `\|`) + "`"
	}
	if c.Note != "" {
		s += " (" + md(c.Note) + ")"
	}
	return s
}

// looksLikeTag keeps what could be HTML out of code spans, whatever a lenient
// renderer makes of them; "<=" is fine.
func looksLikeTag(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '<' && s[i+1] != '=' && s[i+1] != ' ' {
			return true
		}
	}
	return false
}

// md escapes what Markdown or HTML would act on, and keeps a cell on one line.
func md(s string) string {
	var b strings.Builder
	for _, r := range plainText(s) {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '|', '#', '~', '!':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainText takes control characters out of a string that may have come from a
// plan or from another tool: no escape sequence reaches a terminal or a page.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0xFFFE || r == 0xFFFF:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
