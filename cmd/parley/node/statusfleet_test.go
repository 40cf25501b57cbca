package node

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

func TestFleetForPeople(t *testing.T) {
	for _, test := range []struct {
		width int // 0: piped
		want  string
	}{
		{0, `
HOST          STATE   SINCE                      ADDRESS         ROUND TRIP  VERSION  CLOCK   MESSAGES
black         away    2026-05-23T20:01:00+02:00                              0.0.9
old           live    2026-05-23T21:01:00+02:00  192.0.2.7:4223  313µs       0.0.1    -36h    unknown
oracle-world  here    2026-05-23T21:01:00+02:00                              0.1.0            8 messages
silent        live    2026-05-23T21:01:00+02:00  192.0.2.7:4223              0.1.0            no answer
wanderer      by git  2026-05-23T20:01:00+02:00                              0.0.9
white         live    2026-05-23T21:01:00+02:00  192.0.2.7:4223  313µs       0.1.0    +1m30s  1 message behind, 2 ahead of oracle-world
old answered, but not how it fares: it says "this host does not know the question"
silent did not answer within 2s; the bus brought the last sign of it at 2026-05-23 21:01:00 +02:00
wanderer is not on the bus and writes: it can be reached by git alone; see whether it can link: parley fleet show wanderer
link old → white: half up: connected, but deaf
link white → black: connecting
white cannot use the remote (unreachable): no␛ route; 3 messages not pushed yet
`},
		{80, `
HOST          STATE   SINCE       ROUND TRIP  CLOCK   MESSAGES
black         away    2026-05-23
old           live    2026-05-23  313µs       -36h    unknown
oracle-world  here    2026-05-23                      8 messages
silent        live    2026-05-23                      no answer
wanderer      by git  2026-05-23
white         live    2026-05-23  313µs       +1m30s  1 message behind, 2 ahead…
old answered, but not how it fares: it says "this host does not know the
  question"
silent did not answer within 2s; the bus brought the last sign of it at
  2026-05-23 21:01:00 +02:00
wanderer is not on the bus and writes: it can be reached by git alone; see
  whether it can link: parley fleet show wanderer
link old → white: half up: connected, but deaf
link white → black: connecting
white cannot use the remote (unreachable): no␛ route; 3 messages not pushed
  yet
`},
	} {
		r := newRun(t)
		clitest.On(r, control.AskFleet, clitest.SomeFleet())
		r.WantPrinted(t, test.width, []string{"status", "--fleet"}, test.want)
	}
}

func TestFleetAsJSON(t *testing.T) {
	r := newRun(t)
	clitest.On(r, control.AskFleet, clitest.SomeFleet())
	if code := r.Do("status", "--fleet", "--json"); code != cli.ExitDone {
		t.Errorf("exit %d, %s", code, r.Err.String())
	}
	out := r.Out.String()
	if strings.Contains(out, "null") || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"alias":"wanderer","state":"git"`) || !strings.Contains(out, `"behind":1,"ahead":2`) {
		t.Errorf("printed %s", out)
	}
}
