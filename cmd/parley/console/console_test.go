package console

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

const here = "http://127.0.0.1:7400"

// try is a console without a listener, its node, and its pages.
type try struct {
	*testing.T
	*clitest.Run
	c            *console
	open         http.Handler
	hour, second atomic.Int64 // that have passed
}

func newTry(t *testing.T) *try {
	t.Helper()
	x := &try{T: t, Run: clitest.New(t, nil)}
	began := x.Program.Now()
	x.Program.Now = func() time.Time {
		return began.Add(time.Duration(x.hour.Load())*time.Hour + time.Duration(x.second.Load())*time.Second)
	}
	clitest.On(x, control.Whoami.Verb, control.Self{Human: "nat", Host: "white"})
	x.c = &console{p: x.Program, node: &x.Recorder, places: places{here, "http://localhost:7400"}}
	x.c.desk = desk{asked: make(chan decision), changed: x.c.tabs.ring, clock: x.c.now, root: func(*cli.Program) *cobra.Command { return &cobra.Command{Use: "parley"} }}
	var err error
	if x.open, err = x.c.handler(); err != nil {
		t.Fatal(err)
	}
	return x
}

// bearer is what a browser bears.
type bearer struct{ cookie, secret string }

// ask sends a request as a page of the console does, unless `change` makes it another one.
func (x *try) ask(method, path, body string, b bearer, change ...func(*http.Request)) *httptest.ResponseRecorder {
	x.Helper()
	r := httptest.NewRequestWithContext(x.Context(), method, here+path, strings.NewReader(body))
	r.Header.Set("Origin", here)
	if b.secret != "" {
		r.Header.Set(secretHeader, b.secret)
	}
	if b.cookie != "" {
		r.AddCookie(&http.Cookie{Name: x.c.cookieName(), Value: b.cookie})
	}
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	x.open.ServeHTTP(w, r)
	return w
}

func (x *try) post(path string, value any, b bearer) (code int, is map[string]string, set *http.Cookie) {
	x.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		x.Fatal(err)
	}
	w := x.ask(http.MethodPost, path, string(data), b)
	if err := json.Unmarshal(w.Body.Bytes(), &is); err != nil {
		x.Fatalf("%s answers %q", path, w.Body)
	}
	for _, c := range w.Result().Cookies() {
		set = c
	}
	return w.Code, is, set
}

func (x *try) enter(token string) (int, bearer) {
	x.Helper()
	code, is, set := x.post("/enter", map[string]string{"token": token}, bearer{})
	if set == nil {
		return code, bearer{}
	}
	return code, bearer{set.Value, is["secret"]}
}

// form is the body of a form, and its kind.
func form(x *try, fields ...string) (body, kind string) {
	x.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			x.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		x.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// Who was not let in sees nothing and does nothing, and neither does a page of somebody else. Each row
// prevents one way in.
func TestTheWallsOfTheConsole(t *testing.T) {
	x := newTry(t)
	_, nat := x.enter(x.c.door.link())
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			if r.Header.Del(name); value != "" {
				r.Header.Set(name, value)
			}
		}
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	named := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Cookie", name+"="+nat.cookie) }
	}
	none := bearer{}
	for _, row := range []struct {
		what, method, path string
		bears              bearer
		change             []func(*http.Request)
		want               int
	}{
		{"the human", "GET", "/gates", nat, nil, 200},
		{"the human, by another name of the place", "GET", "/gates", nat, []func(*http.Request){host("localhost:7400")}, 200},
		{"the human, who clicks", "POST", "/leave", nat, nil, 200},
		{"an agent's curl", "GET", "/gates", none, []func(*http.Request){header("Origin", "")}, 401},
		{"an agent's curl for what happens", "GET", "/live", none, nil, 401},
		{"an agent's curl that sends", "POST", "/leave", none, nil, 401},
		{"a guessed cookie", "GET", "/gates", bearer{cookie: token()}, nil, 401},
		{"an empty cookie", "GET", "/gates", none, []func(*http.Request){header("Cookie", x.c.cookieName()+"=")}, 401},
		{"the cookie of another port", "GET", "/gates", none, []func(*http.Request){named("parley7401")}, 401},
		{"a form of another page: the cookie goes along, the secret does not", "POST", "/leave", bearer{cookie: nat.cookie}, nil, 403},
		{"the same with a guessed secret", "POST", "/leave", bearer{nat.cookie, token()}, nil, 403},
		{"the same with the hash of nothing", "POST", "/leave", bearer{nat.cookie, "0"}, nil, 403},
		{"a page of another origin", "POST", "/leave", nat, []func(*http.Request){header("Origin", "https://evil.example")}, 403},
		{"a page of another port", "POST", "/leave", nat, []func(*http.Request){header("Origin", "http://127.0.0.1:7401")}, 403},
		{"a page in a sandbox", "POST", "/leave", nat, []func(*http.Request){header("Origin", "null")}, 403},
		{"a form without an origin", "POST", "/leave", nat, []func(*http.Request){header("Origin", "")}, 403},
		{"a page of another origin that reads", "GET", "/gates", nat, []func(*http.Request){header("Origin", "https://evil.example")}, 403},
		{"a name that was made to lead here", "GET", "/gates", nat, []func(*http.Request){host("evil.example:7400")}, 421},
		{"the same without a port", "GET", "/gates", nat, []func(*http.Request){host("evil.example")}, 421},
		{"the place without its port", "GET", "/gates", nat, []func(*http.Request){host("127.0.0.1")}, 421},
		{"a name that begins like the place", "GET", "/gates", nat, []func(*http.Request){host("127.0.0.1:7400.evil.example")}, 421},
		{"no name", "GET", "/gates", nat, []func(*http.Request){host("")}, 421},
		{"another method", "PUT", "/leave", nat, nil, 405},
		{"a question before one", "OPTIONS", "/leave", nat, []func(*http.Request){header("Origin", "https://evil.example")}, 405},
		{"a look at the head alone", "HEAD", "/gates", nat, nil, 405},
		{"a deed that is read", "GET", "/leave", nat, nil, 404},
		{"a path that climbs", "GET", "/static/../gates", none, nil, 307},
		{"a token that is none", "POST", "/enter", none, nil, 400},
		{"a token without end", "POST", "/enter", none, []func(*http.Request){func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(`{"token":"` + strings.Repeat("a", 2*mostOfStrangers) + `"}`))
		}}, 400},
	} {
		w := x.ask(row.method, row.path, "", row.bears, append(row.change, header("Content-Type", "multipart/form-data; boundary=b"), func(r *http.Request) {
			if row.path != "/enter" && row.method == http.MethodPost {
				r.Body = io.NopCloser(strings.NewReader("--b--\r\n"))
			}
		})...)
		if w.Code != row.want {
			t.Errorf("%s: %d, want %d: %s", row.what, w.Code, row.want, w.Body)
		}
		h := w.Header()
		if !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") || h.Get("X-Frame-Options") != "DENY" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: it can be framed or read by others: %v", row.what, h)
		}
		if row.want != 200 && strings.Contains(w.Body.String(), "menu-Gates") && row.want != 404 {
			t.Errorf("%s: it sees a page", row.what)
		}
	}
}

// It prevents: a link that was stolen lets a stranger in, whoever of the two comes first.
func TestAStolenLink(t *testing.T) {
	x := newTry(t)
	link := x.c.door.link()
	code, first := x.enter(link)
	if code != 200 || x.ask("GET", "/gates", "", first).Code != 200 {
		t.Fatalf("the first is not let in: %d", code)
	}
	_, other := x.enter(x.c.door.link())
	code, second := x.enter(link)
	if code != 403 || second.cookie != "" {
		t.Errorf("the second is let in: %d", code)
	}
	if got := x.ask("GET", "/gates", "", first).Code; got != 401 {
		t.Errorf("the first may be the thief, and is let in: %d", got)
	}
	if got := x.ask("GET", "/gates", "", other).Code; got != 200 {
		t.Errorf("a browser with a link of its own is put out: %d", got)
	}
	if got := x.ask("POST", "/leave", "", bearer{other.cookie, first.secret}).Code; got != 403 {
		t.Errorf("the secret of one browser serves another: %d", got)
	}
	if code, _ := x.enter(token()); code != 403 {
		t.Errorf("a guessed link: %d", code)
	}
}

// A console that was started at no terminal decides nothing, and says by which command it is decided.
func TestADecisionWithoutATerminal(t *testing.T) {
	x := newTry(t)
	err := x.c.desk.decide(t.Context(), "gates", "reject", "1f2e3d4c", "--reason", "not $(now)")
	e := control.AsError(err)
	if e == nil || e.Kind != control.KindRefused || e.Hint != "at the terminal: parley gates reject 1f2e3d4c --reason 'not $(now)'" {
		t.Errorf("%v, hint %q", err, e.Hint)
	}
}

// phoneTry is a console for a phone, at a terminal at which the test types.
type phoneTry struct {
	*try
	keys *io.PipeWriter
	said *seen
	rang chan struct{} // what the terminal asks has changed
}

func newPhone(t *testing.T, dir string) *phoneTry {
	t.Helper()
	x := &phoneTry{try: newTry(t), said: &seen{}, rang: make(chan struct{}, 100)}
	in, keys := io.Pipe()
	x.keys, x.Program.Stdin = keys, in
	x.Program.Err.Writer, x.Program.Out.Writer = x.said, x.said
	x.c.places = places{"https://192.0.2.7:7400"}
	x.c.desk.terminal, x.c.desk.changed = true, func() { x.rang <- struct{}{} }
	x.c.door.told = x.c.note
	var err error
	if x.c.phone, err = readPhone(dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); x.c.desk.serve(ctx, x.Program) }() // ends with the test
	t.Cleanup(func() { cancel(); keys.Close(); <-over })
	return x
}

// knock scans the code.
func (x *phoneTry) knock(token string) (int, map[string]string) {
	x.Helper()
	code, is, _ := x.sent("/enter", map[string]string{"token": token})
	return code, is
}

// offers makes a code as soon as the terminal asks nothing, and has rested.
func (x *phoneTry) offers() (token string) {
	for x.c.desk.Asks() != "" {
		<-x.rang
	}
	x.hour.Add(1)
	return x.c.door.pair(x.c.now().Add(pairingTime))
}

// waits comes back with the ticket.
func (x *phoneTry) waits(ticket string) (int, bearer) {
	x.Helper()
	code, is, set := x.sent("/pair", map[string]string{"ticket": ticket})
	if set == nil {
		return code, bearer{}
	}
	if set.MaxAge != 90*24*60*60 || !set.HttpOnly || !set.Secure || set.SameSite != http.SameSiteStrictMode || !strings.HasPrefix(set.Name, "__Host-") {
		x.Errorf("the cookie is %+v", set)
	}
	return code, bearer{set.Value, is["secret"]}
}

func (x *phoneTry) sent(path string, value any) (code int, is map[string]string, set *http.Cookie) {
	data, err := json.Marshal(value)
	if err != nil {
		x.Fatal(err)
	}
	w := x.ask("POST", path, string(data), bearer{}, x.there)
	if err := json.Unmarshal(w.Body.Bytes(), &is); err != nil {
		x.Errorf("%s answers %q", path, w.Body)
	}
	for _, c := range w.Result().Cookies() {
		set = c
	}
	return w.Code, is, set
}

// there makes a request one to the place of the phone.
func (x *phoneTry) there(r *http.Request) {
	r.Host = "192.0.2.7:7400"
	r.Header.Set("Origin", x.c.places.first())
}

func (x *phoneTry) inside(b bearer) bool {
	return x.ask("GET", "/gates", "", b, x.there).Code == 200
}

// paired pairs a phone.
func (x *phoneTry) paired() bearer {
	x.Helper()
	_, is := x.knock(x.offers())
	x.types("y\n")
	code, b := x.waits(is["ticket"])
	if code != 200 || b.secret == "" {
		x.Fatalf("not paired: %d", code)
	}
	return b
}

// types answers the question of the terminal.
func (x *phoneTry) types(keys string) {
	if _, err := io.WriteString(x.keys, keys); err != nil {
		x.Error(err)
	}
}

// A phone is let in once the human has seen its number at the terminal, and stays so for 90 days. It
// prevents: a photographed code lets somebody in, a pairing that two share, what is kept lets its reader
// in, a second phone beside the first, and a phone that has to be paired each time.
func TestPairingAPhone(t *testing.T) {
	dir := t.TempDir() + "/console"
	x := newPhone(t, dir)
	link := x.offers()
	code, is := x.knock(link)
	if code != 200 || len(is["shows"]) != 4 || is["secret"] != "" {
		t.Fatalf("the phone is told %d %v", code, is)
	}
	if code, again := x.knock(link); code != 403 || again["ticket"] != "" {
		t.Errorf("a second phone, while the first waits: %d %v", code, again)
	}
	if code, b := x.waits(token()); code != 403 || b.cookie != "" {
		t.Errorf("a phone that read no code: %d", code)
	}
	if code, b := x.waits(""); code != 403 || b.cookie != "" {
		t.Errorf("a phone that says nothing: %d", code)
	}
	x.types("y\n")
	_, first := x.waits(is["ticket"])
	if !x.inside(first) {
		t.Fatal("the phone is not let in")
	}
	x.said.wants(t, "Does it show "+is["shows"]+"? [y/N]", "used before", "paired: ")
	for what, code := range map[string]int{
		"the ticket once more": func() int { code, _ := x.waits(is["ticket"]); return code }(),
		"the code once more":   func() int { code, _ := x.knock(link); return code }(),
	} {
		if code != 403 || !x.inside(first) {
			t.Errorf("%s: %d, the phone is inside: %v", what, code, x.inside(first))
		}
	}
	data, err := os.ReadFile(x.c.phone.file())
	if info, _ := os.Stat(x.c.phone.file()); err != nil || info.Mode().Perm() != 0o600 || bytes.Contains(data, []byte(first.cookie)) || bytes.Contains(data, []byte(first.secret)) {
		t.Errorf("what is kept: %s, %v", data, err)
	}

	// no, and too late
	for _, answer := range []string{"n\n", "\n"} {
		link = x.offers()
		_, is = x.knock(link)
		x.types(answer)
		if code, b := x.waits(is["ticket"]); code != 403 || b.cookie != "" {
			t.Errorf("a phone with another number: %d", code)
		}
		if code, _ := x.knock(link); code != 403 {
			t.Errorf("the code of a phone that was refused: %d", code)
		}
	}
	link = x.offers()
	x.hour.Add(1)
	if code, is := x.knock(link); code != 403 || !strings.Contains(is["error"], "expired") {
		t.Errorf("a code after an hour: %d %v", code, is)
	}
	if !x.inside(first) {
		t.Error("the phone is put out by codes that pair nobody")
	}

	// the next console knows it, elsewhere and later it does not
	next := newPhone(t, dir)
	next.hour.Add(24 * 89)
	next.c.door.device = next.c.phone.knows(next.c.places.first(), next.c.now())
	if !next.inside(first) {
		t.Error("a later console does not know the phone")
	}
	if next.c.phone.knows("https://192.0.2.8:7400", next.c.now()) != nil {
		t.Error("the phone is let in at another address")
	}
	second := next.paired()
	if next.inside(first) || !next.inside(second) {
		t.Errorf("of two phones the first is inside: %v, the second: %v", next.inside(first), next.inside(second))
	}
	next.hour.Add(24 * 91)
	if next.inside(second) {
		t.Error("the phone is let in after 91 days")
	}
}

// It prevents: another user has the port at the other loopback, to which browsers lead a name beneath
// localhost too, and is sent the link and the cookie.
func TestBothLoopbacks(t *testing.T) {
	x := newTry(t)
	served, err := x.c.listen(t.Context(), settings{listen: anyPort})
	if err != nil {
		t.Fatal(err)
	}
	if len(served) < 2 {
		t.Skip("this machine has one loopback")
	}
	if !strings.HasPrefix(x.c.cookieName(), "parley") || !strings.HasSuffix(x.c.places.first(), ".localhost:"+x.c.cookieName()[6:]) {
		t.Errorf("it is served at %s, with the cookie %s", x.c.places.first(), x.c.cookieName())
	}
	_ = served[0].Close()
	if _, err := x.c.listen(t.Context(), settings{listen: served[0].Addr().String()}); err != nil || x.c.places.first() != "http://"+served[0].Addr().String() {
		t.Errorf("where another program has the port at %s, it is served at %s (%v)", served[1].Addr(), x.c.places.first(), err)
	}
	_ = served[1].Close()
	x.c.places = places{"https://[2001:db8::7]:7400"}
	if got := x.c.cookieName(); got != "__Host-parley7400" {
		t.Errorf("the cookie is called %s", got)
	}
}

// It prevents: strangers who fill the memory by connections, or keep the human out by them.
func TestConnectionsOfStrangers(t *testing.T) {
	x := newTry(t)
	_, nat := x.enter(x.c.door.link())
	var ends []net.Conn
	come := func() net.Conn {
		conn, other := net.Pipe()
		x.c.crowd.changed(conn, http.StateNew)
		ends = append(ends, other)
		return conn
	}
	insider, leaving := come(), come()
	x.ask(http.MethodGet, "/gates", "", nat, func(r *http.Request) { *r = *r.WithContext(x.c.crowd.of(r.Context(), insider)) })
	x.c.crowd.changed(leaving, http.StateClosed)
	for range mostConnections + 1 {
		come()
	}
	gone := func(i int) error { _, err := ends[i].Read(make([]byte, 1)); return err }
	if err := errors.Join(ends[0].SetReadDeadline(time.Unix(1, 0)), ends[4].SetReadDeadline(time.Unix(1, 0))); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]error{0: os.ErrDeadlineExceeded, 2: io.EOF, 3: io.EOF, 4: os.ErrDeadlineExceeded} {
		if err := gone(i); !errors.Is(err, want) {
			t.Errorf("connection %d: %v, want %v", i, err, want)
		}
	}
}

// A page is served at the address that a browser shows. It prevents: a console at the port that browsers
// leave out, at a name in capitals, or with a certificate for a domain, of which every page is refused.
func TestOriginsAreThoseOfBrowsers(t *testing.T) {
	cert := func(names ...string) []tls.Certificate {
		return []tls.Certificate{{Leaf: &x509.Certificate{DNSNames: names}}}
	}
	at := func(port int) *net.TCPAddr { return &net.TCPAddr{IP: net.ParseIP("192.0.2.7"), Port: port} }
	for _, c := range []struct {
		port        int
		host, proxy string
		certs       []tls.Certificate
		want        string // the first origin, or a word of the refusal
	}{
		{443, "192.0.2.7", "", cert("Desk.example"), "https://desk.example"},
		{7400, "desk.lab.example", "", cert("*.lab.example"), "https://desk.lab.example:7400"},
		{80, "192.0.2.7", "", nil, "http://192.0.2.7"},
		{7400, "127.0.0.1", "https://Desk.Example:443/", nil, "https://desk.example"},
		{7400, "127.0.0.1", "https://[2001:db8::7]:8443", nil, "https://[2001:db8::7]:8443"},
		{7400, "127.0.0.1", "https://nat@desk.example", nil, "no address of a proxy"},
		{7400, "127.0.0.1", "https://desk.example/?a", nil, "no address of a proxy"},
		{7400, "127.0.0.1", "https://:443", nil, "no address of a proxy"},
		{7400, "127.0.0.1", "https://désk.example", nil, "no address of a proxy"},
	} {
		got, err := origins(at(c.port), c.host, c.proxy, c.certs)
		if said := fmt.Sprint(append(got, fmt.Sprint(err))[0]); !strings.Contains(said, c.want) || err == nil && said != c.want {
			t.Errorf("%d %s %s: %s, want %s", c.port, c.host, c.proxy, said, c.want)
		}
	}
}

// A phone is put out before another one is paired. It prevents: a stolen phone takes back each question
// of the pairing that is to end it.
func TestAnotherPhone(t *testing.T) {
	dir := t.TempDir()
	first := newPhone(t, dir)
	b := first.paired()
	next := newPhone(t, dir)
	for _, pair := range []bool{false, true} {
		if err := next.c.servePhone(next.Program, settings{phone: true, pair: pair}); err != nil || next.inside(b) == pair {
			t.Errorf("with --pair %v, the phone is inside: %v (%v)", pair, next.inside(b), err)
		}
	}
	if kept, err := readPhone(dir); err != nil || kept.Device != nil {
		t.Errorf("it is kept: %+v, %v", kept, err)
	}
}

// It prevents: a field that stands in the place of what the script asks of its form.
func TestNamesOfFields(t *testing.T) {
	pages, err := files.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		data, _ := files.ReadFile("page/" + page.Name())
		if name := regexp.MustCompile(`name="(id|action|method|children|attributes|elements|reset|dataset|nodeName|isConnected)"`).Find(data); name != nil {
			t.Errorf("%s has %s", page.Name(), name)
		}
	}
}

// It prevents: a page that somebody has taken over puts another question in the place of the one that is
// about to be answered, or fills the terminal; so does a stranger with a used link, or with none.
func TestTheTerminalRests(t *testing.T) {
	x := newPhone(t, t.TempDir())
	x.paired()
	x.offers()
	asked := func() error { return x.c.desk.decide(t.Context(), "gates") }
	for range 3 { // which ask nothing, and are over at once
		if err := asked(); err != nil {
			t.Fatal(err)
		}
		for x.c.desk.Asks() != "" {
			<-x.rang
		}
		for _, wait := range []time.Duration{0, x.c.desk.rests - time.Second} {
			x.second.Add(int64(wait / time.Second))
			if e := control.AsError(asked()); e == nil || e.Kind != control.KindConflict || !strings.Contains(e.Message, "click again in") {
				t.Errorf("at once after another one, %s later: %v", wait, e)
			}
		}
		x.second.Add(1)
	}
	if got := x.c.desk.rests; got != leastRest {
		t.Errorf("after three that were over at once it rests %s", got)
	}
	link := x.c.door.link()
	x.sent("/enter", map[string]string{"token": link})
	before := len(x.said.String())
	for range 9 {
		x.sent("/enter", map[string]string{"token": link})
		x.sent("/enter", map[string]string{"token": token()})
	}
	if told := x.said.String()[before:]; strings.Count(told, "⚠") != 1 {
		t.Errorf("the terminal says\n%s", told)
	}
}

// The code fits a terminal of 80 columns and 24 lines beside its text, and is what the library draws.
// It prevents: a code that nobody can scan, since it scrolls or its margin is dark.
func TestTheCodeOnTheScreen(t *testing.T) {
	x := newPhone(t, t.TempDir())
	x.Program.Err.Width = 80
	x.c.places, x.c.print = places{"https://192.168.100.200:54321"}, strings.Repeat("AB:", 31)+"AB"
	x.c.offer(x.Program)
	lines := strings.Split(strings.TrimSuffix(x.said.String(), "\n"), "\n")
	if len(lines) > 23 {
		t.Errorf("the code takes %d lines", len(lines))
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
	for _, edge := range []string{lines[0][:3*37], lines[18][:3*37]} {
		if strings.Trim(edge, "█") != "" {
			t.Errorf("the margin is %q", edge)
		}
	}
}

// seen is what a terminal shows.
type seen struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (s *seen) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(data)
}

func (s *seen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *seen) wants(t *testing.T, all ...string) {
	t.Helper()
	for _, text := range all {
		if !strings.Contains(s.String(), text) {
			t.Errorf("%q was never shown:\n%s", text, s)
		}
	}
}
