package protocol_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/protocol"
)

const (
	testRecord  = "0123456789abcdef0123456789abcdef01234567"
	testChannel = "adfe0356-0f71-49a9-80a0-fb76883cd974"
	testRel     = "2026/05/23/190100000Z-b2c3d4e5.md"
)

// sameMessage compares two messages. An absent list and an empty one make the same file, and so do
// times within a millisecond.
func sameMessage(a, b *protocol.Message) string {
	return cmp.Diff(a, b, cmpopts.EquateEmpty(),
		cmp.Comparer(func(p, q protocol.Path) bool { return p == q }),
		cmp.Comparer(func(t, u time.Time) bool {
			return t.Truncate(time.Millisecond).Equal(u.Truncate(time.Millisecond))
		}))
}

func path(t testing.TB, s string) protocol.Path {
	t.Helper()
	p, err := protocol.ParsePath(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// testPath returns the path that most tests use.
func testPath(t testing.TB) protocol.Path {
	t.Helper()
	return path(t, testChannel+"/"+testRel)
}

// testKey returns a key that is the same in every run.
func testKey(t testing.TB, n byte) nkeys.KeyPair {
	t.Helper()
	var raw [32]byte
	for i := range raw {
		raw[i] = n
	}
	key, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, raw[:])
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sample returns a message of a host that signs, with every kind of field but a signature.
func sample(t testing.TB) *protocol.Message {
	t.Helper()
	return &protocol.Message{
		Path:      testPath(t),
		From:      "nat",
		To:        []protocol.Address{{Name: "mawjs", Host: "white"}},
		Type:      protocol.TypeText,
		Timestamp: time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC),
		Act:       protocol.ActHey,
		Re:        "2026/05/23/190000000Z-00000001.md",
		Hops:      1,
		Host:      "oracle-world",
		Run:       "0badcafe",
		Seq:       7,
		Prev:      strings.Repeat("ab", 32),
		Body:      "How far is the moon?\nRoughly.",
	}
}

// trapNames returns names that a YAML reader or a careless writer gets wrong. Names with a colon
// stand apart in colonNames, because as addressees they read as "alias:name".
func trapNames() []string {
	return []string{
		"yes", "No", "on", "OFF", "y", "N", "true", "False", "null", "NULL", "Null", "~",
		"1e5", "0x1f", "0x1ffffffffffffffffffffff", "0o17", "0b11", "017", "08", "1_000", "12345678", "1e345678",
		"0e123456", "1.5", ".5", "1.", "-1", "+1", "-", ".inf", "-.inf", ".nan", ".NaN", "._", "_", ".", "..", "...", "=", "<<",
		"2026-05-23", "2026-5-3", "2026-99-99", "#x", "x #y", "x#y", "- a", "? a", "-a", "'q'", "it's", `"`, `"q"`, `\`, `a\nb`,
		"a, b", "[a, b]", "{a}", "[", "]", "{", "}", ",", "&a", "*a", "!a", "!!str a", "%a", "|", ">", ">-", "`a`", "---", "a---", "--- a",
		"a  b", "Nat Weerawan", "ops.bot", "a/b", "\U0001f98a", "fox \U0001f98a", "👩‍👩‍👧", "ณัฐ", "日本語", "Ελλάδα", "الوكيل", "١٢٣", "é", "e\u0301",
		"\u202eabc", "a\u2028b", "a\u200bb", "a\ufeffb", "a\ufffeb", "a\uffffb", "a\ufffdb", "<script>", "$(touch pwned)", "a\u00a0b", "x-00000000000000000000000000000000",
		strings.Repeat("n", 255),
	}
}

func colonNames() []string {
	return []string{"12:30", "a: b", "a:", ":a", "a:b:c", "190:20:30", "http://x"}
}

// generator makes valid messages from a fixed seed.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 2026))} }

func pick[T any](g generator, from []T) T { return from[g.IntN(len(from))] }

func (g generator) maybe() bool { return g.IntN(2) == 0 }

func (g generator) hex(n int) string {
	digits := pick(g, []string{"0123456789abcdef", "0123456789", "0123456789e"})
	var b strings.Builder
	for range n {
		b.WriteByte(digits[g.IntN(len(digits))])
	}
	return b.String()
}

func (g generator) body() string {
	whole := []string{
		"", "hello", "---\nfrom: x\nto: y\n---\nnot a message", "---", "\n\nleading", "trailing spaces   ", "  indented",
		"a\rb", "a\r\nb\r", "\r", " ", "\ttab", "\x00\x01\x1b[31m", "ACCEPT | from: x", "\ufeffbom", strings.Repeat("0123456789\n", 10_000) + ".",
	}
	if g.maybe() {
		return pick(g, whole)
	}
	runes := []rune("ab \n\r\t-:#'\"\\[]{}|>&*!%@`é\u0e01日\U0001f98a\u2028\u0085")
	var b strings.Builder
	for range g.IntN(200) {
		b.WriteRune(pick(g, runes))
	}
	return protocol.NormalBody(b.String())
}

func (g generator) addresses() []protocol.Address {
	names := append(trapNames(), "mawjs", "neo", protocol.All)
	var to []protocol.Address
	for range 1 + g.IntN(4) {
		a := protocol.Address{Name: pick(g, names)}
		if g.maybe() {
			a.Host = pick(g, []string{"white", "0", "12", "Steve's Mac"})
		}
		to = append(to, a)
	}
	return to
}

func (g generator) message(t testing.TB) *protocol.Message {
	at := time.UnixMilli(g.Int64N(4_000_000_000_000)).UTC()
	m := &protocol.Message{
		Path:      protocol.NewPath(testChannel, at, g.Uint32()),
		From:      pick(g, append(trapNames(), colonNames()...)),
		To:        g.addresses(),
		Type:      protocol.TypeText,
		Timestamp: at,
		Act:       pick(g, []protocol.Act{"hey", "tell", "broadcast", "reply", "failed", "accept", "some-later-act"}),
		Body:      g.body(),
	}
	if g.IntN(4) == 0 {
		m.Type, m.Act, m.Ref, m.Body = protocol.TypeRead, protocol.ActRead, testRel, ""
	}
	g.optional(m)
	if g.maybe() {
		g.node(m)
	}
	return m
}

// optional gives `m` fields that any participant may write.
func (g generator) optional(m *protocol.Message) {
	texts := append(append(trapNames(), colonNames()...), "a\nb", "a\tb", " padded ", "\u0085", "a\u0085b", "\x7f", "\x1b[0m", "nat@white")
	for _, to := range []*string{&m.Via, &m.Re, &m.Human} {
		if g.maybe() {
			*to = pick(g, texts)
		}
	}
	m.Request = pick(g, []string{"", "", "job-7.1", "1e5", "null", "12:30", "0x1f", "-", "2026-05-23", strings.Repeat("x", protocol.MaxRequest)})
	for i := range g.IntN(3) {
		key := pick(g, []string{"subject", "x-Later", "null", "yes", "Y", "on"}) + strings.Repeat("_", i)
		m.Extra = append(m.Extra, protocol.Field{Key: key, Value: pick(g, texts)})
	}
}

// node gives `m` the fields that a parley node writes.
func (g generator) node(m *protocol.Message) {
	m.Hops = g.IntN(9)
	m.Host = pick(g, []protocol.Name{"white", "12345678", "1e5", "null", "yes", "0x1f"})
	m.Run, m.Seq, m.Prev = g.hex(8), 1+g.Uint64N(1<<40), g.hex(64)
	m.Key, m.Sig = "UAKEY", g.hex(86)
	if g.maybe() {
		m.Chosen = []protocol.Choice{{Instance: protocol.Instance{Host: m.Host, Tier: "opus", N: g.IntN(5)}}}
	}
	if g.maybe() {
		m.Chosen = append(m.Chosen, protocol.Choice{Agent: "neo", Instance: protocol.Instance{Host: "white", Tier: "inbox"}})
	}
}
