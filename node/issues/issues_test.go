//go:build unix

package issues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// scripted puts a program called gh in front of the PATH. It returns the folder of the program, in
// which the program may leave what it was given.
func scripted(t testing.TB, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gh"), []byte("#!/bin/sh\ncd "+dir+"\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir
}

// answers is a gh that prints the file whose name is the end of the path that is asked for.
const answers = `echo "$@" >> asked
for path; do :; done
case "$path" in
*/comments\?*) page=${path#*&page=}; cat "page${page%%&*}" ;;
*/comments) cat > posted; echo '{"html_url":"https://github.com/nat/maw-js/issues/332#issuecomment-9"}' ;;
*/issues/*) cat issue ;;
*) cat repository ;;
esac`

func put(t testing.TB, dir, name string, value any) {
	t.Helper()
	data, ok := value.(string)
	if !ok {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		data = string(raw)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// comment is a comment as GitHub's REST API has it.
func comment(n int, author, body string) map[string]any {
	return map[string]any{
		"id": n, "node_id": "IC_" + strconv.Itoa(n), "user": map[string]any{"login": author, "id": 1, "type": "User"}, "author_association": "NONE",
		"created_at": start.Add(time.Duration(n) * time.Minute), "updated_at": start.AddDate(1, 0, 0), "body": body,
		"html_url": fmt.Sprintf("https://github.com/nat/maw-js/issues/332#issuecomment-%d", n), "reactions": map[string]any{"total_count": 0},
	}
}

func page(from, to int) (list []map[string]any) {
	for n := from; n <= to; n++ {
		list = append(list, comment(n, "bo", "words "+strconv.Itoa(n)))
	}
	return list
}

var (
	start  = time.Date(2026, 4, 15, 10, 0, 0, 0, time.UTC)
	anchor = protocol.Anchor{Owner: "nat", Repo: "maw-js", Number: 332}
	one    = protocol.NewPath(protocol.DeriveChannel("record", "nat", "bo"), start, 1)
	two    = protocol.NewPath(protocol.DeriveChannel("record", "nat", "bo"), start, 2)
)

func asked(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Comments come in pages. An old comment that was changed since is not new. A comment whose author
// has left GitHub is shown as somebody's.
func TestSince(t *testing.T) {
	dir := scripted(t, answers)
	put(t, dir, "issue", map[string]any{"number": 332, "comments": 33, "state": "open"})
	put(t, dir, "page1", page(1, 30))
	gone := comment(31, "", "ghostly")
	gone["user"] = nil
	put(t, dir, "page2", []any{comment(33, "eve", "later"), comment(32, "bo", "\x1b[2Jx"), gone})
	n, err := GH{}.Since(t.Context(), anchor, start.Add(29*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range n.Comments {
		got = append(got, c.Author+": "+c.Body)
	}
	if want := "bo: words 30|ghost: ghostly|bo: \x1b[2Jx|eve: later"; strings.Join(got, "|") != want || n.Total != 33 || n.More || !n.Newest().Equal(start.Add(33*time.Minute)) {
		t.Errorf("got %q, %+v", got, n)
	}
	if want := "api --hostname github.com -H Accept: application/vnd.github+json repos/nat/maw-js/issues/332/comments?per_page=30&page=2&since=2026-04-15T10:29:00Z\n"; !strings.HasSuffix(asked(t, dir), want) {
		t.Errorf("asked %s", asked(t, dir))
	}
}

// One look reads a bounded number of pages. The first look at an issue reads the last pages. A
// later look reads the oldest pages of what is new, so that the next look goes on where it ended.
func TestSinceOfManyComments(t *testing.T) {
	dir := scripted(t, answers)
	put(t, dir, "issue", map[string]any{"comments": 1000})
	for i := range 40 {
		put(t, dir, fmt.Sprint("page", i+1), page(30*i+1, min(30*i+30, 1000)))
	}
	n, err := GH{}.Since(t.Context(), anchor, time.Time{})
	if err != nil || len(n.Comments) != 280 || n.More || n.Comments[len(n.Comments)-1].Body != "words 1000" {
		t.Errorf("the first look: %d comments, more %t, %v", len(n.Comments), n.More, err)
	}
	n, err = GH{}.Since(t.Context(), anchor, start)
	if err != nil || len(n.Comments) != 300 || !n.More || n.Newest() != start.Add(300*time.Minute) {
		t.Errorf("a later look: %d comments, more %t until %s, %v", len(n.Comments), n.More, n.Newest(), err)
	}
}

// Text of strangers is bounded, and no bytes come through that are no text.
func TestHugeComments(t *testing.T) {
	dir := scripted(t, answers)
	put(t, dir, "issue", map[string]any{"comments": 30})
	var list []any
	for n := range 30 {
		list = append(list, comment(n, "eve", strings.Repeat("é", 65536)))
	}
	put(t, dir, "page1", list)
	put(t, dir, "page2", "[]")
	n, err := GH{}.Since(t.Context(), anchor, time.Time{})
	if err != nil || len(n.Comments) != 30 {
		t.Fatal(len(n.Comments), err)
	}
	if c := n.Comments[0]; len(c.Body) > maxComment || !c.Cut || strings.Trim(c.Body, "é") != "" {
		t.Errorf("%d bytes are kept, cut %t", len(c.Body), c.Cut)
	}
}

// It prevents: a command that is repeated after a crash, or after gh was too slow to say that it
// had done its work, tells one thing twice.
func TestPostSaysNothingTwice(t *testing.T) {
	dir := scripted(t, answers)
	put(t, dir, "issue", map[string]any{"comments": 0})
	text := "$(touch pwned) `x`\n**From**: skills"
	url, again, err := GH{}.Post(t.Context(), anchor, text, start, one, two)
	if err != nil || again || !strings.HasSuffix(url, "#issuecomment-9") {
		t.Fatal(url, again, err)
	}
	var posted struct{ Body string }
	data, err := os.ReadFile(filepath.Join(dir, "posted"))
	if err == nil {
		err = json.Unmarshal(data, &posted)
	}
	if want := mark(one) + "\n" + mark(two) + "\n\n" + text; err != nil || posted.Body != want {
		t.Errorf("posted %q, %v", posted.Body, err)
	}
	if !strings.Contains(asked(t, dir), "--method POST --input - repos/nat/maw-js/issues/332/comments\n") {
		t.Errorf("asked %s", asked(t, dir))
	}
	if err := os.Remove(filepath.Join(dir, "posted")); err != nil {
		t.Fatal(err)
	}
	// The comments of eve only quote the mark. Only the comment of nat tells the thing itself.
	put(t, dir, "issue", map[string]any{"comments": 2})
	put(t, dir, "page1", []any{comment(0, "eve", "> "+mark(two)), comment(1, "eve", "Look:\n"+mark(two)), comment(2, "nat", strings.ReplaceAll(posted.Body, "\n", "\r\n"))})
	url, again, err = GH{}.Post(t.Context(), anchor, text, start, two)
	if err != nil || !again || !strings.HasSuffix(url, "#issuecomment-2") {
		t.Error(url, again, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "posted")); err == nil {
		t.Error("it is told twice")
	}
}

// If nobody can tell whether a comment is there already, none is written.
func TestPostBehindTooManyComments(t *testing.T) {
	dir := scripted(t, answers)
	put(t, dir, "issue", map[string]any{"comments": 1000})
	for i := range 40 {
		put(t, dir, fmt.Sprint("page", i+1), page(30*i+1, 30*i+30))
	}
	_, _, err := GH{}.Post(t.Context(), anchor, "x", start.Add(24*time.Hour), one)
	if err == nil || !strings.Contains(err.Error(), "cannot tell whether it is on nat/maw-js#332 already") {
		t.Error(err)
	}
}

func TestPublic(t *testing.T) {
	dir := scripted(t, answers)
	for body, want := range map[string]bool{`{"private":false}`: true, `{"private":true}`: false, `{}`: false} {
		put(t, dir, "repository", body)
		if got, err := (GH{}).Public(t.Context(), anchor); got != want || err != nil {
			t.Errorf("%s: %t, %v", body, got, err)
		}
	}
}

// A failure is said in one line.
func TestTroubles(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"not signed in": {"echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4", "cannot look at nat/maw-js#332: gh is not signed in: gh auth login"},
		"no such issue": {`echo '{"message":"Not Found","status":"404"}'; echo 'gh: Not Found (HTTP 404)' >&2; exit 1`, "gh finds no such issue, or may not see it"},
		"no network":    {"printf 'error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com\n' >&2; exit 1", "gh: error connecting to api.github.com check your internet connection"},
		"rate limit":    {"echo 'gh: API rate limit exceeded (HTTP 403)' >&2; exit 1", ": gh: API rate limit exceeded (HTTP 403)"},
		"no JSON":       {"echo hello", "gh did not print what it should"},
		"other JSON":    {`echo '{"comments":"many"}'`, "gh did not print what it should"},
		"nothing":       {"exit 0", "gh: the command printed nothing"},
		"silent":        {"exit 1", "gh ended with exit code 1"},
		"killed":        {"kill -9 $$", "gh: the command was ended by a signal"},
		"too much":      {"head -c 20000000 /dev/zero | tr '\\0' 1", "more than 16777216 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, c.script)
			if _, err := (GH{}).Since(t.Context(), anchor, start); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// It prevents: what gh has started goes on when gh is too slow, and holds up its node.
func TestSlowGHIsEndedWithAllItStarted(t *testing.T) {
	dir := scripted(t, "mkfifo never 2>/dev/null\n(read x < never) & echo $! > child\nread x < never")
	_, err := GH{Patience: 500 * time.Millisecond}.Since(t.Context(), anchor, start)
	if err == nil || !strings.Contains(err.Error(), "gh did not answer within 500ms") {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	for !gone(pid) {
		if ctx.Err() != nil {
			t.Fatalf("process %d goes on", pid)
		}
	}
}

// gone reports whether a process has ended, reaped or not.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestWithoutTheProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := Reachable(anchor); !errors.Is(err, ErrNoProgram) {
		t.Errorf("got %v", err)
	}
	if _, err := (GH{}).Since(t.Context(), anchor, start); !errors.Is(err, ErrNoProgram) {
		t.Errorf("got %v", err)
	}
	if err := Reachable(protocol.Anchor{Repo: "maw-js", Number: 1}); err == nil || errors.Is(err, ErrNoProgram) {
		t.Errorf("an issue that nobody can find: %v", err)
	}
}

// No answer of gh breaks anything, and each comment is bounded text.
func FuzzAnswers(f *testing.F) {
	list, err := json.Marshal(page(1, 2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(list))
	f.Add(`[{"user":null,"body":null,"created_at":"0000-00-00T00:00:00Z"}]`)
	f.Add(`[null]`)
	f.Fuzz(func(t *testing.T, answer string) {
		comments, _, err := readComments([]byte(answer), start)
		if err != nil {
			return
		}
		for _, c := range comments {
			if len(c.Body) > maxComment || strings.ToValidUTF8(c.Body, "") != c.Body || !c.At.After(start) {
				t.Errorf("read as %+v", c)
			}
			c.Tells()
		}
	})
}
