package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/browser"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// A channel of 10,000 messages is scrolled to its beginning and to its end, now and then back by some.
// It prevents: a page that stands still while somebody scrolls. What counts is the time of the processor,
// as by the clock other programs make a task longer.
func TestRealConsoleScrolls(t *testing.T) {
	if os.Getenv("PARLEY_LONG_TESTS") == "" {
		t.Skip("takes minutes: set PARLEY_LONG_TESTS=1")
	}
	alpha, b, origin, _, _ := lonely(t)
	const all, most = 10_000, 50.0
	var path protocol.Path
	for i := range all {
		body := fmt.Sprintf("message %d, %s", i, strings.Repeat("some words ", i*7%40))
		if i%10 == 0 {
			body += "\n\n| part | state |\n|:--|--:|\n| **bus** | `up` |\n\n- a list\n- of things\n\n```\ncode\n```\n"
		}
		m, err := control.Send.Ask(t.Context(), alpha.client, control.SendRequest{As: "nat", To: []string{"skills"}, Act: protocol.ActNote, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		path = m.Path
	}
	b.Go(origin + "/talk/" + path.Channel().String())
	var is struct{ Tasks, Processor, Clock float64 }
	took := func() { // a trace of all of it would be too large
		t.Helper()
		was := is
		if err := json.Unmarshal([]byte(b.Do(browser.Word{Do: "tasks"}).Text), &is); err != nil {
			t.Fatal(err)
		}
		is.Tasks, is.Processor, is.Clock = is.Tasks+was.Tasks, max(is.Processor, was.Processor), max(is.Clock, was.Clock)
	}
	scroll := func(by int, done string) {
		t.Helper()
		b.Do(browser.Word{Do: "trace"})
		last, moved := "", time.Now()
		for rolls := 1; ; rolls++ {
			roll := by
			if rolls%10 > 7 {
				roll = -by
			}
			b.Do(browser.Word{Do: "wheel", Height: roll})
			if b.Run(done) == "true" {
				break
			}
			if rolls%100 == 0 {
				took()
				b.Do(browser.Word{Do: "trace"})
			}
			if now := b.Run(`document.querySelector("[data-merge]").firstElementChild.id`); now != last {
				last, moved = now, time.Now()
			} else if time.Since(moved) > scratch.Patience() {
				t.Fatalf("it goes no further than %s", now)
			}
		}
		took()
		t.Logf("by %d: the longest of %.0f tasks took %.0f ms of the processor, and %.0f ms by the clock", by, is.Tasks, is.Processor, is.Clock)
		if is.Tasks == 0 || is.Processor > most {
			t.Errorf("by %d: a task takes %.0f ms of the processor, more than %.0f", by, is.Processor, most)
		}
	}
	scroll(-3000, `document.getElementById("older").hidden && scrollY === 0`)
	shows := func(row, text string) { // it may be out of sight: the last roll goes on
		t.Helper()
		if got := b.Run(`document.querySelector("[data-merge]").` + row + `.textContent`); !strings.Contains(got, text) {
			t.Errorf("the %s is %s", row, got)
		}
	}
	shows("firstElementChild", "message 0,")
	scroll(3000, `document.getElementById("newer").hidden && scrollY + innerHeight >= document.body.scrollHeight - 1`)
	shows("lastElementChild", fmt.Sprintf("message %d,", all-1))
}
