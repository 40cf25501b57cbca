package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/clitest"
	xterm "golang.org/x/term"
)

// window is a browser that a console has let in.
type window struct {
	t              *testing.T
	at             string
	cookie, secret string
}

var enterLink = regexp.MustCompile(`(http://[0-9a-z.]+:\d+)/enter#([0-9a-f]{64})`)

// enter takes the link that a console prints at a terminal.
func enter(t *testing.T, p *clitest.Terminal) *window {
	t.Helper()
	p.Shows("Ctrl-C ends it.")
	link := enterLink.FindStringSubmatch(p.Seen())
	if link == nil {
		t.Fatalf("no link stands in %q", p.Seen())
	}
	w := &window{t: t, at: link[1]}
	answer, body := w.do(http.MethodPost, "/enter", "application/json", `{"token":"`+link[2]+`"}`)
	var is struct{ Secret string }
	if err := json.Unmarshal([]byte(body), &is); err != nil || is.Secret == "" || len(answer.Cookies()) != 1 {
		t.Fatalf("not let in: %s", body)
	}
	w.secret, w.cookie = is.Secret, answer.Cookies()[0].String()
	return w
}

func (w *window) do(method, path, kind, body string) (*http.Response, string) {
	w.t.Helper()
	name := strings.TrimPrefix(w.at, "http://") // browsers lead it to the loopback by themselves
	_, port, _ := strings.Cut(name, ":")
	r, err := http.NewRequestWithContext(w.t.Context(), method, "http://127.0.0.1:"+port+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Host = name
	r.Header = http.Header{"Origin": {w.at}, "Content-Type": {kind}, "Cookie": {w.cookie}, "Parley-Secret": {w.secret}}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer, string(data)
}

// click sends a form of a page. It returns the status and what is said.
func (w *window) click(path string, fields ...string) string {
	w.t.Helper()
	var form strings.Builder
	for i := 0; i < len(fields); i += 2 {
		fmt.Fprintf(&form, "--b\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", fields[i], fields[i+1])
	}
	answer, body := w.do(http.MethodPost, path, "multipart/form-data; boundary=b", form.String()+"--b--\r\n")
	return answer.Status[:3] + " " + body
}

var gateForm = regexp.MustCompile(`name="gate" value="([^"]+)"><input type="hidden" name="seen" value="([0-9a-f]+)"`)

// shown are the gates on the page, with what it bears of each.
func (w *window) shown() (gates [][]string) {
	w.t.Helper()
	_, page := w.do(http.MethodGet, "/gates", "", "")
	for _, m := range gateForm.FindAllStringSubmatch(page, -1) {
		gates = append(gates, []string{"gate", m[1], "seen", m[2]})
	}
	return gates
}

// What is clicked on a page is shown whole at the terminal, asked there, and signed with the passphrase
// that is typed there. It prevents: a page that signs, an unlock that serves for the next decision, a
// gate that is not the one that was shown, a question that cannot be left, a key that a question which
// was taken back has swallowed, and a terminal that is left in disorder.
func TestConsoleDecidesAtItsTerminal(t *testing.T) {
	t.Parallel()
	h := newStoryHost(t, "white")
	h.start()
	h.hasGates()
	for _, name := range []string{"chair", "lens"} {
		h.must("agent", "add", name, "--exec", "parley demo-agent lens")
	}

	p, ended := h.at(nil, "console", "--no-open")
	before, err := xterm.GetState(int(p.Side.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	w := enter(t, p)
	times := func(text string, n int) {
		t.Helper()
		h.until(fmt.Sprintf("%q is shown %d times in %s", text, n, p.Seen()), func() bool { return strings.Count(p.Seen(), text) >= n })
	}
	gates := w.shown()
	if len(gates) != 2 {
		t.Fatalf("the page shows %d gates", len(gates))
	}
	accept := func(i int) string { return w.click("/gates", append(gates[i], "act", "accept")...) }

	// a question that the page takes back, and another one meanwhile
	if said := accept(0); !strings.HasPrefix(said, "200") {
		t.Fatal(said)
	}
	p.Shows("skills wants to organize a party")
	p.Shows("nat@white decides at white")
	times("Accept it as nat? [y/N]", 1)
	if said := accept(1); !strings.HasPrefix(said, "409") || !strings.Contains(said, "the terminal asks about another decision: parley gates accept") {
		t.Errorf("a second decision meanwhile: %s", said)
	}
	if _, page := w.do(http.MethodGet, "/", "", ""); !strings.Contains(page, "Your terminal asks: <code>parley gates accept") {
		t.Error("the page does not say what the terminal asks")
	}
	w.click("/leave")
	times("Nothing was decided.", 1)
	times("The console goes on.", 1)

	// what was typed before a question is no answer to it
	p.Type("y\nhorse\n")
	h.until("the desk is free", func() bool { return strings.HasPrefix(accept(0), "200") })
	times("Accept it as nat? [y/N]", 2)
	p.Type("y\n")
	times("The passphrase of", 1)
	p.Type("horse\n")
	p.Shows("✓ accepted: skills wants to organize a party, one")
	times("The console goes on.", 2)

	// what the page showed is no more
	if said := accept(0); !strings.HasPrefix(said, "409") || !strings.Contains(said, "the gate has changed since") {
		t.Errorf("what was decided is decided again: %s", said)
	}
	// Esc, n, and a reason with signs
	for i, key := range []string{"\x1b", "n\n"} {
		h.until("the desk is free", func() bool {
			return strings.HasPrefix(w.click("/gates", append(gates[1], "act", "reject", "reason", "-not $(now)")...), "200")
		})
		times("Decline it as nat? [y/N]", i+1)
		p.Type(key)
		times("The console goes on.", 3+i)
	}
	if len(h.gates().Gates) != 2 { // that of one's invite has come
		t.Errorf("there wait %d gates", len(h.gates().Gates))
	}
	h.until("the desk is free", func() bool { return strings.HasPrefix(accept(1), "200") })
	times("Accept it as nat? [y/N]", 3)
	p.Type("y\n")
	times("The passphrase of", 2) // no unlock serves for two
	p.Type("\x03")
	times("The console goes on.", 5)

	// an inquiry: the whole gate, what was chosen, and a question
	inquiry, begun := h.at(nil, "frame", "Which of the two?", "--coordinator", "chair", "--agent", "lens", "--no-wait")
	inquiry.Shows("The passphrase of")
	inquiry.Type("horse\n")
	begun()
	h.until("the brief waits", func() bool {
		_, page := w.do(http.MethodGet, "/gates", "", "")
		return strings.Contains(page, "confirm the brief")
	})
	var list struct{ Frames []struct{ Channel string } }
	if err := json.Unmarshal([]byte(h.must("frame", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	_, page := w.do(http.MethodGet, "/inquiry/"+url.PathEscape(list.Frames[0].Channel), "", "")
	seen := regexp.MustCompile(`name="seen" value="([0-9a-f]+)"`).FindStringSubmatch(page)
	if seen == nil {
		t.Fatalf("the inquiry shows no gate: %s", page)
	}
	fields := []string{"inquiry", list.Frames[0].Channel, "seen", seen[1], "choose.brief", "confirm"}
	if said := w.click("/inquiry", fields...); !strings.HasPrefix(said, "400") || !strings.Contains(said, "nothing is chosen yet: Mode") {
		t.Errorf("a question without an answer: %s", said)
	}
	h.until("the desk is free", func() bool {
		return strings.HasPrefix(w.click("/inquiry", append(fields, "choose.mode", "recommend")...), "200")
	})
	for _, text := range []string{"Modify deliverable", "Chosen", "Mission brief: Confirm", "Mode: Recommend", "Decide it like this? [y/N]"} {
		p.Shows(text)
	}
	p.Type("y\n")
	times("The passphrase of", 3)
	p.Type("horse\n")
	p.Shows("✓ decided; now:")
	times("The console goes on.", 6)

	p.Type("\x03")
	ended()
	after, err := xterm.GetState(int(p.Side.Fd()))
	if err != nil || fmt.Sprintf("%+v", *after) != fmt.Sprintf("%+v", *before) {
		t.Errorf("the terminal was left as %+v, was %+v, %v", after, before, err)
	}
}
