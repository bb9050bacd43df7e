package report

// document is a report before it is HTML or Markdown: what is said, in order.
type document struct {
	w        *words
	Lang     string
	Title    string // name and release
	Tagline  string // state, start, length
	Sentence string
	Verdict  badge
	Trust    badge
	Means    string // what the verdict means
	Cards    []card
	Sections []section
	Footer   string
}

// badge is a word with a tone, and a shape for those who don't see the tone.
type badge struct {
	Word, Tone, Sign string
}

// card is one of the few numbers at the top, in plain words.
type card struct {
	Title, Value, Unit, Range string
	Says                      []string
	Tone                      string
}

type section struct {
	ID, Title, Intro string
	Blocks           []block
}

// block is one of: a table, a list of paragraphs, pictures, terms.
type block struct {
	Title   string
	Table   *table
	Paras   []string
	Figures []figure
	Terms   []term
}

type table struct {
	Head []column
	Rows [][]tableCell
}

type column struct {
	Name  string
	Right bool // numbers
}

// tableCell is a value; Note is the reason where the value is absent, or what a
// word means.
type tableCell struct {
	Text, Note, Tone string
	Code             bool
	Href             string // where the text leads, "" nowhere
}

type figure struct {
	Name, Title, Caption string
	SVG                  []byte
}

func text(s string) tableCell           { return tableCell{Text: s} }
func noted(s, note string) tableCell    { return tableCell{Text: s, Note: note} }
func toned(b badge) tableCell           { return tableCell{Text: b.Sign + " " + b.Word, Tone: b.Tone} }
func code(s string) tableCell           { return tableCell{Text: s, Code: true} }
func left(names ...string) []column     { return columns(false, names) }
func right(names ...string) []column    { return columns(true, names) }
func (t *table) add(cells ...tableCell) { t.Rows = append(t.Rows, cells) }

func columns(right bool, names []string) []column {
	out := make([]column, len(names))
	for i, n := range names {
		out[i] = column{n, right}
	}
	return out
}

// The tones: good, bad, doubt, none.
func (w *words) badge(c string) badge {
	switch c {
	case "pass", "trusted", "found", "holds", "complete":
		return badge{w.code(c), "good", "✓"}
	case "fail", "untrusted", "collapses", "failed", "invalidates":
		return badge{w.code(c), "bad", "✗"}
	case "note":
		return badge{w.code(c), "none", "·"}
	case "":
		return badge{w.code("inconclusive"), "doubt", "?"}
	}
	return badge{w.code(c), "doubt", "?"}
}
