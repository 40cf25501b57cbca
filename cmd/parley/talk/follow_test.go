package talk

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// After a restart of the node, attach and chat show what came meanwhile. They showed the last
// thousand messages, old ones too, which then counted as read.
func TestAfterARestartOnlyWhatIsNewIsShown(t *testing.T) {
	var log []control.Message
	say := func(body string) {
		m := clitest.Message(body)
		m.Timestamp = m.Timestamp.Add(time.Duration(len(log)) * time.Minute)
		m.Path = protocol.NewPath(m.Channel, m.Timestamp, uint32(len(log)))
		log = append(log, m)
	}
	for _, body := range []string{"old", "older than what is shown", "shown", "shown too"} {
		say(body)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	r := newRun(t)
	asked := 0
	r.By(control.Log.By(func(_ context.Context, q control.LogRequest, yield func(control.Message) error) error {
		for _, m := range log[max(0, len(log)-q.Last):] {
			if err := yield(m); err != nil {
				return err
			}
		}
		if asked++; asked == 3 {
			end()
		}
		say("new")
		return control.Errorf(control.KindUnavailable, "", "the node went away")
	}))
	var shown []string
	f := follower{client: &r.Recorder, away: func() {}, back: func() {}, show: func(m control.Message) error {
		shown = append(shown, m.Body)
		return nil
	}}
	if err := f.run(ctx, control.LogRequest{Channel: "sprint", Last: 2}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"shown", "shown too", "new", "new"}; !slices.Equal(shown, want) {
		t.Errorf("shown %q, want %q", shown, want)
	}
}
