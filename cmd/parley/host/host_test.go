package host

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func TestHostsForPeople(t *testing.T) {
	gone := clitest.SomeHosts()[0]
	at := gone.LastSeen
	gone.State, gone.Keys = control.HostRevoked, []control.HostKey{
		{Fingerprint: "SHA256:first", Until: at}, {Fingerprint: "SHA256:second", Since: at, Revoked: at, RevokedBy: "n\x1bat at oracle-world"}}
	b, o, w := strings.Repeat("b", 43), strings.Repeat("o", 43), strings.Repeat("w", 43)
	for _, test := range []struct {
		line  string
		width int // 0: piped
		want  string
	}{
		{"fleet hosts", 0, `
HOST          STATE  SINCE                      LAST SEEN                  VERSION  AGENTS       FINGERPRINT
black         away                              2026-05-23T20:01:00+02:00  0.0.9                 SHA256:` + b + `
oracle-world  here   2026-05-23T21:01:00+02:00                             0.1.0                 SHA256:` + o + `
white         live   2026-05-23T21:01:00+02:00                             0.1.␛0   mawjs, volt  SHA256:` + w + `
`},
		{"fleet hosts", 80, `
HOST          STATE  SINCE       LAST SEEN   AGENTS       FINGERPRINT
black         away               2026-05-23               SHA256:bbbbbbbbbbbbbb…
oracle-world  here   2026-05-23                           SHA256:oooooooooooooo…
white         live   2026-05-23              mawjs, volt  SHA256:wwwwwwwwwwwwww…
`},
		{"fleet hosts", 60, `
HOST          STATE  SINCE       AGENTS       FINGERPRINT
black         away                            SHA256:bbbbbb…
oracle-world  here   2026-05-23               SHA256:oooooo…
white         live   2026-05-23  mawjs, volt  SHA256:wwwwww…
`},
		{"fleet show white", 80, `
host:        white, live
key:         UWHITE
fingerprint: SHA256:` + w + `
addresses:   192.0.2.7:4223, white.example:4223
hostname:    w␛hite
humans:      eve
agents:      mawjs, volt
since:       2026-05-23 21:01:00 +02:00
version:     0.1.␛0
last wrote:  2026-05-23 21:01:00 +02:00, b2c3d4e5
next: parley fleet ping white   how far away it is
`},
		{"fleet show black", 0, `
host:        black, away
key:         UBLACK
fingerprint: SHA256:` + b + `
last seen:   2026-05-23 20:01:00 +02:00
version:     0.0.9
last wrote:  2026-05-23 21:01:00 +02:00, ` + clitest.MessagePath + `
`},
		{"fleet show gone", 0, `
host:        black, revoked
key:         UBLACK
fingerprint: SHA256:` + b + `
old key:     SHA256:first, until 2026-05-23 20:01:00 +02:00
revoked:     SHA256:second, 2026-05-23 20:01:00 +02:00, by n␛at at oracle-world
last seen:   2026-05-23 20:01:00 +02:00
version:     0.0.9
last wrote:  2026-05-23 21:01:00 +02:00, ` + clitest.MessagePath + `
`},
		{"fleet ping white -n 3", 0, `
white answered 3 times: min 312µs, median 1.23ms, max 2.34s
version 0.1.0; its clock is 3m ahead
`},
	} {
		r := newRun(t)
		clitest.On(r, control.Hosts, clitest.SomeHosts())
		clitest.On(r, control.ShowHost, clitest.SomeHosts()[2])
		if strings.HasSuffix(test.line, "black") {
			clitest.On(r, control.ShowHost, clitest.SomeHosts()[0])
		}
		if strings.HasSuffix(test.line, "gone") {
			clitest.On(r, control.ShowHost, gone)
		}
		pings(r,
			control.Ping{RTT: 1234567, Clock: control.Seconds(time.Minute), Version: "0.1.0"}, control.Ping{RTT: control.Seconds(2340 * time.Millisecond), Clock: control.Seconds(-time.Minute), Version: "0.1.0"},
			control.Ping{RTT: 311999, Clock: control.Seconds(3 * time.Minute), Version: "0.1.0"},
		)
		r.WantPrinted(t, test.width, strings.Fields(test.line), test.want)
	}
}

// pings prepares the answers to pings, one after the other.
func pings(r *clitest.Run, all ...control.Ping) {
	r.By(control.PingHost.By(func(context.Context, control.PingRequest) (control.Ping, error) {
		next := all[0]
		all = all[1:]
		return next, nil
	}))
}

func TestPingAsJSON(t *testing.T) {
	r := newRun(t)
	pings(r, control.Ping{RTT: 30, Version: "1"}, control.Ping{RTT: 10, Clock: 5, Version: "1"})
	if code := r.Do("fleet", "ping", "white", "-n", "2", "--json"); code != cli.ExitDone {
		t.Errorf("exit %d, %s", code, r.Err.String())
	}
	if want := `{"alias":"white","asked":2,"min":0.00000001,"median":0.00000003,"max":0.00000003,"clock":0.000000005,"version":"1"}` + "\n"; r.Out.String() != want {
		t.Errorf("printed %s, want %s", r.Out.String(), want)
	}
	if want := `ping-host {"alias":"white"}`; len(r.Asked) != 2 || r.Asked[0] != want {
		t.Errorf("asked %q, want %q twice", r.Asked, want)
	}
}

func TestPingThatIsNotAnswered(t *testing.T) {
	r := newRun(t)
	r.Failure = control.Errorf(control.KindFailed, "parley fleet show white", "white did not answer within 2s")
	if code := r.Do("fleet", "ping", "white"); code != cli.ExitFailed || r.Err.String() != "parley: white did not answer within 2s\nhint: parley fleet show white\n" {
		t.Errorf("exit %d, %s", code, r.Err.String())
	}
	for _, n := range []string{"0", "-1", "1001", "x"} {
		r := newRun(t)
		if code := r.Do("fleet", "ping", "white", "-n", n); code != cli.ExitUsage || len(r.Asked) > 0 {
			t.Errorf("-n %s: exit %d, asked %q", n, code, r.Asked)
		}
	}
}

// It prevents: in a narrow terminal the revocation of the old key stands there as the next step,
// without its condition.
func TestRotationSaysWhenToRevoke(t *testing.T) {
	r := newRun(t)
	r.AtTerminal(40)
	r.Typing("rotate here")
	clitest.On(r, control.RotateKey, control.Rotation{Host: "here", Old: "UOLD", Key: "UNEW"})
	if code := r.Do("fleet", "rotate"); code != cli.ExitDone {
		t.Fatalf("exit %d, %s", code, r.Err.String())
	}
	if got := r.Out.String(); !strings.Contains(got, "if the old key was stolen: parley fleet revoke here --key UOLD\n") || strings.Contains(got, "next:") {
		t.Errorf("a new key is answered with:\n%s", got)
	}
}

// It prevents: a key is revoked for good without any input.
func TestWhatCannotBeUndoneIsTyped(t *testing.T) {
	const revokes = `revoke-key {"host":"white","phrase":"revoke white"}`
	const removes = `remove-host {"host":"white","phrase":"remove white"}`
	const rotates = `rotate-key {"overlap":86400000000000,"phrase":"rotate here"}`
	for _, test := range []struct {
		line, typed string
		code        int
		asks, says  string
	}{
		{"fleet revoke white", "", cli.ExitFailed, "", "nobody is there to ask"},
		{"fleet revoke white", "", cli.ExitFailed, "", "everything else that bears its signature is refused"},
		{"fleet revoke white", "yes", cli.ExitFailed, "", "it was not done"},
		{"fleet revoke white", "revoke black", cli.ExitFailed, "", "it was not done"},
		{"fleet revoke white", "revoke white", cli.ExitDone, revokes, "white is out of the fleet, and comes back"},
		{"fleet revoke white", "revoke white", cli.ExitDone, revokes, "Type  revoke white  to do it"},
		{"fleet remove white", "", cli.ExitFailed, "", "nobody is there to ask"},
		{"fleet remove white", "revoke white", cli.ExitFailed, "", "it was not done"},
		{"fleet remove white", "remove white", cli.ExitDone, removes, "its key ends, its links too"},
		{"fleet rotate", "", cli.ExitFailed, "", "nobody is there to ask"},
		{"fleet rotate", "y", cli.ExitFailed, "", "it was not done"},
		{"fleet rotate", "rotate here", cli.ExitDone, rotates, "The host here gets a new key."},
	} {
		r := newRun(t)
		clitest.On(r, control.RotateKey, control.Rotation{Host: "here", Old: "UOLD", Key: "UNEW"})
		clitest.On(r, control.RevokeKey, control.Revocation{Host: "white", Key: "UKEY", Human: "nat", Runs: 2, Later: 3, Out: true})
		clitest.On(r, control.RemoveHost, control.HostRemoval{Host: "white", Human: "nat", Agents: []protocol.Name{"shout", "blob"}, Waiting: 3})
		if test.typed != "" {
			r.Typing(test.typed)
		}
		if code := r.Do(strings.Fields(test.line)...); code != test.code {
			t.Errorf("%s, typed %q: exit %d, want %d: %s", test.line, test.typed, code, test.code, r.Err.String())
		}
		tried := r.Asked[0]
		if !strings.Contains(tried, `"try":true`) || strings.Contains(tried, "phrase") {
			t.Errorf("%s asks first: %s", test.line, tried)
		}
		if got := strings.Join(r.Asked[1:], " "); got != test.asks {
			t.Errorf("%s, typed %q: asks %q, want %q", test.line, test.typed, got, test.asks)
		}
		if !strings.Contains(r.Err.String(), test.says) {
			t.Errorf("%s, typed %q: says %q, want %q in it", test.line, test.typed, r.Err.String(), test.says)
		}
	}
}
