package node

import (
	"fmt"
	"sync"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// An inbox of more than one batch empties, each message with one receipt, also while others mark
// the same messages.
func TestManyAreMarkedOnce(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "mawjs", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	const many = 300 // of which 256 are stored together
	var paths []protocol.Path
	var work sync.WaitGroup
	var mu sync.Mutex
	for worker := range 4 {
		work.Go(func() {
			for i := range many / 4 {
				m, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "nat", To: []string{"mawjs"}, Body: fmt.Sprint(worker, i)})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				paths = append(paths, m.Path)
				mu.Unlock()
			}
		})
	}
	work.Wait()
	read := make([]int, 4)
	for i := range read {
		work.Go(func() {
			mark := func() (control.Marked, error) {
				return control.Shown.Ask(t.Context(), n, control.ShownRequest{As: "mawjs", Paths: paths})
			}
			if i%2 == 0 {
				mark = func() (control.Marked, error) {
					return control.ReadAll.Ask(t.Context(), n, control.ReadAllRequest{As: "mawjs"})
				}
			}
			m, err := mark()
			if err != nil {
				t.Error(err)
			}
			read[i] = m.Read
		})
	}
	work.Wait()
	if sum := read[0] + read[1] + read[2] + read[3]; sum != many {
		t.Errorf("%v messages were marked by four, want %d in all", read, many)
	}
	receipts := map[string]int{}
	for _, m := range everything(t, n) {
		if m.Type == protocol.TypeRead {
			receipts[m.Ref]++
		}
	}
	for ref, count := range receipts {
		if count != 1 {
			t.Errorf("%s has %d receipts", ref, count)
		}
	}
	if len(receipts) != many {
		t.Errorf("%d messages have receipts, want %d", len(receipts), many)
	}
}

// It prevents: a person who watches as an agent with a command keeps the command from being run,
// because the receipt says that the agent has the message.
func TestWhatIsShownAsAnAgentWithACommandIsStillRun(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addExec(t, n, "echo", "cat")
	if _, err := control.PauseAgent.Ask(t.Context(), n, control.PauseRequest{Name: "echo", Paused: true}); err != nil {
		t.Fatal(err)
	}
	asked := say(t, n, "echo", "hello")
	if m, err := control.Shown.Ask(t.Context(), n, control.ShownRequest{As: "echo", Paths: []protocol.Path{asked.Path}}); err != nil || m.Read != 0 {
		t.Errorf("marked %d, %v", m.Read, err)
	}
	if _, err := control.PauseAgent.Ask(t.Context(), n, control.PauseRequest{Name: "echo"}); err != nil {
		t.Fatal(err)
	}
	if got := answerTo(t, n, asked.Path); got.Body != "hello" {
		t.Errorf("answered %q", got.Body)
	}
}
