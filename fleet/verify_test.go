package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// wrongs returns what Verify finds wrong, each time with the suffix of the message's path.
func wrongs(t *testing.T, files []testFile) []string {
	t.Helper()
	s := New(keys.Anchor{RecordID: testRecord})
	for _, f := range files {
		if _, err := s.Apply(f.path, f.data); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	for _, f := range s.Verify(time.Unix(2e9, 0)) {
		if f.Wrong {
			found = append(found, f.Path.Suffix()+" "+f.Text)
		}
	}
	return found
}

func TestVerifyFollowsTheChain(t *testing.T) {
	h := newTestHost(t, "white", "white")
	files := []testFile{h.write(t, New(keys.Anchor{RecordID: testRecord}).hostDraft(protocol.ActHostJoin, protocol.HostState{
		Host: "white", Key: h.public(t), Humans: []protocol.Name{"nat"}}), time.Unix(1e9, 0), 0)}
	say := Draft{Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Body: "word"},
		Channel: protocol.DeriveChannel(testRecord, "a", "b")}
	for i := 1; i < 5; i++ {
		files = append(files, h.write(t, say, time.Unix(1e9+int64(i), 0), uint32(i)))
	}
	if found := wrongs(t, files); len(found) > 0 {
		t.Fatalf("a whole chain: %q", found)
	}
	for name, test := range map[string]struct {
		files []testFile
		want  []string
	}{
		"one is missing":  {append(append([]testFile{}, files[:2]...), files[3:]...), []string{"00000003 the chain of white has a hole before it"}},
		"the first is":    {files[1:], nil}, // without its join a host has no chain
		"the last one is": {files[:4], nil}, // nobody can see that from the record alone
	} {
		found := wrongs(t, test.files)
		for i, want := range test.want {
			if i >= len(found) || !strings.HasPrefix(found[i], want) {
				t.Errorf("%s: %q, want %q", name, found, test.want)
			}
		}
		if len(found) != len(test.want) {
			t.Errorf("%s: %q, want %q", name, found, test.want)
		}
	}
	// If two runs go on from one message, the fork is told once, with the message that it is
	// beside. No more is told of either branch.
	other := *h
	other.run, other.seq, other.prev = "0badcaf2", 0, protocol.Hash(files[2].data)
	branches := append([]testFile{}, files...)
	for i := range 2 {
		branches = append(branches, other.write(t, say, time.Unix(1e9+3, 5e8+int64(i)*1e6), uint32(20+i)))
	}
	if found := wrongs(t, branches); len(found) != 1 || !strings.HasPrefix(found[0], "00000014 the chain of white forks before it: "+files[3].path.String()) {
		t.Errorf("two branches: %q", found)
	}
	// A restored backup that goes on in the same run writes a second message at the same place.
	h.seq -= 2
	h.prev = protocol.Hash(files[2].data)
	twin := h.write(t, say, time.Unix(1e9+9, 0), 9)
	found := wrongs(t, append(files, twin))
	if len(found) != 2 || !strings.Contains(found[0], "has the same place in the chain of white") || !strings.Contains(found[1], "forks before it: "+files[3].path.String()) {
		t.Errorf("a fork: %q", found)
	}
}

// A person who writes by hand may leave out milliseconds. Another time is wrong, because people
// look for a message by the name of its file. It prevents: a check that blames every message of a
// participant who writes whole seconds.
func TestVerifyComparesTimes(t *testing.T) {
	channel := protocol.DeriveChannel(testRecord, "a", "b")
	for name, test := range map[string]struct {
		file, stamp string
		wrong       bool
	}{
		"the same":           {"2026/05/23/190100123Z-00000001.md", "2026-05-23T19:01:00.123Z", false},
		"another offset":     {"2026/05/23/190100000Z-00000001.md", "2026-05-23T21:01:00+02:00", false},
		"whole seconds":      {"2026/05/23/190100123Z-00000001.md", "2026-05-23T19:01:00Z", false},
		"a whole name":       {"2026/05/23/190100000Z-00000001.md", "2026-05-23T19:01:00.123Z", false},
		"other milliseconds": {"2026/05/23/190100124Z-00000001.md", "2026-05-23T19:01:00.123Z", true},
		"another day":        {"2026/05/24/190100000Z-00000001.md", "2026-05-23T19:01:00Z", true},
		"a name of its own":  {"2026/05/24/hello.md", "2026-05-23T19:01:00Z", false},
	} {
		path, err := protocol.JoinPath(channel, test.file)
		if err != nil {
			t.Fatal(err)
		}
		data := []byte("---\nfrom: nat\nto: mawjs\ntype: text\ntimestamp: " + test.stamp + "\n---\n\nhello\n")
		if found := wrongs(t, []testFile{{path: path, data: data}}); (len(found) > 0) != test.wrong {
			t.Errorf("%s: %q", name, found)
		}
	}
}
