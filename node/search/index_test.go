package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/protocol"
)

const (
	sprint = protocol.ChannelID("adfe0356-0f71-49a9-80a0-fb76883cd974")
	aside  = protocol.ChannelID("7f3a2b1c-9e4d-4f8a-b6c2-1d5e8f0a3c7b")
)

var begin = time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)

// doc is the n-th message, one a minute.
func doc(n int, body string) Document {
	at := begin.Add(time.Duration(n) * time.Minute)
	return Document{Path: protocol.NewPath(sprint, at, uint32(n)), Hash: fmt.Sprintf("%064x", n), From: []string{"nat"}, At: at,
		Body: func() (string, error) { return body, nil }}
}

func open(t testing.TB, dir, record string) *Index {
	t.Helper()
	x, err := Open(Options{Dir: dir, RecordID: record, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// numbers returns the n of each document that a query finds.
func numbers(t testing.TB, x *Index, q Query) []int {
	t.Helper()
	r, err := x.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	found := []int{}
	for _, hit := range r.Hits {
		var n int
		if _, err := fmt.Sscanf(hit.Path.Suffix(), "%x", &n); err != nil {
			t.Fatal(err)
		}
		found = append(found, n)
	}
	return found
}

func TestWordsOfAnyScriptAreFound(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "search"), "r")
	for n, body := range []string{
		0:  "The release notes are not ready",
		1:  "Notes on the release: ÄRGER mit naïve Café-Besuchern",
		2:  "call read_file(node/search/index.go) at b2c3d4e5",
		3:  "วันนี้ประชุมเรื่องกำหนดส่งงาน",
		4:  "今日は東京で会議があります",
		5:  "世界和平",
		6:  "שלום עולם",
		7:  "ship it 🚀 now",
		8:  "ｆｕｌｌｗｉｄｔｈ letters",
		9:  strings.Repeat("x", 300),
		10: "---\nfrom: nobody\n---\n\nfrontmatter-like",
	} {
		x.Add(doc(n, body))
	}
	for words, want := range map[string][]int{
		"release":                {1, 0},
		"RELEASE notes":          {1, 0},
		`"release notes"`:        {0},
		`"notes release"`:        {},
		"release -ready":         {1},
		"ärger":                  {1},
		"arger naive":            {1},
		"cafe":                   {1},
		"relea*":                 {1, 0},
		"relea":                  {},
		"read_file":              {2},
		"file":                   {2},
		"node/search":            {2},
		"index.go":               {2},
		"b2c3d4e5":               {2},
		"ประชุม":                 {3},
		"กำหนดส่ง":               {3},
		"東京":                     {4},
		"会":                      {4},
		"会議":                     {4},
		"議会":                     {},
		"和平":                     {5},
		"平":                      {5},
		"世":                      {5},
		"世和":                     {},
		"שלום":                   {6},
		"🚀":                      {7},
		"fullwidth":              {8},
		strings.Repeat("x", 300): {9},
		"nobody":                 {10},
		`"unclosed release`:      {},
		`release "`:              {1, 0},
		"release ***":            {1, 0},
		"-ready release*":        {1},
		"release AND (notes":     {},
	} {
		got := numbers(t, x, Query{Words: words})
		if words == "release" || strings.HasPrefix(words, "R") || words == "relea*" || strings.Contains(words, `"`) || strings.Contains(words, "***") {
			sortDescending(got) // the score decides the order, and both orders are good
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", words, diff)
		}
	}
	for _, words := range []string{"", "  ", "-", `""`, "...", "*"} {
		if _, err := x.Search(context.Background(), Query{Words: words}); !errors.Is(err, ErrNothingAsked) {
			t.Errorf("%q: %v", words, err)
		}
	}
	if got := numbers(t, x, Query{Words: "-release", Limit: 100}); len(got) != 9 {
		t.Errorf("all but the release: %v", got)
	}
}

func sortDescending(list []int) {
	for i := range list {
		for j := range i {
			if list[j] < list[i] {
				list[i], list[j] = list[j], list[i]
			}
		}
	}
}

func TestFiltersLimitAndOrder(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "search"), "r")
	for n := range 10 {
		d := doc(n, "same words")
		if n%2 == 1 {
			d.From = []string{"mawjs of earth"}
		}
		if n == 2 {
			d.From = []string{"nat", "x\x00stranger\x00y"} // who forges a separator is not found under another name
		}
		if n >= 5 {
			d.Path = protocol.NewPath(aside, d.At, uint32(n))
		}
		x.Add(d)
	}
	for name, test := range map[string]struct {
		query Query
		want  []int
	}{
		"newest first":  {Query{Words: "words", Limit: 3}, []int{9, 8, 7}},
		"from":          {Query{From: "mawjs of earth"}, []int{9, 7, 5, 3, 1}},
		"channel":       {Query{Channel: sprint}, []int{4, 3, 2, 1, 0}},
		"since":         {Query{Words: "same", Since: begin.Add(8 * time.Minute)}, []int{9, 8}},
		"all of it":     {Query{Words: "same", From: "nat", Channel: aside, Since: begin.Add(7 * time.Minute)}, []int{8}},
		"nobody's name": {Query{From: "mawjs"}, []int{}},
		"a forged name": {Query{From: "stranger"}, []int{}},
	} {
		if diff := cmp.Diff(test.want, numbers(t, x, test.query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if r, err := x.Search(context.Background(), Query{Words: "same", Limit: 1}); err != nil || r.Total != 10 {
		t.Errorf("total %d, %v", r.Total, err)
	}
}

// An index stays when the program ends. An index that is damaged, of another version or of another
// record is made anew.
func TestIndexIsKeptOrMadeAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "search")
	x := open(t, dir, "r")
	for n := range 5 {
		x.Add(doc(n, fmt.Sprintf("word%d kept", n)))
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = open(t, dir, "r")
	known, err := x.Known()
	if err != nil || len(known) != 5 || !known.Has(doc(3, "").Path, doc(3, "").Hash) || known.Has(doc(3, "").Path, doc(4, "").Hash) {
		t.Fatalf("%d known, %v", len(known), err)
	}
	if got := numbers(t, x, Query{Words: "word3"}); len(got) != 1 {
		t.Errorf("after opening again: %v", got)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Search(context.Background(), Query{Words: "word3"}); err == nil {
		t.Error("a closed index searched")
	}
	for name, damage := range map[string]func(){
		"another record": func() {},
		"file gone":      func() { os.Remove(filepath.Join(dir, fileName)) },
		"garbage": func() {
			_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					err = os.WriteFile(path, []byte("garbage"), 0o600)
				}
				return err
			})
		},
		"cut off": func() {
			_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					err = os.Truncate(path, 3)
				}
				return err
			})
		},
	} {
		damage()
		x := open(t, dir, name)
		if known, err := x.Known(); err != nil || len(known) != 0 {
			t.Errorf("%s: %d known, %v", name, len(known), err)
		}
		x.Add(doc(1, "anew"))
		if got := numbers(t, x, Query{Words: "anew"}); len(got) != 1 {
			t.Errorf("%s: %v", name, got)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A crash may cut off the last line, and a disk may change bytes. The index goes on without the
// line, and is made anew without the bytes.
func TestWhatACrashOrADiskLeaves(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "search")
	x := open(t, dir, "r")
	for n := range 3 {
		x.Add(doc(n, fmt.Sprintf("word%d kept", n)))
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, fileName)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, int64(len(whole)-4)); err != nil {
		t.Fatal(err)
	}
	x = open(t, dir, "r")
	if known, err := x.Known(); err != nil || len(known) != 2 {
		t.Fatalf("after a crash: %d known, %v", len(known), err)
	}
	x.Add(doc(2, "word2 again"))
	if got := numbers(t, x, Query{Words: "kept"}); !cmp.Equal(got, []int{1, 0}) {
		t.Errorf("found %v", got)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	whole[len(x.stamp())+checksumLength+2] ^= 1
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	x = open(t, dir, "r")
	if known, err := x.Known(); err == nil || !x.Broken() {
		t.Fatalf("a changed byte: %d known", len(known))
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = open(t, dir, "r")
	if known, err := x.Known(); err != nil || len(known) != 0 {
		t.Errorf("made anew: %d known, %v", len(known), err)
	}
	x.Add(doc(1, strings.Repeat("long ", 1<<18)+"end"))
	x.Add(doc(2, "a short end"))
	if got := numbers(t, x, Query{Words: "end"}); !cmp.Equal(got, []int{2, 1}) {
		t.Errorf("of a long text and a short one are found %v", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "search"), "r")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 25 {
				x.Add(doc(100*i+n, "together"))
				if _, err := x.Search(context.Background(), Query{Words: "together"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if r, err := x.Search(context.Background(), Query{Words: "together"}); err != nil || r.Total != 100 || x.Pending() != 0 {
		t.Errorf("%d found, %v", r.Total, err)
	}
}

// Of several words one is enough, if that is asked for. A message with more of them comes first.
func TestAnyOfTheWords(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "search"), "r")
	x.Add(doc(1, "the port is known"))
	x.Add(doc(2, "the port of the host is known"))
	if got := numbers(t, x, Query{Words: "host port nowhere", Any: true}); !cmp.Equal(got, []int{2, 1}) {
		t.Errorf("found %v", got)
	}
	if got := WordsOf(`-not "quoted* --flag port:4222 port`); !cmp.Equal(got, []string{"not", "quoted", "flag", "port", "4222"}) {
		t.Errorf("words %q", got)
	}
}

// FuzzQuery checks that no words of a query are a fault. What is indexed is cut into words in the
// same way.
func FuzzQuery(f *testing.F) {
	f.Add(`a "b c" -d e* 世界 -"x`)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := (Query{Words: text}).build(); err != nil && !errors.Is(err, ErrNothingAsked) {
			t.Error(err)
		}
		for _, w := range words(text) {
			if strings.ContainsAny(w, " \t\n") || w == "" {
				t.Errorf("%q has the word %q", text, w)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	const many = 50_000
	dir := filepath.Join(b.TempDir(), "search")
	x := open(b, dir, "r")
	start := time.Now()
	for n := range many {
		x.Add(doc(n, fmt.Sprintf("message %d about topic%d and the release of part%d, said plainly by agent %d", n, n%997, n%31, n%7)))
	}
	if err := x.Flush(); err != nil {
		b.Fatal(err)
	}
	rate := many / time.Since(start).Seconds()
	for b.Loop() {
		if _, err := x.Search(context.Background(), Query{Words: "release topic42"}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(rate, "docs/s")
}

// It prevents: a search, or the end of a node, waits until a burst is indexed.
func TestSearchWaitsForFew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "search")
	x := open(t, dir, "r")
	for n := range searchWaits + 1 {
		x.Add(doc(n, "one of many"))
	}
	if got := numbers(t, x, Query{Words: "many"}); len(got) != 0 || x.beyondSearch() != searchWaits+1 {
		t.Errorf("%d were found, %d wait", len(got), x.beyondSearch())
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = open(t, dir, "r")
	if known, err := x.Known(); err != nil || len(known) != 0 {
		t.Errorf("%d are known, %v", len(known), err)
	}
	for n := range 3 {
		x.Add(doc(n, "one of few"))
	}
	if got := numbers(t, x, Query{Words: "few"}); len(got) != 3 || x.beyondSearch() != 0 {
		t.Errorf("%d were found, %d wait", len(got), x.beyondSearch())
	}
}

// It prevents: a text that was redacted is found by its words, now, after a start, or in the file.
func TestForgottenWords(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir, "r")
	for n, body := range []string{"the zebra sleeps", "a zebra and a quagga", "the quagga runs"} {
		x.Add(doc(n, body))
	}
	if got := numbers(t, x, Query{Words: "quagga"}); len(got) != 2 {
		t.Fatalf("found %v", got)
	}
	gone := doc(1, "").Path.String()
	for range 2 {
		if err := x.Forget(t.Context(), func(path string) bool { return path == gone }); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []*Index{x, open(t, dir, "r")} {
		if diff := cmp.Diff([]int{2}, numbers(t, x, Query{Words: "quagga"})); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]int{0}, numbers(t, x, Query{Words: "zebra"})); diff != "" {
			t.Error(diff)
		}
		known, err := x.Known() // it is as a whole, and holds the message still
		if err != nil || !known.Has(doc(1, "").Path, doc(1, "").Hash) {
			t.Errorf("known: %v, %v", known, err)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil || strings.Count(string(data), "quagga") != 1 {
		t.Errorf("%v: the file has\n%s", err, data)
	}
}
