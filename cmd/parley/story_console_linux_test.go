package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/browser"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
)

var consoleLink = regexp.MustCompile(`http://\S+/enter#[0-9a-f]+`)

// consoleOf starts the console of a host at a terminal, and returns its link.
func consoleOf(t *testing.T, h *storyHost, words ...string) (terminal *clitest.Terminal, link string, ended func()) {
	t.Helper()
	terminal, ended = h.at(nil, append([]string{"console", "--no-open"}, words...)...)
	terminal.Shows("Ctrl-C ends it.")
	if link = consoleLink.FindString(strings.ReplaceAll(terminal.Seen(), "\r\n", "")); link == "" {
		t.Fatalf("there is no link in\n%s", terminal.Seen())
	}
	return terminal, link, ended
}

// seenFleet is two hosts on which all has happened that the console shows.
func seenFleet(t *testing.T) (alpha, beta *storyHost) {
	t.Helper()
	remote := sharedRepository(t)
	alpha = newStoryHost(t, "alpha", "--fleet", "demo", "--remote", remote, "--listen", "127.0.0.1:0")
	alpha.start()
	alpha.until("its record is pushed", func() bool { return alpha.status().Record.Unpushed == 0 })
	beta = newStoryHostInside(t, nil, "join", remote, "--alias", "beta", "--human", "zoe")
	beta.start()
	dir := t.TempDir()
	script := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\ncat >/dev/null\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, h := range []*storyHost{alpha, beta} {
		p, ended := h.at(nil, "gates", "key", "add")
		for _, question := range []string{"A passphrase for", "The same again"} {
			p.Shows(question)
			p.Type("horse\n")
		}
		ended()
		h.must("agent", "add", "lens", "--exec", "parley demo-agent lens")
	}
	alpha.must("agent", "add", "skills", "--inbox")
	alpha.must("agent", "add", "chair", "--exec", "parley demo-agent lens")
	alpha.must("agent", "add", "ada", "--exec", script("ok", `printf 'I found **this**:\n\n- the cache is cold\n\n| part | state |\n|:--|--:|\n| bus | up |\n'`))
	alpha.must("agent", "add", "slow", "--exec", script("slow", "sleep 600"))
	beta.must("agent", "add", "mawjs", "--exec", "parley demo-agent partner")
	beta.must("agent", "add", "mawui", "--inbox")
	beta.must("agent", "add", "flaky", "--attempts", "1", "--exec", script("fail", "echo no model today >&2; exit 7"))
	alpha.until("it knows all agents", func() bool { return strings.Contains(alpha.must("who"), "flaky") })
	for _, to := range []string{"ada", "mawjs@beta", "flaky", "slow", "zoe"} {
		alpha.must("hey", to, "What does the cache of "+to+" do after a restart?")
	}
	beta.must("hey", "nat", "It is *cold*. See https://example.org/cache")
	alpha.must("work-with", "mawjs", "panes", "--via", "skills")
	alpha.must("work-with", "mawjs", "panes", "--via", "skills", "--agree", "Panes are named after agents")
	beta.until("it has the agreement", func() bool {
		said, _ := beta.try("work-with", "skills", "panes", "--via", "mawjs")
		return strings.Contains(said, "A1")
	})
	beta.must("work-with", "skills", "panes", "--accept", "A1", "--via", "mawjs")
	p, ended := alpha.at(nil, "party", "organize", "panes", "--with", "mawjs", "mawui", "--via", "skills")
	p.Shows("The passphrase of")
	p.Type("horse\n")
	ended()
	p, ended = beta.at(nil, "party", "organize", "reviews", "--with", "skills", "--via", "mawjs")
	p.Shows("The passphrase of")
	p.Type("horse\n")
	ended()
	p, ended = alpha.at(nil, "frame", "Which of the two stores?", "--coordinator", "chair", "--agent", "lens", "--no-wait")
	p.Shows("The passphrase of")
	p.Type("horse\n")
	ended()
	alpha.until("both gates wait", func() bool { return len(alpha.gates().Gates) == 2 })
	return alpha, beta
}

// Every page of the console, as a person sees it: in a real browser, on two hosts that talk. It prevents:
// a page with an error in the browser's console, without a label, too wide for a phone, larger than it
// may be; a message that is sent twice or does not come; a decision that the page makes by itself. With
// PARLEY_RECORD=FOLDER it keeps a picture of each page there.
func TestRealConsole(t *testing.T) {
	b := browser.Open(t)
	alpha, beta := seenFleet(t)
	terminal, link, ended := consoleOf(t, alpha)
	origin := link[:strings.Index(link, "/enter")]
	b.Do(browser.Word{Do: "go", At: link})
	b.Await("h1", "Fleet")
	terminal.Shows("✓ let in")

	pictures := os.Getenv("PARLEY_RECORD")
	for _, at := range crawl(b, origin) {
		a := b.Go(origin + at)
		if a.Status != http.StatusOK {
			t.Errorf("%s: %d: %s", at, a.Status, a.Text)
		}
		for _, wrong := range append(a.Wrong, b.Look(pictures, pageName(at))...) {
			t.Errorf("%s: %s", at, wrong)
		}
		if a.Bytes > 150_000+len(a.Text)*8 {
			t.Errorf("%s: %d bytes are loaded", at, a.Bytes)
		}
	}

	// Talk: what is sent here is at beta, and what beta says appears.
	b.Go(origin + "/talk")
	channel := ""
	for _, m := range alpha.log() {
		if strings.Contains(m.Body, "cache of zoe") {
			channel = m.Channel.String()
		}
	}
	b.Go(origin + "/talk/" + channel)
	b.Type("main textarea", "From the page: hello zoe")
	b.Do(browser.Word{Do: "press", At: "main textarea", Text: "Control+Enter"})
	beta.until("it has what the page sent, once", func() bool { return strings.Count(beta.must("log", "--all"), "From the page: hello zoe") == 1 })
	beta.must("hey", "nat", "Good to see you on a page")
	b.Await("main", "Good to see you on a page")

	// Search as somebody types.
	b.Go(origin + "/search")
	b.Do(browser.Word{Do: "click", At: "main input[type=search]"})
	b.Type("main input[type=search]", "cold")
	b.Await("main", "It is")

	// A gate: the page asks the terminal, which shows it whole; the passphrase is typed there.
	b.Go(origin + "/gates")
	waiting := alpha.gates().Gates
	gate := waiting[slices.IndexFunc(waiting, func(g control.Gate) bool { return g.For == "invite" })]
	b.Click(`form:has(input[value="` + gate.Path + `"]) button[value=accept]`)
	terminal.Shows("parley gates accept " + gate.ID)
	terminal.Shows("Join this collaboration?")
	terminal.Shows("[y/N]")
	b.Await("#desk", "Your terminal asks")
	terminal.Type("y\n")
	terminal.Shows("The passphrase of")
	if got := len(alpha.gates().Gates); got != 2 {
		t.Errorf("%d gates wait before the passphrase is typed, want 2", got)
	}
	terminal.Type("horse\n")
	terminal.Shows("✓ accepted")
	b.Await("#menu-Gates", "1")

	// A stranger with the link puts the first one out, and gets nothing.
	b.Do(browser.Word{Do: "go", At: link, Stranger: true})
	terminal.Shows("⚠ a link was used that lets nobody in")
	if a := b.Do(browser.Word{Do: "go", At: origin + "/", Stranger: true}); a.Status != http.StatusUnauthorized {
		t.Errorf("a stranger with a used link: %d: %s", a.Status, a.Text)
	}
	if a := b.Do(browser.Word{Do: "go", At: origin + "/"}); a.Status != http.StatusUnauthorized {
		t.Errorf("whoever came first stays in: %d", a.Status)
	}
	terminal.Type("\x03")
	ended()
}

// lonely is one host with an agent, and a browser that its console has let in.
func lonely(t *testing.T) (alpha *storyHost, b *browser.Browser, origin string, terminal *clitest.Terminal, ended func()) {
	t.Helper()
	b = browser.Open(t)
	alpha = newStoryHost(t, "alpha")
	alpha.start()
	alpha.must("agent", "add", "skills", "--inbox")
	terminal, link, ended := consoleOf(t, alpha)
	b.Do(browser.Word{Do: "go", At: link})
	b.Await("h1", "Fleet")
	return alpha, b, link[:strings.Index(link, "/enter")], terminal, ended
}

// Another site cannot show the console in a frame, read it, have it do something, or get its cookie. It
// prevents: framing, forged requests, a message whose link leads to a port of another user, and tabs
// that keep further ones from loading.
func TestRealConsoleBesideAnotherSite(t *testing.T) {
	alpha, b, origin, terminal, ended := lonely(t)
	b.Run(`void [..."12345678"].map(() => open("/work"))`)
	b.Go(origin + "/work")
	b.Await("#live", "live")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bears := r.Header.Get("Cookie"); bears != "" {
			t.Errorf("another port of this machine is sent %s", bears)
		}
		fmt.Fprintf(w, `<!doctype html><iframe src="%s/"></iframe><form action="%s/say" method="post" enctype="multipart/form-data"><input name="to" value="skills"><input name="body" value="forged"></form>`, origin, origin)
	}))
	t.Cleanup(site.Close)
	b.Run(`void (location = "` + site.URL + `/from-a-page")`)
	b.Do(browser.Word{Do: "await", At: "html:has(iframe)"})
	if said := b.Run(`fetch("` + origin + `/", {credentials: "include"}).then(a => a.text(), () => "refused")`); said != `"refused"` {
		t.Errorf("another site reads %s", said)
	}
	if said := b.Run(`fetch("` + origin + `/say", {method: "POST", mode: "no-cors", credentials: "include", body: new FormData(document.forms[0])}).then(() => "sent", () => "refused")`); strings.Contains(alpha.must("log", "--all"), "forged") {
		t.Errorf("another site writes (%s)", said)
	}
	b.Run(`document.forms[0].submit()`)
	b.Await("body", "of a page of somebody else")
	if strings.Contains(alpha.must("log", "--all"), "forged") {
		t.Error("a form of another site writes")
	}
	terminal.Type("\x03")
	ended()
}

// A tab in which messages come for a long time holds no more than at first. It prevents: a page that
// fills the memory.
func TestRealConsoleStaysSmall(t *testing.T) {
	scratch.Long(t)
	alpha, b, origin, _, _ := lonely(t)
	alpha.must("hey", "skills", "the first")
	b.Go(origin + "/talk/" + alpha.log()[len(alpha.log())-1].Channel.String())
	size := func(n int) (heap, nodes int) {
		t.Helper()
		for i := range n {
			alpha.must("hey", "--fyi", "skills", "message "+strconv.Itoa(i)+" of "+strconv.Itoa(n)+" "+strings.Repeat("word ", 60))
		}
		b.Await("main", "message "+strconv.Itoa(n-1)+" of "+strconv.Itoa(n))
		var got [2]int
		if err := json.Unmarshal([]byte(b.Run(`(gc(), new Promise(r => setTimeout(() => { gc(); r([performance.memory.usedJSHeapSize, document.querySelectorAll("*").length]) }, 200)))`)), &got); err != nil {
			t.Fatal(err)
		}
		return got[0], got[1]
	}
	heap, nodes := size(600)
	heap2, nodes2 := size(601)
	t.Logf("after 600 messages %d bytes and %d elements, after 1201 %d and %d", heap, nodes, heap2, nodes2)
	if heap2 > heap*5/4 || nodes2 > nodes*5/4 {
		t.Errorf("it grows: from %d bytes and %d elements to %d and %d", heap, nodes, heap2, nodes2)
	}
}

// A phone tells of a gate while its page is out of sight. It prevents: a browser that shows notices by
// a worker alone, as on Android, and shows none.
func TestRealConsoleTellsAPhone(t *testing.T) {
	alpha, b, origin, terminal, ended := lonely(t)
	alpha.must("agent", "add", "mawjs", "--inbox")
	b.Do(browser.Word{Do: "allow", At: origin, Text: "notifications"})
	b.Go(origin + "/gates")
	b.Run(`(Notification = class { static permission = "default"; static requestPermission = async () => { Notification.permission = "granted" }; constructor() { throw new TypeError("Illegal constructor") } }, document.querySelector("[data-notify]").hidden = false)`)
	notices := `navigator.serviceWorker.ready.then(is => is.getNotifications()).then(all => all.map(one => one.title).join())`
	b.Click("[data-notify]")
	b.Do(browser.Word{Do: "until", Text: notices, At: "parley tells you here when a gate waits"})
	b.Run(`Object.defineProperty(document, "hidden", { value: true })`)
	_, asked := alpha.at([]string{"PARLEY_AGENT=skills"}, "party", "organize", "one", "--with", "mawjs")
	asked()
	b.Do(browser.Word{Do: "until", Text: notices, At: "parley: a gate waits for you"})
	terminal.Type("\x03")
	ended()
}

func pageName(at string) string {
	word, _, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	if word == "" {
		word = "fleet"
	} else if strings.Count(at, "/") > 1 {
		word += "-one"
	}
	return word
}

// crawl returns the addresses of pages that lead to each other, of each kind two at most.
func crawl(b *browser.Browser, origin string) (all []string) {
	seen, kinds := map[string]bool{"/": true}, map[string]int{}
	for next := []string{"/"}; len(next) > 0; next = next[1:] {
		at := next[0]
		all = append(all, at)
		for _, link := range b.Do(browser.Word{Do: "go", At: origin + at}).Links {
			u, err := url.Parse(link)
			if err != nil || !strings.HasPrefix(link, origin+"/") || seen[u.Path] || strings.HasPrefix(u.Path, "/static") || strings.HasPrefix(u.Path, "/raw") {
				continue
			}
			if kind := pageName(u.Path); kinds[kind] < 2 {
				kinds[kind]++
				seen[u.Path] = true
				next = append(next, u.Path)
			}
		}
	}
	return all
}
