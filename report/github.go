package report

import (
	"fmt"
	"strings"

	"headroom/analyze"
)

// maxSummary bounds a job summary: GitHub aborts the upload above 1024 kB.
const maxSummary = 900 << 10

// Annotations are workflow commands for GitHub Actions, one a line: an error for
// each failed gate, a warning for each gate that could not be judged and for each
// finding that invalidates, a notice with the sentence.
func Annotations(a *analyze.Analysis) string {
	w := &english
	var b strings.Builder
	put := func(level, title, message string) {
		fmt.Fprintf(&b, "::%s title=%s::%s\n", level, annotationTitle(title), annotationText(message))
	}
	for i := range a.Gates {
		g := &a.Gates[i]
		level := "warning"
		switch g.Outcome {
		case analyze.Pass:
			continue
		case analyze.Fail:
			level = "error"
		}
		message := fmt.Sprintf("measured %s, limit %s", w.gateValue(g), w.withUnit(g.Limit, g.Unit))
		if why := w.gateWhy(g); why != "" {
			message += " (" + why + ")"
		}
		put(level, fmt.Sprintf("gate %s: %s", w.code(string(g.Outcome)), g.Rule), message)
	}
	for _, f := range a.Findings {
		if f.Severity == "invalidates" {
			put("warning", f.Code, orElse(f.Text, w.code(f.Code)))
		}
	}
	put("notice", "headroom: "+w.code(string(a.Verdict)), orElse(a.Sentence.EN, w.NoSentence))
	return b.String()
}

// Summary is Markdown for $GITHUB_STEP_SUMMARY, cut at a line below what GitHub
// accepts. It is to be appended, the file may hold other steps' words.
func Summary(a *analyze.Analysis, lang Lang) []byte {
	s := Markdown(a, lang)
	if len(s) <= maxSummary {
		return s
	}
	s = s[:maxSummary]
	if i := strings.LastIndexByte(string(s), '\n'); i > 0 {
		s = s[:i+1]
	}
	return append(s, "\n…\n"...)
}

func annotationText(s string) string {
	return strings.ReplaceAll(plainText(s), "%", "%25")
}

func annotationTitle(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(annotationText(s))
}
