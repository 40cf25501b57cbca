package report

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
)

//go:embed page.html style.css
var files embed.FS

// forms are the pieces of a page. A text of others is put in by text: nothing in it becomes markup.
// They are read at their first use: few commands make pages.
var forms = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"text": visible.Text, "prose": Prose}).ParseFS(files, "page.html"))
})

// HTML is the document as one HTML file, without scripts, and without anything from elsewhere.
func HTML(d control.FrameDocument, proof control.FrameProof) string {
	var p page
	write(&p, d, proof)
	style, _ := files.ReadFile("style.css") // it is there
	return string(piece("page", map[string]any{
		"Title": visible.Line(title(d.Frame.Question)), "Style": template.CSS(style), "Head": template.HTML(p.head.String()), "Contents": p.contents, "Body": template.HTML(p.body.String())}))
}

// Pieces is the document as HTML for a page of somebody else, from headings of the second level on,
// without style. It says nothing of whether the inquiry was held by its form.
func Pieces(d control.FrameDocument) template.HTML {
	var p page
	tell(&p, d)
	return template.HTML(p.body.String())
}

func piece(name string, of any) template.HTML {
	var b strings.Builder
	if err := forms().ExecuteTemplate(&b, name, of); err != nil {
		panic(err) // a builder takes everything, so a form is wrong
	}
	return template.HTML(b.String())
}

// page is an HTML page under way.
type page struct {
	head, body strings.Builder // what stands before the first chapter, and the rest
	contents   []place
	level      int // of the last heading
}

// place is a heading that may be led to.
type place struct {
	Level     int
	ID, Title string
}

func (p *page) add(name string, of any) {
	to := &p.body
	if p.level == 0 {
		to = &p.head
	}
	to.WriteString(string(piece(name, of)))
}

func (p *page) chapter(id, title string) { p.title("h2", place{2, id, title}) }

func (p *page) heading(id, title string) { p.title("h3", place{3, id, title}) }

func (p *page) title(name string, at place) {
	p.level = at.Level
	if at.ID != "" {
		p.contents = append(p.contents, at)
	}
	p.add(name, at)
}

func (p *page) line(format string, args ...any) { p.add("line", fmt.Sprintf(format, args...)) }

func (p *page) quote(words string) { p.add("quote", words) }

func (p *page) prose(class, words string, marks ...mark) {
	markup, _ := prose(words, p.level, marks)
	p.add("prose", map[string]any{"Class": class, "Markup": template.HTML(markup)})
}

func (p *page) fields(class string, all ...field) {
	p.add("fields", map[string]any{"Class": class, "All": all, "Level": p.level})
}

func (p *page) items(all ...item) { p.add("items", all) }
