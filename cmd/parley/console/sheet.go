package console

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
)

// sheet is what the frame of every page shows.
type sheet struct {
	Title string
	Menu  []entry
	Self  control.Self
	Asks  string            // the command that the terminal asks about
	Waits int               // gates of which every page of a phone tells
	Live  string            // kinds of events after which it is asked for anew
	Files map[string]string // addresses of what pages load, by their names
	Body  template.HTML
}

// sheets writes pages into their frame.
type sheets struct {
	c      *console
	static map[string][]byte // see static
	files  map[string]string
	forms  *template.Template
}

func newSheets(c *console) (*sheets, error) {
	s := &sheets{c: c}
	var err error
	if s.static, s.files, err = static(); err != nil {
		return nil, err
	}
	s.forms, err = template.New("").Funcs(c.words()).ParseFS(files, "page/*.html")
	return s, err
}

// show answers with a page, or with why it cannot be shown.
func (s *sheets) show(w http.ResponseWriter, r *http.Request, p page) {
	a := &asking{Request: r, c: s.c}
	body, title := p.show(a)
	if a.err != nil {
		s.failed(w, r, p.menu, a.err)
		return
	}
	live := make([]string, len(p.live))
	for i, kind := range p.live {
		live[i] = string(kind)
	}
	s.write(w, r, http.StatusOK, p.menu, title, strings.Join(live, " "), p.name, body)
}

// failed shows why there is no page. It comes by itself when the node is back.
func (s *sheets) failed(w http.ResponseWriter, r *http.Request, menu string, err error) {
	e := control.AsError(err)
	s.write(w, r, status(e), menu, "Not shown", "", "failed", e)
}

func (s *sheets) missing(w http.ResponseWriter, r *http.Request) {
	s.failed(w, r, "", control.Errorf(control.KindNotFound, "", "there is no page %s", visible.Line(r.URL.Path)))
}

// door is all that a browser sees that was not let in.
func (s *sheets) door(w http.ResponseWriter, r *http.Request) {
	code := http.StatusUnauthorized
	if r.URL.Path == "/enter" {
		code = http.StatusOK
	}
	s.execute(w, code, "door", sheet{Title: "parley", Files: s.files})
}

func (s *sheets) write(w http.ResponseWriter, r *http.Request, code int, at, title, live, name string, body any) {
	var out bytes.Buffer
	if err := s.forms.ExecuteTemplate(&out, name, body); err != nil {
		http.Error(w, "cannot show this page: "+visible.Line(err.Error()), http.StatusInternalServerError)
		return
	}
	sh := sheet{Title: title, Files: s.files, Body: template.HTML(out.String()), Live: live, Asks: s.c.desk.Asks(), Menu: menu()} // made by a template
	sh.Self, _ = control.Whoami.Ask(r.Context(), s.c.node)                                                                        // the page says what is wrong
	gates, _ := control.Gates.Ask(r.Context(), s.c.node, control.GatesRequest{})
	for i := range sh.Menu {
		sh.Menu[i].Here = sh.Menu[i].At == at
		if sh.Menu[i].At == "/gates" {
			sh.Menu[i].Count = len(gates.Gates)
			if s.c.phone != nil && at != "/gates" {
				sh.Waits = len(gates.Gates)
			}
		}
	}
	s.execute(w, code, "frame", sh)
}

func (s *sheets) execute(w http.ResponseWriter, code int, name string, value any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_ = s.forms.ExecuteTemplate(w, name, value) // who has gone sees nothing
}

// now is the time of the console.
func (c *console) now() time.Time { return c.p.Now() }
