package console

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path"
	"slices"
	"sync"

	"github.com/parleyfleet/parley/cmd/parley/mesh"
	"github.com/parleyfleet/parley/node/control"
)

//go:embed page
var files embed.FS

// most is how much a page may send: a message of the longest form, as JSON.
const most = 1 << 20

// What strangers may take: of the memory by what they send, and of connections. Whoever reaches the port
// can hold some for as long as a page may take to be read.
const (
	mostOfStrangers = 1 << 10
	mostConnections = 4096
)

// crowd are the connections that are open. If there are more than the most, the oldest one is closed of
// those by which nobody came who was let in: so strangers do not keep the human out.
type crowd struct {
	mu        sync.Mutex
	open      map[net.Conn]bool // guarded by mu; true: somebody came by it who was let in
	strangers []net.Conn        // the others, the oldest first; guarded by mu
}

func (c *crowd) changed(conn net.Conn, is http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch is {
	case http.StateNew:
		if c.open == nil {
			c.open = map[net.Conn]bool{}
		}
		c.open[conn] = false
		c.strangers = append(c.strangers, conn)
		if len(c.open) > mostConnections && len(c.strangers) > 0 {
			go c.strangers[0].Close() // ends soon: with TLS it says goodbye
			delete(c.open, c.strangers[0])
			c.strangers = c.strangers[1:]
		}
	case http.StateClosed, http.StateHijacked:
		c.leave(conn)
		delete(c.open, conn)
	}
}

// leave takes a connection from those of strangers. The lock is held.
func (c *crowd) leave(conn net.Conn) {
	if known, is := c.open[conn]; is && !known {
		c.strangers = slices.DeleteFunc(c.strangers, func(one net.Conn) bool { return one == conn })
	}
}

// knows notes that somebody who was let in has come by the connection of a request.
func (c *crowd) knows(r *http.Request) {
	conn, is := r.Context().Value(c).(net.Conn)
	if !is {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, is := c.open[conn]; is {
		c.leave(conn)
		c.open[conn] = true
	}
}

// of has the requests of a connection bear it.
func (c *crowd) of(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, c, conn)
}

// policy is what a page may load and do: what this console serves, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// handler answers requests: first come the walls, then what anybody may see, then the pages.
func (c *console) handler() (http.Handler, error) {
	sheets, err := newSheets(c)
	if err != nil {
		return nil, err
	}
	anybody, inside := http.NewServeMux(), http.NewServeMux()
	for name, data := range sheets.static {
		anybody.HandleFunc("GET "+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kinds[path.Ext(name)])
			w.Header().Set("Cache-Control", "max-age=31536000, immutable")
			_, _ = w.Write(data)
		})
	}
	anybody.HandleFunc("GET /worker.js", func(w http.ResponseWriter, r *http.Request) { // its address says for which pages it is
		http.ServeFileFS(w, r, files, "page/worker.js")
	})
	anybody.HandleFunc("POST /enter", c.enter)
	anybody.HandleFunc("POST /pair", c.pairs)
	anybody.HandleFunc("GET /enter", func(w http.ResponseWriter, r *http.Request) {
		if c.inside(r) != nil {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		sheets.door(w, r)
	})
	anybody.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		v := c.inside(r)
		if v != nil {
			c.crowd.knows(r)
		}
		switch {
		case v == nil:
			sheets.door(w, r)
		case r.Method != http.MethodGet && !v.may(r):
			fail(w, control.Errorf(control.KindRefused, "load the page anew", "this request is of no page of this console"))
		default:
			inside.ServeHTTP(w, r)
		}
	})
	inside.HandleFunc("GET /live", c.live)
	for _, p := range pages() {
		inside.HandleFunc("GET "+p.at, func(w http.ResponseWriter, r *http.Request) { sheets.show(w, r, p) })
	}
	for at, do := range deeds() {
		inside.HandleFunc("POST "+at, func(w http.ResponseWriter, r *http.Request) { c.do(w, r, do) })
	}
	inside.HandleFunc("/", sheets.missing)
	return c.walls(anybody), nil
}

// walls refuses what comes from elsewhere: a name that was made to lead here, a page of another origin.
func (c *console) walls(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch origin := r.Header.Get("Origin"); {
		case !c.places.of(r.Host):
			http.Error(w, "this console has another name", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodPost:
			http.Error(w, "pages are read or sent", http.StatusMethodNotAllowed)
		case origin != "" && !slices.Contains(c.places, origin), r.Method == http.MethodPost && origin == "":
			http.Error(w, "this request is of a page of somebody else", http.StatusForbidden)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, most)
			next.ServeHTTP(w, r)
		}
	})
}

var kinds = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// static are the files that pages load, by their addresses, and the addresses by their names. An
// address changes with what is in it.
func static() (all map[string][]byte, at map[string]string, err error) {
	all, at = map[string][]byte{}, map[string]string{}
	for _, name := range []string{"style.css", "app.js", "icon.svg"} {
		data, err := files.ReadFile("page/" + name)
		if err != nil {
			return nil, nil, err
		}
		if name == "style.css" {
			data = fmt.Appendf(data, ".mesh{%s}\n", mesh.Style)
		}
		sum := sha256.Sum256(data)
		at[name] = "/static/" + hex.EncodeToString(sum[:6]) + "/" + name
		all[at[name]] = data
	}
	return all, at, nil
}

// deed is what a page can have done. It returns what is said of it.
type deed func(a *asking) (done, error)

// done is what a page is told of what it had done.
type done struct {
	Said string `json:"said"`         // in a sentence
	Go   string `json:"go,omitempty"` // the page to go to
}

func (c *console) do(w http.ResponseWriter, r *http.Request, do deed) {
	if err := r.ParseMultipartForm(most); err != nil {
		fail(w, control.Errorf(control.KindUsage, "", "cannot read what the page sent: %v", err))
		return
	}
	d, err := do(&asking{Request: r, c: c})
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, d)
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // who has gone hears nothing
}

// fail says to a page's script what could not be done.
func fail(w http.ResponseWriter, err error) {
	e := control.AsError(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status(e))
	_ = json.NewEncoder(w).Encode(map[string]string{"error": e.Message, "hint": e.Hint})
}

func status(e *control.Error) int {
	switch e.Kind {
	case control.KindUsage:
		return http.StatusBadRequest
	case control.KindNotFound:
		return http.StatusNotFound
	case control.KindRefused, control.KindSecret:
		return http.StatusForbidden
	case control.KindConflict:
		return http.StatusConflict
	case control.KindUnavailable, control.KindOldNode:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
