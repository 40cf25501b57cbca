package runs

import (
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func tracing(t *testing.T) *clitest.Run {
	t.Helper()
	return clitest.New(t, func(p *cli.Program) *cobra.Command { return cli.NewRoot(p, NewTraceCommand(p)) })
}

// aTrace returns a trace with a step of each kind.
func aTrace() []control.TraceStep {
	at := func(ms int) time.Time {
		return time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
	}
	channel := protocol.ChannelID("adfe0356-0f71-49a9-80a0-fb76883cd974")
	path := func(n uint32) string { return protocol.NewPath(channel, at(0), n).String() }
	asked, sent := protocol.NewPath(channel, at(0), 0xb2c3d4e5), protocol.NewPath(channel, at(0), 0xc3d4e5f6)
	steps := []control.TraceStep{
		{Step: control.TraceAnswers, With: path(1)},
		{Step: control.TraceBecause, With: path(2)},
		{Time: at(0), Host: "black", Step: control.TraceWritten, From: "nat", To: []string{"mawjs", "volt"}, Act: "hey"},
		{Time: at(0), Host: "black", Step: protocol.TraceStored},
		{Time: at(1), Host: "white", Step: protocol.TraceCame, By: "bus"},
		{Time: at(2), Host: "black", Step: protocol.TraceHeard, By: "white"},
		{Time: at(2), Host: "white", Step: protocol.TraceQueued, Agent: "mawjs"},
		{Time: at(2), Host: "white", Step: protocol.TraceStopped, Agent: "volt"},
		{Time: at(3), Host: "white", Step: protocol.TraceStarted, Agent: "mawjs", Attempt: 1, Tier: "opus"},
		{Time: at(4), Host: "white", Depth: 1, Path: sent, Step: control.TraceSent, From: "mawjs", To: []string{"volt"}, Act: "hey"},
		{Time: at(5), Host: "white", Depth: 1, Path: sent, Step: protocol.TraceAtWork, Agent: "volt"},
		{Time: at(900), Host: "white", Step: protocol.TraceEnded, Agent: "mawjs", Attempt: 1, Failure: "exit-status", Exit: 3, Ran: control.Seconds(897 * time.Millisecond), Bytes: 7},
		{Time: at(900), Host: "white", Step: protocol.TraceAgain, Agent: "mawjs", Attempt: 1, Next: at(3000)},
		{Time: at(3001), Host: "white", Step: protocol.TraceEnded, Agent: "mawjs", Retry: 1, Attempt: 2, Ran: control.Seconds(time.Millisecond), Bytes: 1},
		{Time: at(3002), Host: "white", Step: control.TraceRead, Agent: "mawjs", With: path(3)},
		{Time: at(3002), Host: "white", Step: control.TraceAnswered, Agent: "mawjs", With: path(4)},
		{Time: at(3003), Step: control.TraceFailed, Agent: "volt", With: path(5), Text: "volt: \x1b[2J no luck"},
		{Time: at(3004), Host: "black", Step: control.TraceRetried, Agent: "volt", By: "nat", With: path(6), Text: "once more"},
		{Time: at(3005), Host: "black", Step: control.TraceDropped, Agent: "volt", By: "nat", With: path(7)},
		{Host: "black", Step: protocol.TracePushed},
		{Step: control.TraceMore, Text: "5"},
		{Time: at(3006), Host: "white", Step: protocol.TraceWaits, Agent: "volt", By: "paused"},
		{Time: at(3006), Host: "white", Step: "of a later version", Agent: "volt"},
		{Host: "green", Step: control.TraceNotAsked, By: "away"},
		{Host: "blue", Step: control.TraceNoAnswer, Text: "blue did not answer within 2s"},
	}
	for i := range steps {
		if steps[i].Path.IsZero() {
			steps[i].Path = asked
		}
	}
	return steps
}

func TestTracesForPeople(t *testing.T) {
	for _, test := range []struct {
		name  string
		width int
		want  string
	}{
		{"piped", 0, `
                                           it answers 00000001
                                           because of 00000002
2026-05-23T21:01:00.000+02:00  black       b2c3d4e5 written: hey from nat to mawjs, volt
2026-05-23T21:01:00.000+02:00  black       stored
2026-05-23T21:01:00.001+02:00  white       came by bus
2026-05-23T21:01:00.002+02:00  black       heard by white
2026-05-23T21:01:00.002+02:00  white       queued for mawjs
2026-05-23T21:01:00.002+02:00  white       volt is not run: agents have answered each other too often
2026-05-23T21:01:00.003+02:00  white       mawjs: attempt 1 started, tier opus
2026-05-23T21:01:00.900+02:00  white       mawjs: attempt 1 ended after 897ms: exit code 3
2026-05-23T21:01:00.900+02:00  white       mawjs is tried again at 2026-05-23T21:01:03.000+02:00
2026-05-23T21:01:03.001+02:00  white       mawjs: attempt 2 of retry 1 ended after 1ms: 1 byte printed
2026-05-23T21:01:03.002+02:00  white       read by mawjs (receipt 00000003)
2026-05-23T21:01:03.002+02:00  white       answered by mawjs: 00000004
2026-05-23T21:01:03.003+02:00  (unsigned)  given up, its sender told (00000005): volt: ␛[2J no luck
2026-05-23T21:01:03.004+02:00  black       to be tried again for volt, says nat (00000006): once more
2026-05-23T21:01:03.005+02:00  black       put away for volt, says nat (00000007)
                               black       pushed
2026-05-23T21:01:03.006+02:00  white       waits for volt: paused (somebody has paused it)
2026-05-23T21:01:03.006+02:00  white       of a later version volt
                               green       not asked: away
                               blue        no answer: blue did not answer within 2s
                                           sent because of it:
2026-05-23T21:01:00.004+02:00  white         c3d4e5f6 mawjs → volt · volt is at it
                                             … 5 more below: parley thread b2c3d4e5
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := tracing(t)
			clitest.On(r, control.Trace, aTrace())
			r.WantPrinted(t, test.width, []string{"trace", "b2c3d4e5"}, test.want)
		})
	}
	r := tracing(t)
	clitest.On(r, control.Trace, aTrace()[8:9])
	r.Program.Now = func() time.Time { return aTrace()[8].Time.Add(time.Hour) }
	r.WantPrinted(t, 60, []string{"trace", "b2c3d4e5"}, `
21:01:00.003  white  mawjs: attempt 1 started, tier opus
next: parley prompt b2c3d4e5   what the agent was given
`)
	r = tracing(t)
	r.WantAsked(t, []string{"trace", "b2c3d4e5", "--here"}, `trace {"path":"b2c3d4e5","here":true}`)
}

// aConversation returns a trace of two agents that wrote to each other this many times, each
// message because of the one before. An aside stands at the beginning.
func aConversation(messages int) []control.TraceStep {
	channel := protocol.ChannelID("adfe0356-0f71-49a9-80a0-fb76883cd974")
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	path := func(n int) protocol.Path { return protocol.NewPath(channel, at, uint32(n)) }
	steps := []control.TraceStep{
		{Time: at, Host: "here", Path: path(0), Step: control.TraceWritten, From: "nat", To: []string{"ping"}, Act: "hey"},
		{Time: at, Host: "here", Path: path(0), Step: control.TraceAnswered, Agent: "ping", With: path(1).String()},
	}
	sent := func(n, depth int) {
		at = at.Add(time.Second)
		from, to := "ping", "pong"
		if n%2 == 0 {
			from, to = to, from
		}
		steps = append(steps,
			control.TraceStep{Time: at, Host: "here", Path: path(n), Depth: depth, Step: control.TraceSent, From: from, To: []string{to}, Act: "hey"},
			control.TraceStep{Time: at, Host: "here", Path: path(n), Depth: depth, Step: protocol.TraceStored},
			control.TraceStep{Time: at, Host: "here", Path: path(n), Depth: depth, Step: protocol.TraceStarted, Agent: to, Attempt: 1})
		if n < messages {
			steps = append(steps, control.TraceStep{Time: at, Host: "here", Path: path(n), Depth: depth, Step: control.TraceAnswered, Agent: to, With: path(99).String()})
		} else {
			steps = append(steps, control.TraceStep{Time: at, Host: "here", Path: path(n), Depth: depth, Step: control.TraceFailed, Agent: to, Text: to + ": the command ended with exit code 1"},
				control.TraceStep{Path: path(n), Depth: depth, Step: control.TraceMore, Text: "30"})
		}
	}
	for n := range messages {
		sent(n+1, n+1)
	}
	sent(messages+1, 1)
	return steps
}

// It prevents: a trace of two agents that wrote to each other has 80 lines, with times that run
// backwards. Instead, what was sent stands below as a tree. The tree ends somewhere and says where
// it goes on.
func TestTraceOfALongConversationIsShort(t *testing.T) {
	r := tracing(t)
	clitest.On(r, control.Trace, aConversation(9))
	r.WantPrinted(t, 100, []string{"trace", "00000000"}, `
2026-05-23 +02:00
21:01:00.000  here  00000000 written: hey from nat to ping
21:01:00.000  here  answered by ping: 00000001
                    sent because of it:
21:01:01.000  here    00000001 ping → pong · answered by pong
21:01:02.000  here      00000002 pong → ping · answered by ping
21:01:03.000  here        00000003 ping → pong · answered by pong
21:01:04.000  here          00000004 pong → ping · answered by ping
21:01:05.000  here            00000005 ping → pong · answered by pong
21:01:06.000  here              00000006 pong → ping · answered by ping
                                  … 33 more below: parley trace 00000006
21:01:10.000  here    0000000a pong → ping · given up: ping: the command ended with exit code 1
                        … 30 more below: parley trace 0000000a
`)
	r = tracing(t)
	clitest.On(r, control.Trace, aConversation(9))
	r.WantPrinted(t, 60, []string{"trace", "00000000", "-n", "2"}, `
2026-05-23 +02:00
21:01:00.000  here  00000000 written: hey from nat to ping
21:01:00.000  here  answered by ping: 00000001
                    sent because of it:
21:01:01.000  here    00000001 ping → pong · answered by
                        pong
                      … 38 more below: parley trace 00000001
21:01:10.000  here    0000000a pong → ping · given up:
                        ping: the command ended with exit
                        code 1
                      … 30 more below: parley trace 0000000a
`)
	r = tracing(t)
	clitest.On(r, control.Trace, aConversation(2))
	r.WantPrinted(t, 0, []string{"trace", "00000000", "-n", "0"}, `
2026-05-23T21:01:00.000+02:00  here  00000000 written: hey from nat to ping
2026-05-23T21:01:00.000+02:00  here  answered by ping: 00000001
                                     sent because of it:
2026-05-23T21:01:01.000+02:00  here    00000001 ping → pong · answered by pong
2026-05-23T21:01:02.000+02:00  here      00000002 pong → ping · given up: ping: the command ended with exit code 1
                                           … 30 more below: parley trace 00000002
2026-05-23T21:01:03.000+02:00  here    00000003 ping → pong · given up: pong: the command ended with exit code 1
                                         … 30 more below: parley trace 00000003
`)
}
