package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// responder is a program of the 5.0 form with plain git, one of many. It answers whatever is
// addressed to it, without re, and then leaves a receipt. From the commit it knows what it has
// looked at, from its receipts what it has answered.
type responder struct {
	t     *testing.T
	name  string
	clone string
	apart bool // it pushes answers first, and receipts later

	at   time.Time // of its last file
	seen string    // the commit up to which it has looked

	mu      sync.Mutex // guards what follows
	asks    []string   // what it is still to ask, as "name text"
	asked   int
	answers map[string]int // by the path that it answered
	idle    int            // rounds in which there was nothing to do
	files   int            // messages and receipts in its clone, after the last round
}

func newResponder(t *testing.T, remote, name string) *responder {
	return &responder{t: t, name: name, clone: cloneOf(t, remote), answers: map[string]int{}}
}

// run answers until ctx ends.
func (r *responder) run(ctx context.Context) {
	for ctx.Err() == nil {
		if r.round() {
			continue
		}
		select {
		case <-time.After(60 * time.Millisecond): // such programs look again now and then
		case <-ctx.Done():
		}
	}
}

// git runs git in the clone. A push is no error if somebody else was faster.
func (r *responder) git(args ...string) (string, bool) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.clone
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err == nil
}

// round is one look at the record. It reports whether there was anything to do.
func (r *responder) round() bool {
	r.sync()
	var wrote bool
	var receipts []func()
	for _, m := range r.unread() {
		wrote = true
		r.write(m.Path.Channel(), protocol.Message{
			From: r.name, To: []protocol.Address{{Name: m.From}}, Type: protocol.TypeText, Act: protocol.ActHey, Body: "you said: " + m.Body})
		receipt := func() {
			r.write(m.Path.Channel(), protocol.Message{
				From: r.name, To: []protocol.Address{{Name: m.From}}, Type: protocol.TypeRead, Act: protocol.ActRead, Ref: m.Path.Rel()})
		}
		if r.apart {
			receipts = append(receipts, receipt)
		} else {
			receipt()
		}
		r.mu.Lock()
		r.answers[m.Path.String()]++
		r.mu.Unlock()
	}
	if len(receipts) > 0 {
		r.push()
		for _, write := range receipts {
			write()
		}
	}
	wrote = r.ask() || wrote
	if wrote {
		r.push()
	}
	files, _ := r.git("ls-tree", "-r", "--name-only", "HEAD", protocol.ChannelsDir)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = strings.Count(files, ".md")
	if r.idle++; wrote {
		r.idle = 0
	}
	return wrote
}

// ask posts what it is to ask, in a channel of its own for each addressee.
func (r *responder) ask() bool {
	r.mu.Lock()
	asks := r.asks
	r.asks = nil
	r.mu.Unlock()
	for _, ask := range asks {
		to, text, _ := strings.Cut(ask, " ")
		r.write(protocol.DeriveChannel("responder", r.name, to), protocol.Message{
			From: r.name, To: []protocol.Address{{Name: to}}, Type: protocol.TypeText, Act: protocol.ActHey, Body: text})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked += len(asks)
	return len(asks) > 0
}

func (r *responder) sync() {
	if out, ok := r.git("pull", "--quiet", "--rebase"); !ok {
		r.t.Logf("pull: %s", out)
	}
}

func (r *responder) push() {
	r.git("add", ".")
	r.git("commit", "--quiet", "-m", "answers")
	for {
		if _, ok := r.git("push", "--quiet"); ok {
			return
		}
		if r.sync(); r.t.Context().Err() != nil {
			return
		}
	}
}

// unread returns the messages for it that have come since its last look, and for which it has left
// no receipt.
func (r *responder) unread() (unread []*protocol.Message) {
	tip, _ := r.git("rev-parse", "HEAD")
	args := []string{"ls-tree", "-r", "--name-only", tip, protocol.ChannelsDir}
	if r.seen != "" {
		args = []string{"diff", "--name-only", "--diff-filter=A", r.seen, tip, "--", protocol.ChannelsDir}
	}
	files, ok := r.git(args...)
	if !ok || tip == r.seen {
		return nil
	}
	r.seen = tip
	read := map[string]bool{}
	for file := range strings.Lines(files) {
		file = strings.TrimSpace(file)
		p, err := protocol.ParsePath(file)
		data, readErr := os.ReadFile(filepath.Join(r.clone, file))
		if err != nil || readErr != nil {
			continue
		}
		m, err := protocol.Decode(p, data)
		switch {
		case err != nil:
		case m.From == r.name && m.Type == protocol.TypeRead:
			read[m.Ref] = true
		case m.From != r.name && m.Type == protocol.TypeText && slices.ContainsFunc(m.To, func(a protocol.Address) bool { return a.Name == r.name }):
			unread = append(unread, m)
		}
	}
	unread = slices.DeleteFunc(unread, func(m *protocol.Message) bool { return read[m.Path.Rel()] })
	slices.SortFunc(unread, func(a, b *protocol.Message) int { return a.Path.Compare(b.Path) })
	return unread
}

// write writes a file into the clone, dated later than the one before.
func (r *responder) write(channel protocol.ChannelID, m protocol.Message) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	if !now.After(r.at) {
		now = r.at.Add(time.Millisecond)
	}
	r.at, m.Timestamp = now, now
	p := protocol.NewPath(channel, now, 0xb0b)
	data, err := protocol.Encode(&m)
	file := filepath.Join(r.clone, filepath.FromSlash(p.RepoPath()))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		r.t.Error(err)
	}
}

// rested returns how many messages and receipts its clone holds. yes reports whether it found
// nothing to do in its last rounds.
func (r *responder) rested() (files int, yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.files, r.idle > 5 && len(r.asks) == 0
}

// Two hosts and a program of the 5.0 form send each other twenty messages each. All are answered
// once, the stages say so on both hosts, and nobody goes on for ever. It prevents: answers without
// re, which this program writes, keep the stage from becoming answered, and messages go to and fro
// (it was 164). It lasts a minute with PARLEY_SOAK.
func TestBesideAResponderOfTheSameFormat(t *testing.T) {
	scratch.Long(t)
	for _, apart := range []bool{false, true} {
		t.Run(fmt.Sprintf("receipts apart %t", apart), func(t *testing.T) {
			t.Parallel()
			besideResponder(t, apart)
		})
	}
}

func besideResponder(t *testing.T, apart bool) {
	hub, _ := aHub(t)
	home := initHome(t, func(o *homes.Options) {
		o.Alias, o.Remote, o.Hubs = "white", hub.cfg.Remote, []string{hub.currentBus().Addresses().Links}
	})
	fastFetch(t, home)
	white, _ := runNode(t, home)
	awaitMeeting(t, hub, white)
	nodes := map[string]*Node{"shout": hub, "echo": white}
	addExec(t, hub, "shout", "tr a-z A-Z")
	addExec(t, white, "echo", "cat")
	bob := newResponder(t, hub.cfg.Remote, "bob")
	bob.apart = apart
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	running.Go(func() { bob.run(ctx) })
	defer running.Wait()
	defer cancel()

	const rounds, each = 5, 4
	soak := os.Getenv("PARLEY_SOAK") != ""
	var sent []protocol.Path
	for i := range rounds {
		for j := range each {
			to := []string{"shout", "echo"}[j%2]
			as := []string{to, "nat"}[i%2] // agents ask as well, and are answered by a program that answers everything
			m, err := control.Send.Ask(t.Context(), nodes[to], control.SendRequest{As: as, To: []string{"bob"}, Body: fmt.Sprintf("from %s %d.%d", as, i, j), Anyway: true})
			if err != nil {
				t.Fatal(err)
			}
			sent = append(sent, m.Path)
			bob.mu.Lock()
			bob.asks = append(bob.asks, fmt.Sprintf("%s question %d.%d", to, i, j))
			bob.mu.Unlock()
		}
		if soak {
			<-time.After(10 * time.Second)
		} else {
			eventually(t, "it has taken some", func() bool { bob.mu.Lock(); defer bob.mu.Unlock(); return bob.asked > i*each })
		}
	}

	settled := func() bool {
		files, rested := bob.rested()
		for _, n := range nodes {
			if !rested || !n.reading(func() bool { return n.state.Ledger.Len() == files }) {
				return false
			}
		}
		for name, n := range nodes {
			box, err := control.Inbox.Ask(t.Context(), n, control.InboxRequest{As: name})
			if err != nil || len(box) > 0 {
				return false
			}
		}
		for _, p := range sent {
			for _, n := range nodes {
				if m, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: p.String()}); err != nil || m.Stage != protocol.StageAnswered {
					return false
				}
			}
		}
		return true
	}
	eventually(t, "all have settled", settled)
	before := len(everything(t, hub))
	for range 3 { // nobody says anything more
		bob.mu.Lock()
		bob.idle = 0
		bob.mu.Unlock()
		eventually(t, "it has looked again", settled)
	}
	all := everything(t, hub)
	if len(all) != before {
		t.Errorf("it goes on: %d messages, then %d", before, len(all))
	}
	if !slices.Equal(paths(all), paths(everything(t, white))) {
		t.Error("the two hosts have not the same messages")
	}
	replies := map[string]int{}
	for _, m := range all {
		if m.From != "bob" && m.Type == protocol.TypeText && m.Re != "" {
			replies[m.Re]++
		}
	}
	questions := 0
	for _, m := range all {
		if m.From == "bob" && strings.HasPrefix(m.Body, "question ") {
			questions++
			if got := replies[m.Path.String()]; got != 1 || m.Stage != protocol.StageAnswered {
				t.Errorf("%q was answered %d times, and is %s", m.Body, got, m.Stage)
			}
		}
	}
	if questions != rounds*each {
		t.Errorf("it asked %d questions", questions)
	}
	for path, n := range bob.answers {
		if n != 1 {
			t.Errorf("it answered %s %d times", path, n)
		}
	}
	if most := 210; !apart && len(all) > most { // with receipts apart, some answers are taken for questions until a receipt was seen
		t.Errorf("%d messages were written, want at most %d", len(all), most)
	}
	t.Logf("%d messages", len(all))
}
