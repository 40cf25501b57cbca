package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/testkit/browser"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Two tabs are open for as long as PARLEY_SOAK says, while messages come: one on the page of a channel,
// in which its reader goes up and to the end again, and one on that of the fleet. What they and the
// console hold is as much in the last quarter as in the second. It prevents: a page or a console that
// only hours fill.
func TestRealConsoleForAnHour(t *testing.T) {
	lasts, err := time.ParseDuration(os.Getenv("PARLEY_SOAK"))
	if err != nil {
		t.Skip("takes as long as asked for: set PARLEY_SOAK=1h")
	}
	b := browser.Open(t)
	alpha, beta := seenFleet(t)
	send := func(h *storyHost, r control.SendRequest) protocol.Path {
		t.Helper()
		m, err := control.Send.Ask(t.Context(), h.client, r)
		if err != nil {
			t.Fatal(err)
		}
		return m.Path
	}
	path := send(alpha, control.SendRequest{As: "nat", To: []string{"zoe"}, Body: "the first"})
	_, link, _ := consoleOf(t, alpha)
	origin := link[:strings.Index(link, "/enter")]
	b.Do(browser.Word{Do: "go", At: link})
	b.Await("h1", "Fleet")
	b.Go(origin + "/talk/" + path.Channel().String())
	b.Run(`void open("/", "_blank", "noopener")`)
	console := 0
	for _, pid := range process.Children(os.Getpid()) {
		if slices.Contains(process.Arguments(pid), "console") {
			console = pid
		}
	}
	began, minutes := time.Now(), 0
	var taken []held
	due := time.NewTicker(time.Second)
	defer due.Stop()
	n := 0
	for ; time.Since(began) < lasts; <-due.C {
		now := time.Since(began)
		looks := int(now.Minutes()) > minutes
		if looks {
			minutes++
			b.Run(`window.scrollTo(0, 0)`)
		}
		body := fmt.Sprintf("message %d, %s", n, strings.Repeat("word ", n*7%50)+"end")
		switch n++; {
		case n%30 == 0:
			send(alpha, control.SendRequest{As: "nat", To: []string{"lens@alpha"}, Body: body})
		case n%10 == 0:
			send(beta, control.SendRequest{As: "zoe", To: []string{"mawui"}, Act: protocol.ActNote, Body: body})
		case n%5 == 0:
			send(alpha, control.SendRequest{As: "nat", To: []string{"skills"}, Act: protocol.ActNote, Body: body})
		}
		if n%2 == 0 {
			path = send(alpha, control.SendRequest{As: "nat", To: []string{"zoe"}, Body: body})
		} else {
			path = send(beta, control.SendRequest{As: "zoe", To: []string{"nat"}, Re: path.String(), Body: body})
		}
		if !looks {
			continue
		}
		b.Do(browser.Word{Do: "await", At: "#newer:not([hidden])"})
		b.Run(`new Promise((over) => {
			const end = () => {
				window.scrollTo(0, document.body.scrollHeight);
				if (document.getElementById("newer").hidden) over(); else setTimeout(end, 50);
			};
			end();
		})`)
		b.Await("main", body)
		var tabs [][]int
		if err := json.Unmarshal([]byte(b.Do(browser.Word{Do: "measure"}).Text), &tabs); err != nil {
			t.Fatal(err)
		}
		h := held{at: now, is: slices.Concat(tabs...)}
		files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", console)) // 0 would fail below
		_, private := memoryNow(console)
		h.is = append(h.is, private, len(files))
		taken = append(taken, h)
		t.Logf("%s: %d messages: %v", now.Round(time.Second), n, h.is)
	}
	flatConsole(t, taken, lasts)
}

// held is what tabs and console hold at one time.
type held struct {
	at time.Duration
	is []int
}

// flatConsole prints the medians of each quarter of the time, and fails if one of the last is above that
// of the second. The first is no measure: the list grows to what it holds, and caches fill. A tenth more
// and six are allowed: rows differ in length, and a browser has up to six connections at a time. A thing
// that each message left behind would be as much again.
func flatConsole(t *testing.T, taken []held, lasts time.Duration) {
	t.Helper()
	names := []string{"kB of the channel's tab", "nodes there", "listeners there", "kB of the fleet's tab", "nodes there", "listeners there", "private kB of the console", "open files"}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	for c, name := range names {
		var quarters [4][]int
		for _, h := range taken {
			q := min(3, int(4*h.at/lasts))
			quarters[q] = append(quarters[q], h.is[c])
		}
		var medians [4]int
		fmt.Fprintf(w, "%s\t", name)
		for q, all := range quarters {
			if len(all) > 0 {
				slices.Sort(all)
				medians[q] = all[len(all)/2]
			}
			fmt.Fprintf(w, "%d\t", medians[q])
		}
		fmt.Fprintln(w)
		if most := medians[1]*11/10 + 6; medians[3] > most || medians[3] == 0 {
			t.Errorf("%s: %d in the last quarter, and %d in the second: more than %d", name, medians[3], medians[1], most)
		}
	}
	_ = w.Flush() // a Builder takes everything
	t.Logf("medians of each quarter:\n%s", &table)
}

// memoryNow is the memory of a process, and what of it no other one shares, in kB; 0 if it has ended.
func memoryNow(pid int) (resident, private int) {
	rollup, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(rollup)) {
		var name string
		var kilobytes int
		if n, _ := fmt.Sscan(line, &name, &kilobytes); n == 2 && name == "Rss:" {
			resident = kilobytes
		} else if n == 2 && strings.HasPrefix(name, "Private_") {
			private += kilobytes
		}
	}
	return resident, private
}
