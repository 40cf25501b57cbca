package gitsync

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/carrier"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// wires are the links between the hosts of a test.
type wires struct {
	mu     sync.Mutex // guards the fields below
	serve  map[string]func(ctx context.Context, conn net.Conn) error
	bytes  int64                      // that came over links
	asked  []carrier.Request          // what was asked
	refuse func(carrier.Request) bool // what is cut off
}

func newWires() *wires {
	return &wires{serve: map[string]func(context.Context, net.Conn) error{}}
}

func (w *wires) join(host string, s carrier.Served) { w.serveBy(host, s.Serve) }

func (w *wires) serveBy(host string, serve func(context.Context, net.Conn) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serve[host] = serve
}

func (w *wires) cut(host string) { w.serveBy(host, nil) }

// counted counts what is read.
type counted struct {
	net.Conn
	in io.Reader
	w  *wires
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.w.mu.Lock()
	c.w.bytes += int64(n)
	c.w.mu.Unlock()
	return n, err
}

func (c counted) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

func (w *wires) dial(ctx context.Context, host string, r carrier.Request) (io.ReadWriteCloser, error) {
	w.mu.Lock()
	serve, refuse := w.serve[host], w.refuse
	w.asked = append(w.asked, r)
	w.mu.Unlock()
	if serve == nil || refuse != nil && refuse(r) {
		return nil, fmt.Errorf("%s: nobody listens there: connection refused", host)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() { // ends with the connection
		far, err := l.Accept()
		_ = l.Close() // not before: it would reset what is not accepted yet
		if err != nil {
			return
		}
		_ = serve(ctx, far)
		_ = far.Close()
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = conn.Write(append(line, '\n'))
	}
	in := bufio.NewReader(conn)
	var says carrier.Answer
	if err == nil {
		if line, err = in.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &says)
		}
	}
	if err == nil && says.Error != "" {
		err = errors.New(says.Error)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return counted{conn, in, w}, nil
}

// came is how many bytes have come over links since it was last called.
func (w *wires) came() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.bytes
	w.bytes = 0
	return n
}

// linkedTo are the options of a host whose remote is the host "hub".
func (w *wires) linkedTo(t *testing.T, name string, others ...string) Options {
	t.Helper()
	return Options{
		Dir: filepath.Join(t.TempDir(), name), Remote: "parley://hub", Dial: w.dial, Others: func() []string { return others },
		Author: Author{Name: name, Email: name + "@example.org"}, Log: zerolog.New(&safeBuffer{}), Builtin: isBuiltin(t),
	}
}

func (w *wires) home(t *testing.T, name string, others ...string) *home {
	t.Helper()
	h := &home{log: &safeBuffer{}, opts: w.linkedTo(t, name, others...)}
	h.opts.Log = zerolog.New(h.log)
	if _, err := Init(t.Context(), h.opts, nil); err != nil {
		t.Fatal(err)
	}
	h.open(t)
	t.Cleanup(func() { h.close(t) })
	w.join(name, carrier.Served{Record: h.repo()})
	return h
}

// hub is a host that begins to share its record through a repository of its own while it runs.
func (w *wires) hub(t *testing.T) (hub *home, shared string) {
	t.Helper()
	hub = newHome(t, "hub", "")
	hub.append(t, testMessage(1, 1))
	hub.sync(t)
	shared = filepath.Join(hub.opts.Dir, "shared.git")
	if err := MakeShared(shared); err != nil {
		t.Fatal(err)
	}
	if err := hub.Share(t.Context(), shared); err != nil {
		t.Fatal(err)
	}
	hub.opts.Remote = shared
	w.join("hub", carrier.Served{Shared: shared, Record: hub.repo()})
	return hub, shared
}

// Hosts share a record by their links alone, and a record that had no remote is shared while it runs.
func TestSharedByLinks(t *testing.T) {
	t.Parallel()
	w := newWires()
	hub, shared := w.hub(t)
	if got := messages(t, shared, "main"); len(got) != 1 {
		t.Fatalf("shared: %v", got)
	}
	if err := hub.Share(t.Context(), shared); err == nil {
		t.Error("it is shared twice")
	}
	a, b := w.home(t, "a"), w.home(t, "b")
	a.append(t, testMessage(2, 1))
	a.sync(t)
	b.append(t, testMessage(3, 1))
	b.sync(t)
	hub.append(t, testMessage(1, 2))
	for _, h := range []*home{hub, a, b, hub} {
		h.sync(t)
	}
	want := paths(testMessage(1, 1), testMessage(2, 1), testMessage(3, 1), testMessage(1, 2))
	for _, h := range []*home{hub, a, b} {
		got := messages(t, h.repo(), "main")
		slices.Sort(got)
		wantSame(t, "messages of "+h.opts.Author.Name, got, want)
		if s := h.Status(); s.Unpushed != 0 || s.Trouble.Kind != KindNone {
			t.Errorf("status %+v", s)
		}
	}
	mine, err := a.Claim(t.Context(), "work", "by a")
	if err != nil || !mine {
		t.Errorf("the first claim: %v, %v", mine, err)
	}
	for _, h := range []*home{b, hub} {
		if mine, err := h.Claim(t.Context(), "work", "mine"); err != nil || mine {
			t.Errorf("a second claim: %v, %v", mine, err)
		}
	}
	if err := a.Unclaim(t.Context(), "work"); err != nil {
		t.Error(err)
	}
	if mine, err := b.Claim(t.Context(), "work", "by b"); err != nil || !mine {
		t.Errorf("after that: %v, %v", mine, err)
	}
	wantClean(t, shared)
}

// While the host that keeps the repository is away, another host has what was written meanwhile. When
// it is back, nothing is lost, doubled, or called a rewritten main.
func TestFetchFromAnotherHost(t *testing.T) {
	t.Parallel()
	w := newWires()
	hub, shared := w.hub(t)
	a := w.home(t, "a", "hub", "b")
	b := w.home(t, "b", "a", "hub")
	served := carrier.Served{Shared: shared, Record: hub.repo()}
	w.cut("hub")
	a.append(t, testMessage(2, 1))
	if err := a.UpdateFile("data/memories/20260523T190000000Z-b2c3d4e5.md", func([]byte) ([]byte, error) { return []byte("of a\n"), nil }); err != nil {
		t.Fatal(err)
	}
	b.append(t, testMessage(3, 1))
	for _, h := range []*home{a, b} {
		if err := h.Sync(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("a hub that is away: %v", err)
		}
	}
	for _, h := range []*home{b, a} { // each has committed what it wrote, and now gets that of the other
		if err := h.Fetch(t.Context()); !errors.Is(err, ErrRemote) {
			t.Errorf("a hub that is away: %v", err)
		}
		if got := messages(t, h.repo(), "main"); len(got) != 3 {
			t.Errorf("%s has %v", h.opts.Author.Name, got)
		}
		if s := h.Status(); s.Trouble.Kind != KindUnreachable || s.Unpushed == 0 {
			t.Errorf("status %+v", s)
		}
		if data, ok, err := h.ReadFile("data/memories/20260523T190000000Z-b2c3d4e5.md"); err != nil || !ok || string(data) != "of a\n" {
			t.Errorf("the memory is %q, %v, %v", data, ok, err)
		}
	}
	if _, err := a.Claim(t.Context(), "work", ""); err == nil {
		t.Error("a claim without the hub")
	}
	hub.append(t, testMessage(1, 2))
	hub.sync(t)
	w.join("hub", served)
	for _, h := range []*home{a, b, hub, a} {
		h.sync(t)
	}
	for _, h := range []*home{hub, a, b} {
		if got := messages(t, h.repo(), "main"); len(got) != 4 {
			t.Errorf("%s has %v", h.opts.Author.Name, got)
		}
		if s := h.Status(); s.Unpushed != 0 || s.Trouble.Kind != KindNone {
			t.Errorf("status of %s: %+v", h.opts.Author.Name, s)
		}
		if log := h.log.String(); strings.Contains(log, "rewritten") || strings.Contains(log, "put back") || strings.Contains(log, "removed") {
			t.Errorf("%s says:\n%s", h.opts.Author.Name, log)
		}
	}
	wantClean(t, shared)
}

// The host that keeps the repository was away for an hour. It prevents: half a minute in which nothing
// is pushed, although it is back and says so.
func TestTheCarrierIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires()
		hub, shared := w.hub(t)
		a := w.home(t, "a")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		w.cut("hub")
		a.append(t, testMessage(2, 1))
		time.Sleep(time.Hour)
		for i := 0; time.Until(a.Status().Trouble.Next) < 5*time.Second; i++ {
			if i > 1000 {
				t.Fatalf("it is tried all the time: %+v", a.Status())
			}
			time.Sleep(time.Second)
		}
		w.join("hub", carrier.Served{Shared: shared, Record: hub.repo()})
		a.Back("b") // that is not the one
		time.Sleep(time.Second)
		if s := a.Status(); s.Unpushed != 1 {
			t.Errorf("another host is back: %+v", s)
		}
		a.Back("hub")
		time.Sleep(time.Second)
		if s := a.Status(); s.Unpushed != 0 || s.Trouble.Kind != KindNone {
			t.Errorf("it is back: %+v", s)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A first copy that is cut short goes on where it was.
func TestFirstCopyGoesOn(t *testing.T) {
	scratch.Long(t)
	if testing.Short() {
		t.Skip("it needs thousands of commits")
	}
	t.Parallel()
	w := newWires()
	_, shared := w.hub(t)
	grow(t, shared, 3500)
	opts := w.linkedTo(t, "a")
	points, fetches := 0, 0
	w.refuse = func(r carrier.Request) bool {
		if r.Service == carrier.ServicePoints {
			points++
		} else if r.Protocol != "" {
			fetches++
		}
		return fetches > 3 // the heads, and two pieces
	}
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f := founding{opts: must(opts.withDefaults()), dir: filepath.Join(opts.Dir, newRepoName)}
	if _, err := f.found(t.Context()); !errors.Is(err, ErrRemote) { // without the end of Init, like a process that is killed
		t.Fatalf("a link that is cut: %v", err)
	}
	first := w.came()
	w.refuse = nil
	if _, err := Init(t.Context(), opts, nil); err != nil {
		t.Fatal(err)
	}
	rest := w.came()
	whole := w.linkedTo(t, "b")
	if _, err := Init(t.Context(), whole, nil); err != nil {
		t.Fatal(err)
	}
	all := w.came()
	if points == 0 || first < all/3 || rest > all*2/3 {
		t.Errorf("%d bytes before it was cut short, %d after that, and %d are all", first, rest, all)
	}
	wantClean(t, filepath.Join(opts.Dir, repoName))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// grow adds commits to main of a repository, each with another content of a file.
func grow(t *testing.T, repo string, commits int) {
	t.Helper()
	var in strings.Builder
	tip := gitOut(t, repo, "rev-parse", "main")
	for n := 1; n <= commits; n++ {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter x <x@example.org> %d +0000\ndata 1\nm\n", 1780000000+n)
		if n == 1 {
			fmt.Fprintf(&in, "from %s\n", tip)
		}
		text := rand.Text() + rand.Text() + rand.Text() + rand.Text()
		fmt.Fprintf(&in, "M 100644 inline README.md\ndata %d\n%s\n", len(text), text)
	}
	gitInput(t, repo, in.String(), "fast-import", "--quiet")
}

// Whatever a host serves that means ill, this host names a trouble and goes on.
func TestHostThatLies(t *testing.T) {
	t.Parallel()
	w := newWires()
	hub, shared := w.hub(t)
	a := w.home(t, "a", "b")
	honest := carrier.Served{Shared: shared, Record: hub.repo()}
	other := bareRemote(t)
	newHome(t, "other", other)
	tip := a.Tip()
	forever := func(text string) func(context.Context, net.Conn) error {
		return func(ctx context.Context, conn net.Conn) error {
			_, err := io.WriteString(conn, "{}\n")
			for err == nil && ctx.Err() == nil {
				_, err = io.WriteString(conn, text)
			}
			return err
		}
	}
	for name, serve := range map[string]func(context.Context, net.Conn) error{
		"another record":  carrier.Served{Shared: other}.Serve,
		"nothing":         func(context.Context, net.Conn) error { return nil },
		"only yes":        func(_ context.Context, conn net.Conn) error { _, err := io.WriteString(conn, "{}\n"); return err },
		"endless points":  forever(strings.Repeat("a", 40) + "\n"),
		"endless refs":    forever("003d" + strings.Repeat("a", 40) + " refs/heads/mainx\n"),
		"endless garbage": forever("\x00\xff garbage"),
		"points that are none": func(ctx context.Context, conn net.Conn) error {
			_, err := io.WriteString(conn, "{}\n../../etc/passwd -x --upload-pack=touch\n")
			return err
		},
		"cut in the pack": func(ctx context.Context, conn net.Conn) error {
			return honest.Serve(ctx, &stingy{Conn: conn, left: 900})
		},
	} {
		t.Run(name, func(t *testing.T) {
			hub.append(t, testMessage(1, 10+len(name)))
			hub.sync(t)
			w.serveBy("hub", serve)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if err := a.Fetch(ctx); err == nil {
				t.Error("it is believed")
			} else if s := a.Status(); s.Trouble.Kind == KindNone && ctx.Err() == nil {
				t.Errorf("%v, and no trouble is named", err)
			}
			if got := a.Tip(); got != tip {
				t.Errorf("main is %s, and was %s", got, tip)
			}
		})
	}
	w.join("hub", honest)
	a.sync(t)
	wantClean(t, a.repo())
}

// stingy is a connection that ends in the middle of what is written.
type stingy struct {
	net.Conn
	left int
}

func (s *stingy) Write(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		_ = s.Close()
		return 0, os.ErrClosed
	}
	return s.Conn.Write(p)
}

// A host that may push can move main forward and claim, and nothing else.
func TestWhatOthersMayPush(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	w := newWires()
	hub, shared := w.hub(t)
	a := w.home(t, "a")
	a.append(t, testMessage(2, 1))
	a.sync(t)
	before := gitOut(t, shared, "rev-parse", "main")
	for _, c := range []struct{ host, spec string }{
		{"hub", "+" + a.ID() + ":refs/heads/main"}, {"hub", ":refs/heads/main"}, {"hub", "main:refs/heads/other"}, {"hub", "main:refs/tags/x"}, {"hub", "main:refs/parley/x"},
		{"hub/record", "main:refs/parley/claims/x"},
	} {
		if out, err := w.push(t, a.repo(), "parley://"+c.host, c.spec); err == nil {
			t.Errorf("%s took %s:\n%s", c.host, c.spec, out)
		}
	}
	if got := gitOut(t, shared, "for-each-ref", "--format=%(refname) %(objectname)"); got != "refs/heads/main "+before {
		t.Errorf("the repository has %s", got)
	}
	for name, specs := range map[string][]string{
		"a branch below main": {"main:refs/heads/main/x"},
		"two claims":          {"main:refs/parley/claims/a", "main:refs/parley/claims/b"},
		"main and a claim":    {"main:refs/heads/main", "main:refs/parley/claims/a"},
		"a name of its own":   {"main:refs/parley/claims/A_b"},
		"a claim below one":   {"main:refs/parley/claims/a/b"},
	} {
		empty := filepath.Join(t.TempDir(), "empty.git")
		if err := MakeShared(empty); err != nil {
			t.Fatal(err)
		}
		w.join("hub", carrier.Served{Shared: empty})
		if out, err := w.push(t, a.repo(), "parley://hub", specs...); err == nil {
			t.Errorf("%s is taken:\n%s", name, out)
		}
		if got := gitOut(t, empty, "for-each-ref"); got != "" {
			t.Errorf("%s: the repository has %s", name, got)
		}
	}
	w.join("hub", carrier.Served{Shared: shared, Record: hub.repo()})
	var many strings.Builder
	for n := range 4096 {
		fmt.Fprintf(&many, "create refs/parley/claims/c%d %s\n", n, before)
	}
	gitInput(t, shared, many.String(), "update-ref", "--stdin")
	if _, err := a.Claim(t.Context(), "work", ""); err == nil || !strings.Contains(err.Error(), "has 4096 claims, and takes no more") {
		t.Errorf("one claim more: %v", err)
	}
	gitOut(t, shared, "update-ref", "-d", "refs/parley/claims/c7")
	if mine, err := a.Claim(t.Context(), "work", ""); err != nil || !mine {
		t.Errorf("a claim where there is room: %v, %v", mine, err)
	}
	if err := a.Unclaim(t.Context(), "work"); err != nil {
		t.Error(err)
	}
	gitOut(t, hub.repo(), "update-ref", "refs/parley/foreign-x", "main")
	if heads, err := carrier.New(w.dial, a.store, "parley://hub/record", false).Heads(t.Context()); err != nil || len(heads) != 1 {
		t.Errorf("others see %v, %v", heads, err)
	}
}

// push pushes with the git program past the carrier, through a port that asks no secret.
func (w *wires) push(t *testing.T, repo, remote string, specs ...string) (string, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // ends with the listener
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		size := make([]byte, 4)
		_, err = io.ReadFull(conn, size)
		n, numErr := strconv.ParseUint(string(size), 16, 16)
		if err != nil || numErr != nil {
			return
		}
		_, _ = io.CopyN(io.Discard, conn, int64(n)-4)
		far, err := w.dial(t.Context(), "hub", carrier.Request{Service: carrier.ServicePush, Record: strings.HasSuffix(remote, "/record")})
		if err != nil {
			return
		}
		defer far.Close()
		go func() { _, _ = io.Copy(far, conn) }() // ends with the connection
		_, _ = io.Copy(conn, far)
	}()
	cmd := exec.Command("git", append([]string{"push", "git://" + l.Addr().String() + "/x"}, specs...)...)
	cmd.Dir, cmd.Env = repo, ownEnvironment()
	out, err := cmd.CombinedOutput()
	return string(out), err
}
