package report

import "headroom/analyze"

// CompareParts says a comparison in pieces, as CompareHTML does, without
// pictures.
func CompareParts(c *analyze.Comparison, lang Lang) (*Parts, error) {
	return compareDocument(c, nil, lang).parts()
}

// TrendParts says a history in pieces, as TrendHTML does, without pictures.
func TrendParts(t *analyze.TrendResult, lang Lang) (*Parts, error) {
	return trendDocument(t, nil, lang).parts()
}

func (d *shortDocument) parts() (*Parts, error) {
	p := &Parts{Lang: d.Lang, Title: d.Title, Tagline: d.Tagline, Sentence: d.Sentence}
	if d.Badge != nil {
		p.Verdict = Badge(*d.Badge)
	}
	for _, s := range d.Sections {
		part, err := partOf(s)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, part)
	}
	return p, nil
}
