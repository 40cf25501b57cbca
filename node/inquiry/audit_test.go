package inquiry

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// It prevents: whoever verifies a record holds the list of all its files in memory, however many
// somebody pushed.
func TestTheListOfFilesIsReadAsItIsUsed(t *testing.T) {
	const entry = "abcd channels/0f8fad5b-d9cb-469f-a165-70867728950e/2026/05/23/190100000Z-b2c3d4e5.md\x00"
	list := strings.NewReader("ef01 channels/" + strings.Repeat("x", 3*maxEntry) + "\x00" + strings.Repeat(strings.Replace(entry, "channels", protocol.ChannelsDir, 1), 10_000))
	ctx, stop := context.WithCancel(t.Context())
	paths, ended := make(chan protocol.Path), make(chan error, 1)
	var asked bytes.Buffer
	go func() { ended <- eachPath(ctx, list, &asked, paths) }()
	<-paths
	<-paths
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) || list.Len() < 10_000*len(entry)-2*maxEntry || !strings.HasPrefix(asked.String(), "abcd\n") || asked.Len() > 10 {
		t.Errorf("%v: %d bytes of the list are left, and %q is asked for", err, list.Len(), asked.String())
	}
}
