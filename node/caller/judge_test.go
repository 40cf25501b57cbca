package caller

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// own is the connection of this program with itself. Nothing speaks against it.
func own() *process.Peer {
	return &process.Peer{UID: os.Getuid(), ID: process.ID{PID: os.Getpid()}}
}

func wantRefused(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || control.AsError(err).Kind != control.KindRefused || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v, want a refusal with %q", err, part)
	}
}

// All that is known of a caller decides, and the strictest fact wins.
func TestStrictestWins(t *testing.T) {
	at := &clock{time.Unix(1_800_000_000, 0)}
	b := book(at.now)
	one, two := b.Begin("mawjs", letter(1), time.Minute), b.Begin("mawjs", letter(2), time.Minute)
	other := b.Begin("volt", letter(3), time.Minute)
	member := b.BeginAlone("mawjs", time.Minute)
	if member.Token != "" {
		t.Error("a member of an inquiry has a token")
	}
	of := func(r *Run) sight { return sight{run: r, how: "the test"} }
	blind, stray, ended := sight{blind: "unseen"}, sight{stray: "somebody's"}, sight{gone: "it has ended"}
	for _, test := range []struct {
		name  string
		seen  sight
		call  control.Calling
		kind  control.CallerKind
		as    protocol.Name
		cause protocol.Path
		wrong string
	}{
		{name: "nothing against it", kind: control.Operator, as: "nat"},
		{name: "the human's own name", call: control.Calling{Agent: "nat"}, kind: control.Operator, as: "nat"},
		{name: "a name lowers", call: control.Calling{Agent: "mawjs"}, kind: control.ByAgent, as: "mawjs"},
		{name: "a process of a run", seen: of(one), kind: control.ByAgent, as: "mawjs", cause: letter(1)},
		{name: "with its own token", seen: of(one), call: control.Calling{Token: one.Token, Agent: "mawjs"}, kind: control.ByAgent, as: "mawjs", cause: letter(1)},
		{name: "with a standing token of its agent", seen: of(one), call: control.Calling{Token: b.Standing("mawjs")}, kind: control.ByAgent, as: "mawjs", cause: letter(1)},
		{name: "with another agent's token", seen: of(one), call: control.Calling{Token: other.Token}, wrong: "that of another run, of volt"},
		{name: "with the token of another run of its agent", seen: of(one), call: control.Calling{Token: two.Token}, wrong: "that of another run"},
		{name: "with another's standing token", seen: of(one), call: control.Calling{Token: b.Standing("volt")}, wrong: "of volt"},
		{name: "with another's name", seen: of(one), call: control.Calling{Agent: "volt"}, wrong: `PARLEY_AGENT says "volt"`},
		{name: "with the human's name", seen: of(one), call: control.Calling{Agent: "nat"}, wrong: `PARLEY_AGENT says "nat"`},
		{name: "a member of an inquiry", seen: of(member), wrong: "a member of an inquiry, which works alone"},
		{name: "a member with a token", seen: of(member), call: control.Calling{Token: b.Standing("mawjs")}, wrong: "a member of an inquiry"},
		{name: "a copied token elsewhere", call: control.Calling{Token: other.Token}, kind: control.ByAgent, as: "volt", cause: letter(3)},
		{name: "a copied token and another name", call: control.Calling{Token: other.Token, Agent: "mawjs"}, wrong: "PARLEY_AGENT says"},
		{name: "no token at all", call: control.Calling{Token: "hello"}, wrong: "it is no token of this node"},
		{name: "a token that was changed", call: control.Calling{Token: "x" + one.Token}, wrong: "it is no token of this node"},
		{name: "somebody's, nobody knows whose", seen: stray, call: control.Calling{Agent: "mawjs"}, kind: control.ByAgent},
		{name: "the same with a token", seen: stray, call: control.Calling{Token: other.Token}, kind: control.ByAgent, as: "volt", cause: letter(3)},
		{name: "unseen", seen: blind, kind: control.Unattended, as: "nat"},
		{name: "unseen, with a name", seen: blind, call: control.Calling{Agent: "volt"}, kind: control.Unattended, as: "volt"},
		{name: "unseen, with a token", seen: blind, call: control.Calling{Token: one.Token}, kind: control.ByAgent, as: "mawjs", cause: letter(1)},
		{name: "ended", seen: ended, wrong: "cannot tell who calls: it has ended"},
		{name: "ended, with a name", seen: ended, call: control.Calling{Agent: "volt"}, wrong: "it has ended"},
		{name: "ended, with a token", seen: ended, call: control.Calling{Token: one.Token}, kind: control.ByAgent, as: "mawjs", cause: letter(1)},
	} {
		got, err := b.decide(test.call, test.seen)
		if test.wrong != "" {
			wantRefused(t, err, test.wrong)
			continue
		}
		if err != nil || got.Kind != test.kind || got.Name != test.as || got.Because != test.cause {
			t.Errorf("%s: %+v, %v; want %s %q because of %s", test.name, got, err, test.kind, test.as, test.cause)
		}
	}
}

// On the socket for agents nobody is the operator. The node's user alone is not let in either.
func TestSocketForAgents(t *testing.T) {
	b := book(nil)
	for _, call := range []control.Calling{{Peer: own()}, {Peer: own(), Agent: "mawjs"}, {}} {
		_, err := b.JudgeAgent(call)
		wantRefused(t, err, "no token was shown")
	}
	got, err := b.JudgeAgent(control.Calling{Peer: own(), Token: b.Standing("mawjs")})
	if err != nil || got.Kind != control.ByAgent || got.Name != "mawjs" {
		t.Errorf("with a token: %+v, %v", got, err)
	}
}

// A token outlives its run by an hour, also after the node was started anew. A standing token lasts
// as long as its agent is served.
func TestTokensEnd(t *testing.T) {
	at := &clock{time.Unix(1_800_000_000, 0)}
	b := book(at.now)
	run, standing := b.Begin("mawjs", letter(1), 10*time.Minute), b.Standing("mawjs")
	gone := b.Standing("gone")
	counts := func(b *Book, token string) bool {
		_, err := b.Judge(control.Calling{Peer: own(), Token: token})
		if err != nil {
			wantRefused(t, err, "PARLEY_TOKEN is refused")
		}
		return err == nil
	}
	want := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: counts %v, want %v", what, got, want)
		}
	}
	at.at = at.at.Add(5 * time.Minute)
	run.End(false)
	at.at = at.at.Add(time.Hour)
	want("an hour after its run", counts(b, run.Token), true)
	at.at = at.at.Add(time.Second)
	want("later", counts(b, run.Token), false)
	b.Begin("mawjs", letter(2), time.Minute) // this forgets what is over
	want("forgotten", counts(b, run.Token), false)
	want("a standing one", counts(b, standing), true)
	want("of an agent that is not served", counts(b, gone), false)

	cut := b.Begin("volt", letter(3), 10*time.Minute)
	at.at = at.at.Add(time.Minute)
	next := book(at.now) // the node is started anew: the run was cut short
	at.at = at.at.Add(time.Hour)
	want("an hour after the node's end", counts(next, cut.Token), true)
	at.at = at.at.Add(time.Second)
	want("later", counts(next, cut.Token), false)
	later := book(at.now)
	at.at = at.at.Add(10 * time.Minute)
	want("two starts later", counts(later, cut.Token), false)
}

// For an hour, the message that an agent without a run was given last is the cause of what it
// writes.
func TestLastGiven(t *testing.T) {
	at := &clock{time.Unix(1_800_000_000, 0)}
	b := book(at.now)
	cause := func() protocol.Path {
		c, err := b.Judge(control.Calling{Peer: own(), Agent: "mawjs"})
		if err != nil {
			t.Fatal(err)
		}
		return c.Because
	}
	if got := cause(); !got.IsZero() {
		t.Errorf("before it was given anything, it writes because of %s", got)
	}
	b.Gave("mawjs", letter(1))
	b.Gave("mawjs", letter(2))
	if got := cause(); got != letter(2) {
		t.Errorf("it writes because of %s, want %s", got, letter(2))
	}
	at.at = at.at.Add(time.Hour + time.Second)
	if got := cause(); !got.IsZero() {
		t.Errorf("more than an hour later it writes because of %s", got)
	}
}

// A text in PARLEY_TOKEN is refused, unless it is, byte for byte, a token that the node has made,
// now or before it was started anew.
func FuzzToken(f *testing.F) {
	b := book(nil)
	good := b.Begin("mawjs", letter(1), time.Minute).Token
	for _, seed := range []string{"", ".", good, good + "A", "e30." + good, strings.Repeat("A", 2000), b.seal(token{})} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if made, err := b.open(text); err == nil && text != b.seal(made) {
			t.Errorf("%q is taken for a token", text)
		}
	})
}
