package serving

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
	"github.com/rs/zerolog"
)

// It prevents: an agent is given nothing any more, because the commit at which it was added was
// lost with record.git before it was pushed; and the log gets a line about that for each message.
func TestMailOfALostCommitGoesByDate(t *testing.T) {
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	p := protocol.NewPath(protocol.DeriveChannel("record", "nat", "echo"), at, 1)
	for _, test := range []struct {
		added time.Time
		old   bool
	}{{at.Add(time.Second), true}, {at.Add(-time.Second), false}} {
		a := configs.Agent{Name: "echo", Added: test.added, DispatchSince: strings.Repeat("0123456789", 4)}
		var log bytes.Buffer
		d := doors{tools: &tools{Options: &Options{Record: forgetfulRecord{}, Log: zerolog.New(&log)}}}
		old := d.older(a)
		for range 2 {
			if got := old(p); got != test.old {
				t.Errorf("added at %v, written at %v: old %v", test.added, at, got)
			}
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 {
			t.Errorf("%d lines in the log:\n%s", lines, &log)
		}
	}
}

// forgetfulRecord has lost every commit.
type forgetfulRecord struct{ Record }

func (forgetfulRecord) FilesOf(string) (*gitsync.Files, error) {
	return nil, errors.New("no such commit")
}
