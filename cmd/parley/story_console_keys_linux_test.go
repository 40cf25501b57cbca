package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/node/control"
)

// visitor is a program that was let in.
type visitor struct {
	t              testing.TB
	origin, secret string
	cookie         *http.Cookie
}

// visits lets a program in by a link.
func visits(t testing.TB, link string) *visitor {
	t.Helper()
	origin, token, _ := strings.Cut(link, "/enter#")
	v := &visitor{t: t, origin: origin}
	data, err := json.Marshal(map[string]string{"token": token})
	if err != nil {
		t.Fatal(err)
	}
	var is struct{ Secret string }
	answer := v.ask("POST", "/enter", "application/json", data)
	if err := json.Unmarshal([]byte(answer), &is); err != nil {
		t.Fatal(err, answer)
	}
	v.secret = is.Secret
	return v
}

func (v *visitor) ask(method, at, kind string, body []byte) string {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.origin+at, bytes.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Origin", v.origin)
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Parley-Secret", v.secret)
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	u, _ := url.Parse(v.origin)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", u.Port()))
	}}}
	answer, err := client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, c := range answer.Cookies() {
		v.cookie = c
	}
	return string(text)
}

func (v *visitor) send(at string, fields map[string]string) string {
	v.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			v.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		v.t.Fatal(err)
	}
	return v.ask("POST", at, w.FormDataContentType(), b.Bytes())
}

// It prevents: a decision that is asked when the human's key is replaced or ends counts with the old key,
// or the console ends with it.
func TestConsoleWhileAKeyEnds(t *testing.T) {
	h := newStoryHost(t, "white")
	h.start()
	h.hasGates()
	terminal, link, ended := consoleOf(t, h)
	v := visits(t, link)
	all := h.gates().Gates
	click := func(i int, act string) (told string) {
		t.Helper()
		seen := regexp.MustCompile(`value="` + all[i].Path + `"><input type="hidden" name="seen" value="([^"]+)"`).FindStringSubmatch(v.ask("GET", "/gates", "", nil))
		if seen == nil {
			t.Fatalf("%s does not stand on the page", all[i].Path)
		}
		h.until("the terminal does not rest", func() bool {
			told = v.send("/gates", map[string]string{"gate": all[i].Path, "seen": seen[1], "act": act})
			return !strings.Contains(told, "over at once")
		})
		return told
	}
	click(0, "accept")
	terminal.Shows("Accept it as nat? [y/N]")
	p, over := h.at(nil, "gates", "key", "rotate")
	for _, step := range [][2]string{{"The passphrase of", "horse\n"}, {"A passphrase for", "camel\n"}, {"The same again", "camel\n"}} {
		p.Shows(step[0])
		p.Type(step[1])
	}
	over()
	terminal.Type("y\n")
	terminal.Shows("The passphrase of")
	terminal.Type("horse\ncamel\n") // the old one opens nothing
	terminal.Shows("✓ accepted")

	click(1, "reject")
	terminal.Shows("Decline it as nat? [y/N]")
	p, over = h.at(nil, "gates", "key", "revoke")
	p.Shows("The passphrase of")
	p.Type("camel\n")
	p.Shows("revoke nat")
	p.Type("revoke nat\n")
	over()
	terminal.Type("y\n")
	terminal.Shows("the key of nat is revoked")
	h.until("the page says it", func() bool {
		return strings.Contains(v.ask("GET", "/gates", "", nil), "has no key of their own")
	})
	if i := slices.IndexFunc(h.gates("--all").Gates, func(g control.Gate) bool { return g.Path == all[1].Path && g.Outcome == "pending" }); i < 0 {
		t.Error("something was decided without a key")
	}
	terminal.Type("\x03")
	ended()
}
