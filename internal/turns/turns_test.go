package turns

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// letter is an item of the tests. Its number says how old it is.
type letter struct {
	age  int
	of   string
	talk string
}

func newQueue() *Queue[letter, string] {
	return New[letter, string](func(a, b letter) bool { return a.age < b.age })
}

func put(q *Queue[letter, string], l letter) {
	group := l.of
	if strings.HasPrefix(l.of, "?") { // these senders take turns with each other
		group = "?"
	}
	q.Put(l, l.talk, group, l.of)
}

// taken returns all that waits in the order in which it is taken.
func taken(q *Queue[letter, string]) string {
	var all []string
	for {
		next, more := q.Next()
		l, ok := q.Take()
		if ok != more || l != next {
			panic("Next says otherwise than Take")
		}
		if !ok {
			return strings.Join(all, " ")
		}
		all = append(all, fmt.Sprint(l.of, l.age))
	}
}

// It prevents: one sender with many letters keeps all others waiting behind them.
func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		letters []letter
		want    string
	}{
		"one":                   {[]letter{{2, "a", "2"}, {1, "a", "1"}, {3, "a", "3"}}, "a1 a2 a3"},
		"a flood":               {[]letter{{1, "a", "1"}, {2, "a", "2"}, {3, "a", "3"}, {4, "b", "4"}, {5, "c", "5"}, {6, "b", "6"}}, "a1 b4 c5 a2 b6 a3"},
		"names for the taking":  {[]letter{{1, "?x", "1"}, {2, "?y", "2"}, {3, "?z", "3"}, {4, "?x", "4"}, {5, "a", "5"}, {6, "a", "6"}}, "?x1 a5 ?y2 a6 ?z3 ?x4"},
		"one talk":              {[]letter{{1, "a", "1"}, {2, "a", "t"}, {3, "b", "t"}, {4, "b", "4"}, {5, "c", "5"}}, "a1 a2 c5 b3 b4"},
		"talks behind talks":    {[]letter{{1, "c", "x"}, {2, "b", "x"}, {3, "b", "y"}, {4, "a", "y"}}, "c1 b2 b3 a4"},
		"nobody but the talk's": {[]letter{{3, "a", "t"}, {1, "b", "t"}, {2, "c", "t"}}, "b1 c2 a3"},
	} {
		q := newQueue()
		for _, l := range c.letters {
			put(q, l)
		}
		if got := taken(q); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A sender that comes often, and never has more than one letter waiting, gets no more than others.
func TestWhoComesOftenGetsNoMore(t *testing.T) {
	q := newQueue()
	age := 0
	add := func(of string) {
		age++
		put(q, letter{age, of, fmt.Sprint(age)})
	}
	for range 20 {
		add("many")
	}
	count := map[string]int{}
	for range 20 {
		add("often")
		l, _ := q.Take()
		count[l.of]++
	}
	if count["many"] < 9 {
		t.Errorf("taken %v", count)
	}
}

// Whatever comes in whatever order, of a sender and of a talk the older letter is first. All
// letters are taken once, and nobody waits for more than one turn of each of the others.
func TestOrderIsKept(t *testing.T) {
	for seed := range 300 {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		q := newQueue()
		waiting := map[letter]bool{}
		n := 1 + r.IntN(200)
		ages := r.Perm(n)
		took := 0
		for len(ages) > 0 || len(waiting) > 0 {
			if len(ages) > 0 && r.IntN(3) > 0 {
				of := string(rune('a' + r.IntN(5)))
				if r.IntN(3) == 0 {
					of = "?" + of
				}
				l := letter{ages[0], of, fmt.Sprint(r.IntN(1 + n/2))}
				ages = ages[1:]
				put(q, l)
				waiting[l] = true
				continue
			}
			if r.IntN(10) == 0 {
				for gone := range waiting {
					if l, ok := q.Remove(func(l letter) bool { return l == gone }); !ok || l != gone {
						t.Fatalf("seed %d: %v was not there", seed, gone)
					}
					delete(waiting, gone)
					took++
					break
				}
				continue
			}
			l, ok := q.Take()
			if !ok {
				continue
			}
			if took++; !waiting[l] {
				t.Fatalf("seed %d: %v was taken and did not wait", seed, l)
			}
			delete(waiting, l)
			for other := range waiting {
				if other.age < l.age && (other.of == l.of || other.talk == l.talk) {
					t.Fatalf("seed %d: %v was taken before %v", seed, l, other)
				}
			}
		}
		if took != n || q.Len() != 0 || len(q.All()) != 0 || len(q.all.members) != 0 || len(q.bonds) != 0 {
			t.Fatalf("seed %d: %d of %d taken, %d wait", seed, took, n, q.Len())
		}
	}
}

func TestAll(t *testing.T) {
	q := newQueue()
	for _, age := range []int{3, 1, 2} {
		put(q, letter{age, fmt.Sprint("s", age), "t"})
	}
	if all := q.All(); len(all) != 3 || !slices.IsSortedFunc(all, func(a, b letter) int { return a.age - b.age }) {
		t.Errorf("got %v", all)
	}
}
