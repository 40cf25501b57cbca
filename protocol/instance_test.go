package protocol_test

import (
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// Crosstalk C15.
func TestSelectIsTheRuledVector(t *testing.T) {
	for i, want := range []int{0, 1, 2, 2, 4, 3, 2} {
		if got := protocol.Select(testRel, i+2); got != want {
			t.Errorf("of %d: got %d, want %d", i+2, got, want)
		}
	}
	if got := protocol.Select(testRel, 1<<32); got != 1151093842 {
		t.Errorf("the index before the modulus: got %d", got)
	}
	for _, size := range []int{1, 0, -1} {
		if got := protocol.Select(testRel, size); got != 0 {
			t.Errorf("of %d: got %d", size, got)
		}
	}
}

func TestSelectReachesEveryInstance(t *testing.T) {
	g := newGenerator(5)
	for size := 1; size <= 9; size++ {
		seen := make([]int, size)
		for range 2000 {
			rel := testRel[:len(testRel)-len("b2c3d4e5.md")] + g.hex(8) + ".md"
			seen[protocol.Select(rel, size)]++
		}
		for i, n := range seen {
			if n < 1000/size {
				t.Errorf("of %d: instance %d was chosen %d times in 2000", size, i, n)
			}
		}
	}
}

// R6: with haiku×5 and flash×1, index 4 is the fifth haiku.
func TestInstancesAreInOrder(t *testing.T) {
	a := protocol.HostedAgent{Name: "junior", Tiers: []protocol.Tier{{Name: "haiku", Count: 5}, {Name: "flash", Count: 1}}}
	all := a.Instances("cachy")
	if len(all) != 6 {
		t.Fatalf("got %d instances", len(all))
	}
	for i, want := range []string{"cachy/haiku/0", "cachy/haiku/1", "cachy/haiku/2", "cachy/haiku/3", "cachy/haiku/4", "cachy/flash/0"} {
		if all[i].String() != want {
			t.Errorf("%d: got %s, want %s", i, all[i], want)
		}
	}
	if none := (protocol.HostedAgent{Name: "x"}).Instances("cachy"); len(none) != 0 {
		t.Errorf("an agent without tiers has %v", none)
	}
}

func TestParseInstance(t *testing.T) {
	want := protocol.Instance{Host: "oracle-world", Tier: "opus", N: 12}
	if got, err := protocol.ParseInstance("oracle-world/opus/12"); err != nil || got != want || got.String() != "oracle-world/opus/12" {
		t.Errorf("got %s, %v", got, err)
	}
	for s, tier := range map[string]string{"a/gpt-4.1/0": "gpt-4.1", "a/meta/Llama/3/12": "meta/Llama/3", "a/B/0": "B", "a/b/0/1": "b/0", "a///0": "/"} {
		if got, err := protocol.ParseInstance(s); err != nil || got.Tier != tier || got.String() != s {
			t.Errorf("%q: got %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{
		"", "a", "a/b", "a/b/c", "a/0", "a/b c/0", "a/b=/0", "a/b/-1", "a/b/+1", "a/b/01", "a/b/ 1", "a/b/1e3", "a/b/99999999999999999999", "a/b/",
		"/b/0", "a//0", "A/b/0", "all/b/0", "a/b/٣", "a/b/0\n",
	} {
		if got, err := protocol.ParseInstance(s); err == nil {
			t.Errorf("%q was read as %s", s, got)
		}
	}
}

func FuzzParseInstance(f *testing.F) {
	for _, s := range []string{"a/b/0", "a/b/12", "a/b/00", "", "a/b/-0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if i, err := protocol.ParseInstance(s); err == nil && i.String() != s {
			t.Errorf("%q is read as %q", s, i)
		}
	})
}
