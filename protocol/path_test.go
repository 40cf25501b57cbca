package protocol_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

func TestNewPath(t *testing.T) {
	bangkok, newYork := time.FixedZone("", 7*3600), time.FixedZone("", -5*3600)
	for _, c := range []struct {
		at     time.Time
		suffix uint32
		want   string
	}{
		{time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC), 0xb2c3d4e5, testRel},
		{time.Date(2026, 5, 24, 2, 1, 0, 0, bangkok), 0xb2c3d4e5, testRel},
		{time.Date(2026, 5, 23, 23, 59, 59, 999_999_999, time.UTC), 0, "2026/05/23/235959999Z-00000000.md"},
		{time.Date(2026, 5, 24, 0, 0, 0, 0, time.UTC), 0xffffffff, "2026/05/24/000000000Z-ffffffff.md"},
		{time.Date(2026, 12, 31, 20, 0, 0, 999_999, newYork), 1, "2027/01/01/010000000Z-00000001.md"},
		{time.Date(2024, 2, 29, 1, 2, 3, 4_000_000, time.UTC), 0x1f, "2024/02/29/010203004Z-0000001f.md"},
		{time.Date(1, 2, 3, 4, 5, 6, 0, time.UTC), 1, "0001/02/03/040506000Z-00000001.md"},
	} {
		p := protocol.NewPath(testChannel, c.at, c.suffix)
		if p.Rel() != c.want {
			t.Errorf("%s: got %s, want %s", c.at, p.Rel(), c.want)
		}
		if got := p.Time(); !got.Equal(c.at.Truncate(time.Millisecond)) || got.Location() != time.UTC {
			t.Errorf("%s: its time is %s", p, got)
		}
		if !p.Strict() || p.Suffix() != c.want[len(c.want)-11:len(c.want)-3] {
			t.Errorf("%s: strict %t, suffix %q", p, p.Strict(), p.Suffix())
		}
		if q := path(t, p.String()); q != p {
			t.Errorf("%s is read as %s", p, q)
		}
	}
}

// It prevents: a path that says another time than its message's, where digits are put by hand.
func TestPathsSayTheTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	times := []time.Time{{}, time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10_000, 1, 1, 0, 0, 0, 1e6, time.UTC)}
	for range 1000 {
		times = append(times, time.UnixMicro(random.Int64N(8_000_000_000_000_000)))
	}
	for _, at := range times {
		want := strings.Replace(at.UTC().Format("2006/01/02/150405.000Z"), ".", "", 1) + "-00000001.md"
		if got := protocol.NewPath("", at, 1).Rel(); got != want {
			t.Errorf("%s is the path %s, want %s", at, got, want)
		}
	}
}

func TestPathForms(t *testing.T) {
	p := testPath(t)
	const whole = testChannel + "/" + testRel
	if p.String() != whole || p.RepoPath() != "data/channels/"+whole || p.Rel() != testRel || p.Channel() != testChannel {
		t.Errorf("got %s, %s, %s, %s", p, p.RepoPath(), p.Rel(), p.Channel())
	}
	joined, err := protocol.JoinPath(testChannel, testRel)
	if err != nil || joined != p {
		t.Errorf("joined: %s, %v", joined, err)
	}
	if q := path(t, p.RepoPath()); q != p {
		t.Errorf("with data/channels/ before it: %s", q)
	}
	if p.Short() != "b2c3d4e5" {
		t.Errorf("for short it is %s", p.Short())
	}
	if q := path(t, testChannel+"/2026/05/23/note.md"); q.Short() != q.String() {
		t.Errorf("one of another form is for short %s", q.Short())
	}
	capitals := path(t, strings.ToUpper(testChannel)+"/"+testRel) // another folder, which stays as it is spelled
	if capitals == p || capitals.RepoPath() != "data/channels/"+strings.ToUpper(testChannel)+"/"+testRel {
		t.Errorf("with the channel in capitals: %s", capitals)
	}
}

func TestParsePathReadsWhatOthersWrite(t *testing.T) {
	for rel, strict := range map[string]bool{
		"2026/05/23/190100000Z-b2c3d4e5.md":                 true,
		"2026/05/23/190100000Z-b2c3d4e5f60718293a4b.md":     true,
		"2026/05/23/190100000Z-B2C3D4E5.md":                 false,
		"2026/05/23/190100000Z-b2c3d4e.md":                  false,
		"2026/05/23/190100000Z.md":                          false,
		"2026/05/23/996100000Z-b2c3d4e5.md":                 false,
		"2026/13/45/190100000Z-b2c3d4e5.md":                 false,
		"2026/02/30/190100000Z-b2c3d4e5.md":                 false,
		"2026/05/23/note.md":                                false,
		"2026/05/23/note-1.md":                              false,
		"2026/05/23/a b (1).md":                             false,
		"2026/05/23/ข้อความ.md":                             false,
		"2026/05/23/a..md":                                  false,
		"2026/05/23/-.md":                                   false,
		"2026/05/23/" + strings.Repeat("a", 241) + ".md":    false,
		"2026/05/23/190100000Z-b2c3d4e5.md.md":              false,
		"2026/05/23/190100000Z-b2c3d4e5 (conflict copy).md": false,
	} {
		p := path(t, testChannel+"/"+rel)
		if p.Rel() != rel {
			t.Errorf("%s is read as %s", rel, p.Rel())
		}
		if p.Strict() != strict || p.Strict() != (p.Suffix() != "") {
			t.Errorf("%s: strict %t, suffix %q", rel, p.Strict(), p.Suffix())
		}
	}
}

func TestParsePathRefuses(t *testing.T) {
	const c = testChannel + "/"
	for _, s := range []string{
		"", "/", testChannel, c, c + "2026/05/23", c + "2026/05/23/", c + "2026/05/23/.md", c + "2026/05/23/..md", c + "2026/05/23/.hidden.md",
		"/" + c + testRel, "./" + c + testRel, "../" + c + testRel, "data/" + c + testRel, "data/channels/data/channels/" + c + testRel,
		"/data/channels/" + c + testRel, "data/channels//" + c + testRel, "DATA/channels/" + c + testRel,
		c + "/" + testRel, c + "./" + testRel, c + "../" + testRel, c + "2026/05/23/../24/a.md", c + "2026/05/23/sub/a.md", c + "2026//05/23/a.md",
		c + "2026/05/23/../../../../../etc/passwd.md", c + "2026/05/23/a\\b.md", c + "2026\\05\\23\\a.md", c + "2026/05/23/a\x00.md",
		c + "2026/05/23/a\n.md", c + "2026/05/23/a\x1b[0m.md", c + "2026/05/23/a\x7f.md", c + "2026/05/23/a\u0085.md", c + "2026/05/23/\xff.md",
		c + "2026/05/23/a.txt", c + "2026/05/23/a.md ", c + "2026/05/23/a.MD", c + "CHANNEL.md", c + "2026/CHANNEL.md", c + "26/05/23/a.md", c + "2026/5/23/a.md",
		c + "2026/05/23/" + strings.Repeat("a", 242) + ".md", c + "٢٠٢٦/05/23/a.md",
		"adfe0356/" + testRel, "adfe03560f7149a980a0fb76883cd974/" + testRel, "gdfe0356-0f71-49a9-80a0-fb76883cd974/" + testRel,
		" " + c + testRel, "{" + testChannel + "}/" + testRel,
	} {
		if p, err := protocol.ParsePath(s); err == nil {
			t.Errorf("%q was read as %s", s, p)
		} else if !p.IsZero() {
			t.Errorf("%q: an error and the path %s", s, p)
		}
	}
}

func TestPathsOrderByTime(t *testing.T) {
	g := newGenerator(4)
	at := time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC)
	var paths []protocol.Path
	for range 500 {
		paths = append(paths, protocol.NewPath(protocol.NewChannelID([16]byte{byte(g.Uint32())}), at, g.Uint32()))
		at = at.Add(time.Millisecond << g.IntN(35))
	}
	shuffled := slices.Clone(paths)
	g.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	slices.SortFunc(shuffled, protocol.Path.Compare)
	if !slices.Equal(shuffled, paths) {
		t.Error("paths do not sort by the time they state")
	}
	a, b := path(t, "00000000-0f71-49a9-80a0-fb76883cd974/"+testRel), testPath(t)
	if a.Compare(b) >= 0 || b.Compare(a) <= 0 || a.Compare(a) != 0 {
		t.Error("paths of one moment do not sort by channel")
	}
}

func TestPathInJSON(t *testing.T) {
	type shown struct {
		Path protocol.Path `json:"path"`
	}
	for _, want := range []shown{{}, {testPath(t)}, {path(t, testChannel+"/2026/05/23/\"q\" <é>.md")}} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got shown
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s is read as %s, %v", text, got.Path, err)
		}
	}
	if text, _ := json.Marshal(shown{testPath(t)}); string(text) != `{"path":"`+testChannel+"/"+testRel+`"}` {
		t.Errorf("got %s", text)
	}
	p := testPath(t)
	if err := json.Unmarshal([]byte(`"../../etc/passwd.md"`), &p); err == nil || p != testPath(t) {
		t.Errorf("a bad path was read as %s, %v", p, err)
	}
}

func TestParseChannelID(t *testing.T) {
	capitals := protocol.ChannelID(strings.ToUpper(testChannel))
	for _, want := range []protocol.ChannelID{testChannel, capitals} {
		if id, err := protocol.ParseChannelID(want.String()); err != nil || id != want || !slices.Contains(id.Spellings(), testChannel) || !slices.Contains(id.Spellings(), capitals) {
			t.Errorf("got %s, %v", id, err)
		}
	}
	for _, s := range []string{"", "all", testChannel + "0", testChannel[1:], testChannel + "\n", "../" + testChannel, strings.ReplaceAll(testChannel, "-", "")} {
		if id, err := protocol.ParseChannelID(s); err == nil {
			t.Errorf("%q was read as %s", s, id)
		}
	}
}

func TestChannelIDsAreUUIDsOfVersion4(t *testing.T) {
	ids := []protocol.ChannelID{
		protocol.NewChannelID([16]byte{}), protocol.NewChannelID([16]byte{6: 0xff, 8: 0xff}), protocol.SystemChannel(testRecord),
		protocol.DeriveChannel(testRecord, "a"), protocol.DeriveChannel(testRecord, "a", "b"), protocol.DeriveChannel("", "all"),
	}
	for _, id := range ids {
		if got, err := protocol.ParseChannelID(id.String()); err != nil || got != id {
			t.Errorf("%s is read as %s, %v", id, got, err)
		}
		if id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) {
			t.Errorf("%s is no UUID v4", id)
		}
	}
}

func TestDeriveChannel(t *testing.T) {
	id := protocol.DeriveChannel(testRecord, "neo", "mawjs", "nat")
	if other := protocol.DeriveChannel(testRecord, "nat", "neo", "mawjs", "neo"); other != id {
		t.Errorf("the order or repetition of names matters: %s and %s", id, other)
	}
	names := []string{"neo", "mawjs"}
	protocol.DeriveChannel(testRecord, names...)
	if names[0] != "neo" {
		t.Error("the caller's names were sorted")
	}
	seen := map[protocol.ChannelID]bool{id: true, protocol.SystemChannel(testRecord): true}
	for _, other := range []protocol.ChannelID{
		protocol.DeriveChannel(testRecord), protocol.DeriveChannel(testRecord, "hosts"), protocol.DeriveChannel(testRecord, "neo", "mawjs"),
		protocol.DeriveChannel(testRecord, "neomawjs"), protocol.DeriveChannel(testRecord, "ne", "omawjs"), protocol.SystemChannel("x"),
		protocol.DeriveChannel("other", "neo", "mawjs", "nat"),
	} {
		if seen[other] {
			t.Errorf("%s stands for two different things", other)
		}
		seen[other] = true
	}
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{testChannel + "/" + testRel, "data/channels/" + testChannel + "/2026/05/23/a b.md", "../x", "", testChannel + "/2026/05/23/..\\a.md"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := protocol.ParsePath(s)
		if err != nil {
			return
		}
		for _, form := range []string{p.String(), p.RepoPath()} {
			if q, err := protocol.ParsePath(form); err != nil || q != p {
				t.Errorf("%q is read as %s, %v", form, q, err)
			}
		}
		parts := strings.Split(p.RepoPath(), "/")
		if len(parts) != 7 || slices.Contains(parts, "") || slices.Contains(parts, ".") || slices.Contains(parts, "..") {
			t.Errorf("%q leaves its folder", p.RepoPath())
		}
		if p.Strict() && protocol.NewPath(p.Channel(), p.Time(), 0).Rel()[:21] != p.Rel()[:21] {
			t.Errorf("%s: its time is %s", p, p.Time())
		}
	})
}
