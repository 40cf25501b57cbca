//go:build unix

package notify

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
)

// Each way tells one line, and says what went wrong without what lets somebody in. What somebody
// wrote in a message is for commands of the human alone: it prevents that mail of a stranger, or a
// secret in it, goes to a service on the web.
func TestWays(t *testing.T) {
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/no":
			http.Error(w, "\x1b[31mno", http.StatusForbidden)
		default:
			body, _ := io.ReadAll(r.Body)
			user, _, _ := r.BasicAuth()
			got <- fmt.Sprintf("%s %s %s %s %s", user, r.Method, r.URL, r.Header.Get("Content-Type"), body)
		}
	}))
	defer server.Close()
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, program := range []string{"sendmail", "notify-send", "osascript"} {
		script := "#!/bin/sh\n{ echo \"$@\"; cat; } > " + filepath.Join(bin, "got") + "\n"
		if err := os.WriteFile(filepath.Join(bin, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	secret := strings.Replace(server.URL, "http://", "http://me:pass@", 1)
	m := Matter{Kind: "gate", Text: `parley: asked by "<b>é\n"@white`, Word: ": send money", More: "all of it"}
	for _, c := range []struct{ way, told, wrong string }{
		{"ntfy " + secret + "/topic?x=y", `me POST /topic?x=y text/plain; charset=utf-8 ` + m.Text, ""},
		{"webhook " + server.URL, `POST / application/json {"kind":"gate","text":"parley: asked by \"\u003cb\u003eé\\n\"@white"}`, ""},
		{"webhook " + secret + "/no", "", "it answered 403 Forbidden"},
		{"ntfy " + secret + "/moved", "", "it answered 302 Found"},
		{"ntfy http://me:pass@127.0.0.1:1/secret", "", "it was not sent: dial tcp 127.0.0.1:1: connect: connection refused"},
		{"mail nat@example.org", "-i nat@example.org\nTo: nat@example.org\nSubject: =?utf-8?q?parley:_asked_by_\"<b>=C3=A9\\n\"@white?=", ""},
		{"pager", "", `"pager" is no way to be told`},
	} {
		n := New(Options{})
		if wrong := n.Try(t.Context(), configs.Notification{Way: c.way}, []Matter{m}); wrong != c.wrong {
			t.Errorf("%s: %q, want %q", c.way, wrong, c.wrong)
		}
		told := ""
		select {
		case told = <-got:
		default:
			if data, err := os.ReadFile(filepath.Join(bin, "got")); err == nil {
				told = string(data)
			}
		}
		os.Remove(filepath.Join(bin, "got"))
		if !strings.Contains(told, c.told) || c.told == "" && told != "" || strings.Contains(told, "money") || strings.Contains(told, "all of it") {
			t.Errorf("%s told\n%s\nwant\n%s", c.way, told, c.told)
		}
	}
}

// It prevents: a way whose program is not there fails in words that help nobody.
func TestWaysThatAreNotHere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	n := New(Options{})
	if wrong := n.Try(t.Context(), configs.Notification{Way: "desktop"}, []Matter{{Text: "x"}}); !strings.Contains(wrong, "is not in the PATH of the node: install it") {
		t.Errorf("desktop: %q", wrong)
	}
}
