package report

import (
	"bytes"
	"html"
	"html/template"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	escaper "github.com/yuin/goldmark/renderer/html"
	segments "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/internal/visible"
)

// prose is Markdown of others as HTML, below a heading of a level. HTML in it stays text, nothing is
// loaded, and only links to web pages and addresses of mail lead anywhere. Whatever it says is shown:
// also where links and images lead. `shown` are the ids of the marks that are in it.
func prose(words string, level int, marks []mark) (markup string, shown map[string]bool) {
	source := []byte(visible.Text(words))
	if dense(source) {
		return `<pre class="quote">` + html.EscapeString(string(source)) + "</pre>", nil
	}
	s := &scribe{level: level, spans: spansIn(string(source), marks), shown: map[string]bool{}}
	md := goldmark.New(
		goldmark.WithParser(parser.NewParser( // without references: their definitions would not be shown
			parser.WithBlockParsers(without(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
			parser.WithInlineParsers(without(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...),
		)),
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.Linkify),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(s, 100))),
	)
	var b bytes.Buffer
	_ = md.Convert(source, &b)               // a buffer takes everything
	return visible.Text(b.String()), s.shown // an entity can be any character
}

// Prose is Markdown of others as HTML, below a heading of a level. HTML in it stays text, nothing is
// loaded, and only links to web pages and addresses of mail lead anywhere.
func Prose(words string, level int) template.HTML {
	markup, _ := prose(words, level, nil)
	return template.HTML(markup)
}

func without(all []util.PrioritizedValue, one any) []util.PrioritizedValue {
	return slices.DeleteFunc(all, func(v util.PrioritizedValue) bool { return v.Value == one })
}

// dense reports whether a text has more links, more signs in one paragraph or more quotes in quotes than
// anybody writes: it would take minutes to read it as Markdown.
func dense(source []byte) bool {
	signs := 0
	for line := range bytes.Lines(source) {
		if len(bytes.TrimSpace(line)) == 0 {
			signs = 0
		}
		for _, is := range line {
			if bytes.IndexByte([]byte("*_~[`<"), is) >= 0 {
				signs++
			}
		}
		if signs > 4000 {
			return true
		}
	}
	return bytes.Count(source, []byte("](")) > 2000 || nested.MatchString(string(source))
}

var nested = pattern.New(`(?m)^(?:[ \t]*(?:[>*+-]|[0-9]+[.)])){100}`)

// mark is words of a text that are marked in it. What stands behind them is HTML.
type mark struct{ words, id, behind string }

// span is where a mark is.
type span struct {
	mark
	from, to int
}

// spansIn finds words to be marked. Words that overlap words before them are not marked again; what
// stands behind them stands behind those.
func spansIn(source string, marks []mark) (spans []span) {
	for _, m := range marks {
		words := strings.Trim(visible.Text(m.words), " \t\n*_`~#>-")
		from := strings.Index(source, words)
		to := from + len(words)
		if words == "" || from < 0 {
			continue
		}
		if i := slices.IndexFunc(spans, func(s span) bool { return from < s.to && s.from < to }); i < 0 {
			spans = append(spans, span{m, from, to})
		} else if m.id == "" {
			spans[i].behind += m.behind
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	return spans
}

// scribe writes those parts of Markdown that are not written as goldmark does.
type scribe struct {
	level int
	spans []span
	shown map[string]bool
	least int // the level of the highest heading
}

// RegisterFuncs implements renderer.NodeRenderer.
func (s *scribe) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, s.heading)
	r.Register(ast.KindText, s.text)
	r.Register(ast.KindCodeSpan, around("<code>", "</code>"))
	r.Register(ast.KindCodeBlock, s.code)
	r.Register(ast.KindFencedCodeBlock, s.code)
	r.Register(ast.KindLink, s.link)
	r.Register(ast.KindImage, s.link)
	r.Register(ast.KindAutoLink, s.link)
}

func around(begin, end string) renderer.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		put(w, map[bool]string{true: begin, false: end}[entering])
		return ast.WalkContinue, nil
	}
}

func put(w util.BufWriter, markup string) { _, _ = w.WriteString(markup) } // an error comes when it is flushed

// heading keeps the headings of a text below the heading above it.
func (s *scribe) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if s.least == 0 {
		s.least = 6
		for c := n.OwnerDocument().FirstChild(); c != nil; c = c.NextSibling() {
			if h, ok := c.(*ast.Heading); ok {
				s.least = min(s.least, h.Level)
			}
		}
	}
	level := min(6, s.level+1+max(0, n.(*ast.Heading).Level-s.least))
	put(w, map[bool]string{true: "<h", false: "</h"}[entering]+string(rune('0'+level))+">")
	return ast.WalkContinue, nil
}

func (s *scribe) text(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Text)
	if !entering {
		return ast.WalkContinue, nil
	}
	s.write(w, source, n.Segment, n.IsRaw() || n.Parent().Kind() == ast.KindCodeSpan)
	switch {
	case n.HardLineBreak():
		put(w, "<br>\n")
	case n.SoftLineBreak():
		put(w, "\n")
	}
	return ast.WalkContinue, nil
}

func (s *scribe) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		put(w, "<pre><code>")
		for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
			s.write(w, source, line, true)
		}
		put(w, "</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

// link writes a link or an image, with the address if the words do not say it.
func (s *scribe) link(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	to, said := "", false
	switch n := node.(type) {
	case *ast.Link:
		to = string(util.URLEscape(n.Destination, true))
		only, ok := n.FirstChild().(*ast.Text)
		said = ok && n.ChildCount() == 1 && string(only.Value(source)) == to
	case *ast.Image:
		to = string(util.URLEscape(n.Destination, true))
	case *ast.AutoLink:
		to, said = string(util.URLEscape(n.URL(source), false)), true
		if n.AutoLinkType == ast.AutoLinkEmail {
			to = "mailto:" + to
		}
	}
	leads := outside(to) && node.Kind() != ast.KindImage && node.Parent().Kind() != ast.KindLink
	switch {
	case !entering && leads:
		put(w, "</a>")
	case entering && leads:
		put(w, `<a rel="noopener noreferrer nofollow" href="`+html.EscapeString(to)+`">`)
	}
	if auto, ok := node.(*ast.AutoLink); ok && entering {
		put(w, html.EscapeString(string(auto.Label(source))))
	}
	if !entering && !said {
		put(w, ` <span class="address">(`+html.EscapeString(to)+`)</span>`)
	}
	return ast.WalkContinue, nil
}

// outside reports whether an address is that of a web page, of a file elsewhere, or of mail.
func outside(address string) bool {
	scheme, rest, _ := strings.Cut(strings.ToLower(address), ":")
	return scheme == "mailto" || strings.HasPrefix(rest, "//") && (scheme == "https" || scheme == "http" || scheme == "ftp")
}

// write writes a part of a text, with the marks that are in it.
func (s *scribe) write(w util.BufWriter, source []byte, all segments.Segment, raw bool) {
	plain := escaper.DefaultWriter.Write
	if raw {
		plain = escaper.DefaultWriter.RawWrite
	}
	from := all.Start
	for _, m := range s.spans {
		if m.to <= from || m.from >= all.Stop {
			continue
		}
		id := ""
		if m.id != "" && !s.shown[m.id] {
			s.shown[m.id], id = true, ` id="`+m.id+`"`
		}
		start, stop := max(from, m.from), min(all.Stop, m.to)
		plain(w, source[from:start])
		put(w, "<mark"+id+">")
		plain(w, source[start:stop])
		put(w, "</mark>")
		if from = stop; stop == m.to {
			put(w, m.behind)
		}
	}
	if from == all.Start {
		plain(w, all.Value(source))
		return
	}
	plain(w, source[from:all.Stop])
}

// tamed is Markdown of others as a quote in Markdown. What would be more than text is escaped. If it
// still would be, the text is set apart as it is.
func tamed(words string) string {
	words = strings.Trim(visible.Text(words), "\n")
	quote := "> " + strings.ReplaceAll(words, "\n", "\n> ")
	for tries := 0; tries < 32 && !dense([]byte(words)); tries++ {
		wild := wildIn(quote)
		if len(wild) == 0 {
			return quote
		}
		for _, at := range slices.Backward(wild) {
			if at < 0 || !strings.ContainsRune("<[!", rune(quote[at])) {
				return fenced(words)
			}
			quote = quote[:at] + `\` + quote[at:]
		}
	}
	return fenced(words)
}

// wildIn says where Markdown begins to be more than text: HTML, images, links that are none to web
// pages; -1 if an entity is a character that is not seen. Readers of Markdown differ: some know no
// tables.
func wildIn(quote string) (wild []int) {
	source := []byte(quote)
	said := func(words []byte) {
		all := string(util.ResolveEntityNames(util.ResolveNumericReferences(words)))
		if all != string(words) && visible.Text(all) != all {
			wild = append(wild, -1)
		}
	}
	for _, md := range []goldmark.Markdown{goldmark.New(), goldmark.New(goldmark.WithExtensions(extension.GFM))} {
		_ = ast.Walk(md.Parser().Parse(segments.NewReader(source)), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := node.(type) {
			case *ast.HTMLBlock:
				line := n.Lines().At(0)
				wild = append(wild, line.Start+max(0, strings.IndexByte(quote[line.Start:], '<')))
			case *ast.RawHTML:
				wild = append(wild, n.Segments.At(0).Start)
			case *ast.Image:
				wild = append(wild, n.Pos())
			case *ast.Link:
				if said(n.Title); !outside(string(n.Destination)) {
					wild = append(wild, n.Pos())
				}
			case *ast.AutoLink:
				if n.AutoLinkType == ast.AutoLinkURL && !outside(string(n.URL(source))) {
					wild = append(wild, n.Pos())
				}
			case *ast.FencedCodeBlock:
				if n.Info != nil {
					said(n.Info.Value(source))
				}
			case *ast.Text:
				if n.Parent().Kind() != ast.KindCodeSpan {
					said(n.Value(source))
				}
			}
			return ast.WalkContinue, nil
		})
	}
	slices.Sort(wild)
	return slices.Compact(wild)
}

// fenced is a text in a fence that is longer than any fence in it.
func fenced(words string) string {
	fence := "```"
	for strings.Contains(words, fence) {
		fence += "`"
	}
	return fence + "text\n" + words + "\n" + fence
}
