package report

import (
	"fmt"
	"strings"

	"maragu.dev/gomponents"
	"maragu.dev/gomponents/components"
	"maragu.dev/gomponents/html"

	"github.com/parleyfleet/parley/node/control"
)

// HTML is the document as one HTML file, without scripts, and without anything from elsewhere.
func HTML(d control.FrameDocument, proof control.FrameProof) string {
	var p page
	write(&p, d, proof)
	var b strings.Builder
	_ = components.HTML5(components.HTML5Props{ // a builder takes everything
		Title: printable(d.Frame.Question), Language: "en",
		Head: gomponents.Group{
			html.Meta(gomponents.Attr("http-equiv", "Content-Security-Policy"), html.Content("default-src 'none'; style-src 'unsafe-inline'")),
			html.StyleEl(gomponents.Raw(style)),
		},
		Body: gomponents.Group{html.H1(text(d.Frame.Question)), html.Nav(html.Ol(p.contents)), p.body},
	}).Render(&b)
	return b.String()
}

// page is an HTML page under way.
type page struct{ contents, body gomponents.Group }

func (p *page) add(n gomponents.Node) { p.body = append(p.body, n) }

func (p *page) chapter(id, title string) { p.head(html.H2, id, title) }

func (p *page) heading(id, title string) { p.head(html.H3, id, title) }

func (p *page) head(as func(...gomponents.Node) gomponents.Node, id, title string) {
	if id != "" {
		p.contents = append(p.contents, html.Li(html.A(html.Href("#"+id), text(title))))
	}
	p.add(as(gomponents.If(id != "", html.ID(id)), text(title)))
}

func (p *page) line(format string, args ...any) { p.add(html.P(text(fmt.Sprintf(format, args...)))) }

func (p *page) quote(all ...part) {
	p.add(html.Pre(gomponents.Map(all, func(one part) gomponents.Node {
		if one.id == "" {
			return text(one.text)
		}
		return html.Mark(html.ID(one.id), text(one.text))
	})))
}

func (p *page) items(all ...item) { p.add(list(all)) }

func list(all []item) gomponents.Node {
	return html.Ul(gomponents.Map(all, func(x item) gomponents.Node {
		said := gomponents.Group{text(x.String())}
		if x.link != "" {
			said = gomponents.Group{html.A(html.Href("#"+x.link), text(x.name)), text(strings.TrimPrefix(x.String(), x.name))}
		}
		if len(x.under) > 0 {
			said = append(said, list(x.under))
		}
		return html.Li(said)
	}))
}

// text is a text of others. Nothing in it becomes markup.
func text(words string) gomponents.Node { return gomponents.Text(printable(words)) }

const style = `
:root { color-scheme: light dark; --line: #ccc; --mark: #fff3b0; }
@media (prefers-color-scheme: dark) { :root { --line: #444; --mark: #4a4000; } }
body { font: 17px/1.5 Georgia, "Times New Roman", serif; max-width: 44em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; line-height: 1.25; } h2 { margin-top: 2em; border-bottom: 1px solid var(--line); } h3 { margin-bottom: .3em; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: .5em 0; border-left: 3px solid var(--line); padding-left: 1em; }
mark { background: var(--mark); color: inherit; } nav ol { columns: 2; } li { margin: .2em 0; }
@media print { body { max-width: none; margin: 0; font-size: 11pt; } nav { display: none; } h2 { break-after: avoid; } li { break-inside: avoid; } a { color: inherit; text-decoration: none; } }
`
