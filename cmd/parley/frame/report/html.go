package report

import (
	"fmt"
	"strings"

	"maragu.dev/gomponents"
	"maragu.dev/gomponents/components"
	"maragu.dev/gomponents/html"

	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
)

// HTML is the document as one HTML file, without scripts, and without anything from elsewhere.
func HTML(d control.FrameDocument, proof control.FrameProof) string {
	var p page
	write(&p, d, proof)
	var b strings.Builder
	_ = components.HTML5(components.HTML5Props{ // a builder takes everything
		Title: visible.Line(title(d.Frame.Question)), Language: "en",
		Head: gomponents.Group{
			html.Meta(gomponents.Attr("http-equiv", "Content-Security-Policy"), html.Content("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'")),
			html.Meta(html.Name("referrer"), html.Content("no-referrer")),
			html.Meta(html.Name("color-scheme"), html.Content("light dark")),
			html.StyleEl(gomponents.Raw(style)),
		},
		Body: gomponents.Group{html.Header(html.H1(text(title(d.Frame.Question))), p.head), html.Nav(html.Ul(p.contents)), html.Main(p.body)},
	}).Render(&b)
	return b.String()
}

// Pieces is the document as HTML for a page of somebody else, from headings of the second level on,
// without style. It says nothing of whether the inquiry was held by its form.
func Pieces(d control.FrameDocument) string {
	var p page
	tell(&p, d)
	var b strings.Builder
	_ = p.body.Render(&b) // a builder takes everything
	return b.String()
}

// page is an HTML page under way.
type page struct {
	head, contents, body gomponents.Group // what stands before the first chapter, and the rest
	level                int              // of the last heading
}

func (p *page) add(n ...gomponents.Node) {
	if p.level == 0 {
		p.head = append(p.head, n...)
		return
	}
	p.body = append(p.body, n...)
}

func (p *page) chapter(id, title string) { p.title(2, html.H2, id, title) }

func (p *page) heading(id, title string) { p.title(3, html.H3, id, title) }

func (p *page) title(level int, as func(...gomponents.Node) gomponents.Node, id, title string) {
	p.level = level
	if id != "" {
		p.contents = append(p.contents, html.Li(gomponents.If(level > 2, html.Class("under")), html.A(html.Href("#"+id), text(title))))
	}
	p.add(as(gomponents.If(id != "", html.ID(id)), text(title)))
}

func (p *page) line(format string, args ...any) { p.add(html.P(text(fmt.Sprintf(format, args...)))) }

func (p *page) quote(words string) { p.add(html.Pre(html.Class("quote"), text(words))) }

func (p *page) prose(class, words string, marks ...mark) {
	markup, _ := prose(words, p.level, marks)
	p.add(html.Div(html.Class(class), gomponents.Raw(markup)))
}

func (p *page) fields(class string, all ...field) {
	p.add(html.Dl(gomponents.If(class != "", html.Class(class)), gomponents.Map(all, func(f field) gomponents.Node {
		markup, _ := prose(f.markdown, p.level, nil)
		return html.Div(html.Dt(text(f.name)), html.Dd(gomponents.Raw(markup)))
	})))
}

func (p *page) items(all ...item) { p.add(list(all)) }

func list(all []item) gomponents.Node {
	as := html.Ul
	if len(all) > 0 && all[0].id != "" {
		as = html.Ol
	}
	return as(gomponents.Map(all, func(x item) gomponents.Node {
		markup, _ := prose(x.markdown, 3, nil)
		said := gomponents.Group{gomponents.Raw(markup), text(strings.TrimPrefix(x.String(), x.markdown))}
		if x.link != "" {
			said = gomponents.Group{html.A(html.Href("#"+x.link), text(x.name)), text(strings.TrimPrefix(x.String(), x.name))}
		}
		if len(x.under) > 0 {
			said = append(said, list(x.under))
		}
		return html.Li(gomponents.If(x.id != "", html.ID(x.id)), said)
	}))
}

// text is a text of others. Nothing in it becomes markup.
func text(words string) gomponents.Node { return gomponents.Text(visible.Text(words)) }

const style = `
:root { color-scheme: light dark; --ink: #202226; --soft: #666b78; --line: #dddfe5; --page: #fefefc; --card: #f5f5f0; --link: #2850ad; --mark: #fdeeb0; --tag: #e3eedd; --good: #2d5c24; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e3de; --soft: #9fa3ae; --line: #3b3e46; --page: #17181b; --card: #212329; --link: #9ab8ff; --mark: #574a12; --tag: #293b26; --good: #b5dda9; } }
* { box-sizing: border-box; }
h1, h2, h3, h4, h5, h6, p, li, dt, dd, td, th, pre, blockquote { unicode-bidi: plaintext; text-align: start; } main > *, header, nav { overflow: clip; overflow-clip-margin: .4em; }
html { background: var(--page); color: var(--ink); -webkit-text-size-adjust: 100%; }
body { font: 18px/1.6 Charter, "Iowan Old Style", "Palatino Linotype", Georgia, serif; max-width: 43rem; margin: 0 auto; padding: 3rem 1.25rem 5rem; overflow-wrap: anywhere; }
h1, h2, h3, h4, h5, h6, nav, dt, th, header p, .strength, .address, sup, main > p { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; text-wrap: balance; margin: 1.6em 0 .4em; }
h1 { font-size: 2rem; margin: 0 0 .6rem; letter-spacing: -.015em; }
h2 { font-size: 1.4rem; margin-top: 3rem; padding-top: 1.4rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.12rem; margin-top: 2.2rem; }
h4, h5, h6 { font-size: .95rem; }
p, ul, ol, dl, pre, table, blockquote { margin: .6em 0; }
a { color: var(--link); text-underline-offset: .15em; text-decoration-thickness: 1px; }
header p, main > p { margin: .3rem 0; font-size: .85rem; color: var(--soft); }
nav { margin-top: 2rem; padding: .9rem 1.2rem; background: var(--card); border-radius: .6rem; font-size: .88rem; }
nav ul { list-style: none; margin: 0; padding: 0; columns: 17rem 2; column-gap: 2rem; }
nav a { color: inherit; text-decoration: none; } nav a:hover { text-decoration: underline; } nav .under { padding-left: 1.1em; color: var(--soft); }
li { margin: .3em 0; padding-left: .15em; } main > ul p, main > ol p { display: inline; } ul, ol { padding-left: 1.4em; } li ul, li ol { margin: .1em 0; }
main > ol > li > ul { list-style: none; padding-left: 0; font-size: .88em; color: var(--soft); }
dl > div { margin: .7em 0; } dt { font-size: .74rem; font-weight: 600; letter-spacing: .05em; text-transform: uppercase; color: var(--soft); } dd { margin: 0; } dd > :first-child { margin-top: .1em; } dd > :last-child { margin-bottom: 0; }
.result, .talk > div, .preview { border-radius: .6rem; padding: .9rem 1.2rem; } .result { margin: .8em 0; }
.result, .talk > div { background: var(--card); } .result > :first-child { margin-top: 0; } .result > :last-child { margin-bottom: 0; }
.preview { border: 1px solid var(--line); margin: 1em 0; } .preview > div:first-child { margin-top: 0; } .preview > div:last-child { margin-bottom: 0; } .preview > div:first-child dd { font-weight: 600; }
.talk > div { width: 88%; } .talk > div:nth-child(even) { margin-left: auto; } .talk dt { text-transform: none; letter-spacing: 0; font-size: .82rem; }
pre { font: .82em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; white-space: pre-wrap; background: var(--card); border-radius: .4rem; padding: .7rem .9rem; }
.result pre, .talk pre { background: var(--page); } code { font: .86em ui-monospace, "SF Mono", Menlo, Consolas, monospace; } pre code { font: inherit; }
pre.quote { font: inherit; border-left: 3px solid var(--line); border-radius: 0; background: none; padding: .1rem 0 .1rem 1.1rem; }
blockquote { margin-left: 0; padding-left: 1.1rem; border-left: 3px solid var(--line); color: var(--soft); }
blockquote blockquote blockquote, li li li li ul, li li li li ol { padding-left: 0; border: 0; margin-left: 0; }
table { display: block; overflow-x: auto; border-collapse: collapse; font-size: .86em; overflow-wrap: normal; } th, td { padding: .35em .8em; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; } th { font-size: .9em; }
mark { background: var(--mark); color: inherit; border-radius: .15em; box-decoration-break: clone; -webkit-box-decoration-break: clone; } .lens mark { background: none; }
:target { scroll-margin-top: 1.5rem; } mark:target { outline: 2px solid var(--link); outline-offset: 2px; }
.strength { font-size: .7rem; font-weight: 600; white-space: nowrap; background: var(--tag); color: var(--good); border-radius: 1em; padding: .15em .7em; vertical-align: .08em; }
.address { font-size: .78em; color: var(--soft); } sup { font-size: .68em; line-height: 0; margin-left: .1em; } sup a { text-decoration: none; } hr { border: 0; border-top: 1px solid var(--line); margin: 1.5em 0; }
@media (max-width: 34rem) { body { font-size: 17px; padding: 1.5rem 1rem 3rem; } h1 { font-size: 1.6rem; } .talk > div { width: 94%; } .result, .talk > div, .preview { padding: .8rem .9rem; } }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --page: #fff; --card: #fff; --link: #000; --mark: #eee; --tag: #fff; --good: #000; }
  body { max-width: none; padding: 0; font-size: 10.5pt; } nav { display: none; } h2, h3, h4, dt { break-after: avoid; } li, tr, .preview, .talk > div { break-inside: avoid; }
  .result, .talk > div { border: 1px solid var(--line); } a { text-decoration: none; } table { display: table; }
}
`
