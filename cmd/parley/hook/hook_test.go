package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/node/control"
)

// A node that hangs, or that is not there, holds no program up: its hook prints nothing, in time.
func TestNoAnswer(t *testing.T) {
	at := filepath.Join(t.TempDir(), "s")
	hung, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Close()
	for socket, most := range map[string]time.Duration{at: 10 * within, at + "x": within} {
		var out bytes.Buffer
		began := time.Now()
		Answer(socket, "claude", strings.NewReader(`{"hook_event_name":"Stop","session_id":"s-1","cwd":"/"}`), &out, func(string) string { return "" })
		if took := time.Since(began); took > most || out.Len() > 0 { // of a busy machine more than within is asked
			t.Errorf("%s: after %s the hook prints %q", socket, took, &out)
		}
	}
}

// What a hook asks is what node/control knows by other names. It prevents: a field that one side is
// given, and the other side does not have.
func TestWhatIsAsked(t *testing.T) {
	same := func(mine, theirs any) {
		t.Helper()
		data, err := json.Marshal(mine)
		if err != nil {
			t.Fatal(err)
		}
		strict := json.NewDecoder(bytes.NewReader(data))
		strict.DisallowUnknownFields()
		if err := strict.Decode(theirs); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(theirs)
		if diff := cmp.Diff(string(data), string(again)); diff != "" || err != nil {
			t.Errorf("%T (-hook +control): %s%v", theirs, diff, err)
		}
	}
	same(event{"claude", "s-1", "prompted", "resume", "/f", 7, "0a1b2c3d", true, true, true, bell{"/s", "/h"}}, &control.SessionEventRequest{})
	same(answer{"text", "n"}, &control.SessionAnswer{})
	same(printed{"n"}, &control.SessionGivenRequest{})
	for kind, want := range map[agentprogram.Kind]control.SessionEventKind{
		agentprogram.Started: control.SessionStarted, agentprogram.Prompted: control.SessionPrompted, agentprogram.UsedTool: control.SessionUsedTool,
		agentprogram.Stopped: control.SessionStopped, agentprogram.Asks: control.SessionAsks, agentprogram.Ended: control.SessionEnded,
		agentprogram.Compacts: control.SessionCompacts,
	} {
		if kinds[kind] != string(want) {
			t.Errorf("%q is told as %q", want, kinds[kind])
		}
	}
}

// The lines that parley install writes are answered early; all others are left to the command.
func TestAsked(t *testing.T) {
	for line, want := range map[string]string{
		"parley hook claude": " claude", "parley --home /h hook codex": "/h codex", "parley hook": "", "parley hook --help": "", "parley hook claude bells": "",
		"parley --home /h who": "", "parley": "", "parley --json hook claude": "",
	} {
		home, program, ok := asked(strings.Fields(line))
		if got := home + " " + program; ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", line, got, ok)
		}
	}
}

// The word of the bell is found in the sentence that rings, whatever a program puts around it, and
// nothing else is a word.
func FuzzBellIn(f *testing.F) {
	for _, seed := range []string{"", "hello", "parley: ", "(bell 0a1b2c3d)", "parley: (bell 0a1b2c3)", "parley: (bell 0A1B2C3D)", "<m from=\"x\">", "\xff(bell "} {
		f.Add(seed, uint32(0xa11ce), 2)
	}
	f.Fuzz(func(t *testing.T, around string, n uint32, count int) {
		word := bellIn(around)
		if word != "" && len(word) != 8 {
			t.Errorf("%q has the word %q", around, word)
		}
		if word != "" {
			return // the first one counts
		}
		want := fmt.Sprintf("%08x", n)
		if got := bellIn(fmt.Sprintf("parley: %d messages wait for you (bell %s). The text comes beside this line, or with: parley inbox", count, want) + around); got != want {
			t.Errorf("the bell has the word %q, want %q", got, want)
		}
	})
}

// What a person types rings nothing.
func TestNoBellIn(t *testing.T) {
	for _, typed := range []string{"", "go on", "what does (bell 0a1b2c3d) mean?", "parley: 1 message waits for you (bell 0a1b2c3)", "parley: (bell 0A1B2C3D)"} {
		if word := bellIn(typed); word != "" {
			t.Errorf("%q rings %q", typed, word)
		}
	}
}
