package protocol_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parleyfleet/parley/protocol"
)

func testSubjects() protocol.Subjects { return protocol.Subjects{Fleet: "maw"} }

func TestSubjectOfAMessage(t *testing.T) {
	opus := protocol.Instance{Host: "neo-mac", Tier: "opus"}
	here := protocol.Instance{Host: "white", Tier: "opus"}
	to := func(addresses ...protocol.Address) *protocol.Message {
		return &protocol.Message{Path: testPath(t), Host: "white", Type: protocol.TypeText, To: addresses}
	}
	mawjs := protocol.Address{Name: "mawjs"}
	for name, c := range map[string]struct {
		m      *protocol.Message
		chosen []protocol.Choice
		want   string
	}{
		"hey":                     {to(mawjs), nil, "hey.mawjs"},
		"hey, own host named":     {to(protocol.Address{Name: "mawjs", Host: "white"}), nil, "hey.mawjs"},
		"hey, chosen here":        {to(mawjs), []protocol.Choice{{Instance: here}}, "hey.mawjs"},
		"hey, foreign name":       {to(protocol.Address{Name: "Nat W."}), nil, "hey." + protocol.Token("Nat W.")},
		"wormhole":                {to(protocol.Address{Name: "mawjs", Host: "neo-mac"}), nil, "wormhole.neo-mac.mawjs"},
		"wormhole, chosen there":  {to(mawjs), []protocol.Choice{{Instance: opus}}, "wormhole.neo-mac.mawjs"},
		"the address wins":        {to(protocol.Address{Name: "mawjs", Host: "red"}), []protocol.Choice{{Instance: opus}}, "wormhole.red.mawjs"},
		"wormhole, foreign host":  {to(protocol.Address{Name: "mawjs", Host: "My Mac"}), nil, "wormhole." + protocol.Token("My Mac") + ".mawjs"},
		"list":                    {to(mawjs, protocol.Address{Name: "neo"}), nil, "channel." + testChannel},
		"all":                     {to(protocol.Address{Name: "all"}), nil, "broadcast"},
		"all among others":        {to(mawjs, protocol.Address{Name: "all"}), nil, "broadcast"},
		"all at one host":         {to(protocol.Address{Name: "all", Host: "red"}), nil, "wormhole.red." + protocol.Token("all")},
		"chosen for someone else": {to(mawjs), []protocol.Choice{{Agent: "neo", Instance: opus}}, "hey.mawjs"},
	} {
		c.m.Chosen = c.chosen
		if got := testSubjects().Message(c.m); got != "parley.maw.white."+c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
		c.m.Type = protocol.TypeRead
		if got := testSubjects().Message(c.m); got != "parley.maw.white.receipt" {
			t.Errorf("%s, receipt: got %s", name, got)
		}
	}
}

func TestSubjectsAreSafeWhateverTheNames(t *testing.T) {
	g := newGenerator(6)
	s := testSubjects()
	for range 2000 {
		m := g.message(t)
		m.Host = "white"
		for range g.IntN(3) {
			m.To = append(m.To, protocol.Address{Name: pick(g, []string{"*", ">", "a.b", ".", "a b", "\t"}), Host: pick(g, []string{"", ">", "*.x", "white"})})
		}
		if len(m.To) > 1 && g.maybe() {
			m.To = m.To[len(m.To)-1:]
		}
		checkSubject(t, s, s.Message(m))
	}
}

// checkSubject says whether a NATS server would take subject for exactly one
// subject of s, which parley reads.
func checkSubject(t *testing.T, s protocol.Subjects, subject string) protocol.Subject {
	t.Helper()
	if strings.ContainsAny(subject, "*> \t\r\n") || slices.Contains(strings.Split(subject, "."), "") {
		t.Errorf("%q is no subject to publish on", subject)
	}
	read, err := s.Parse(subject)
	if err != nil {
		t.Errorf("%q: %v", subject, err)
	}
	return read
}

func TestParseSubject(t *testing.T) {
	s := testSubjects()
	for subject, want := range map[string]protocol.Subject{
		s.Letter("white", protocol.KindPresence):         {Sender: "white", Kind: protocol.KindPresence},
		s.Letter("white", protocol.KindHeard):            {Sender: "white", Kind: protocol.KindHeard},
		s.Letter("white", protocol.KindHead):             {Sender: "white", Kind: protocol.KindHead},
		s.Letter("white", protocol.KindBell):             {Sender: "white", Kind: protocol.KindBell},
		s.Ask("white", "neo", "status"):                  {Sender: "white", Kind: protocol.KindAsk, Rest: []string{"neo", "status"}},
		"parley.maw.white.hey.mawjs":                     {Sender: "white", Kind: protocol.KindHey, Rest: []string{"mawjs"}},
		"parley.maw.white.wormhole.neo." + "mawjs":       {Sender: "white", Kind: protocol.KindWormhole, Rest: []string{"neo", "mawjs"}},
		"parley.maw.white.channel." + testChannel:        {Sender: "white", Kind: protocol.KindChannel, Rest: []string{testChannel}},
		"parley.maw.white.broadcast":                     {Sender: "white", Kind: protocol.KindBroadcast},
		"parley.maw.white.receipt":                       {Sender: "white", Kind: protocol.KindReceipt},
		"parley.maw.12345678.hey." + protocol.Token("é"): {Sender: "12345678", Kind: protocol.KindHey, Rest: []string{protocol.Token("é")}},
	} {
		got := checkSubject(t, s, subject)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", subject, diff)
		}
	}
	for _, subject := range []string{
		"", "parley", "parley.maw", "parley.maw.white", "parley.other.white.broadcast", "Parley.maw.white.broadcast", "parley.maw.White.broadcast",
		"parley.maw.all.broadcast", "parley.maw..broadcast", "parley.maw.*.broadcast", "parley.maw.white.shout", "parley.maw.white.broadcast.x",
		"parley.maw.white.hey", "parley.maw.white.hey.a.b", "parley.maw.white.wormhole.a", "parley.maw.white.channel", "parley.maw.white.ask.a",
		"parley.maw.white.ask.a.b.c", ".parley.maw.white.broadcast", "parley.maw.white.broadcast.", s.All(), s.From("white"),
		"parley.maw.white.hey.", "parley.maw.white.hey.*", "parley.maw.white.hey.>", "parley.maw.white.hey.a b", "parley.maw.white.wormhole..mawjs",
	} {
		if got, err := s.Parse(subject); err == nil {
			t.Errorf("%q was read as %+v", subject, got)
		}
	}
}

func TestSubjectPatterns(t *testing.T) {
	s := testSubjects()
	if s.All() != "parley.maw.>" || s.From("white") != "parley.maw.white.>" {
		t.Errorf("got %s and %s", s.All(), s.From("white"))
	}
	for _, subject := range []string{s.Letter("white", protocol.KindBell), s.Ask("white", "neo", "who"), s.Message(sample(t))} {
		if !strings.HasPrefix(subject, "parley.maw.") {
			t.Errorf("%s is outside of the fleet's pattern", subject)
		}
	}
}

func TestKindsThatCarryMessages(t *testing.T) {
	for kind, want := range map[protocol.Kind]bool{
		protocol.KindHey: true, protocol.KindWormhole: true, protocol.KindChannel: true, protocol.KindBroadcast: true, protocol.KindReceipt: true,
		protocol.KindPresence: false, protocol.KindHeard: false, protocol.KindWoken: false, protocol.KindHead: false, protocol.KindBell: false, protocol.KindAsk: false, "": false, "shout": false,
	} {
		if kind.Message() != want {
			t.Errorf("%s: got %t", kind, kind.Message())
		}
	}
}

func FuzzParseSubject(f *testing.F) {
	for _, s := range []string{"parley.maw.white.hey.mawjs", "parley.maw.white.ask.neo.status", "parley.maw.white.bell", "parley.maw.white.hey.", "parley.maw.>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, subject string) {
		s := testSubjects()
		read, err := s.Parse(subject)
		if err != nil {
			return
		}
		checkSubject(t, s, subject)
		parts := append([]string{"parley", "maw", read.Sender.String(), string(read.Kind)}, read.Rest...)
		if joined := strings.Join(parts, "."); joined != subject {
			t.Errorf("%q is read as %q", subject, joined)
		}
	})
}
