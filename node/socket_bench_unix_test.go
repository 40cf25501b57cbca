//go:build unix

package node

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// BenchmarkSocket measures what a message costs that 64 programs send through a node's socket. It
// reports the processor time of the node, and of the programs if they are another process. The two
// cases differ: for a request of another process, the node looks up who it is.
func BenchmarkSocket(b *testing.B) {
	b.Run("same process", func(b *testing.B) {
		n, _ := runNode(b, initHome(b, nil))
		began := processorTime(b)
		b.ResetTimer()
		if err := sendThrough(b.Context(), n.home.Socket(), b.N); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64((processorTime(b)-began).Microseconds())/float64(b.N), "cpu-µs/op")
	})
	b.Run("another process", func(b *testing.B) {
		n, _ := runNode(b, initHome(b, nil))
		programs := startPrograms(b, n.home.Socket(), b.N)
		began := processorTime(b)
		b.ResetTimer()
		used := programs()
		b.ReportMetric(float64((processorTime(b)-began).Microseconds())/float64(b.N), "cpu-µs/op")
		b.ReportMetric(float64(used.Microseconds())/float64(b.N), "client-cpu-µs/op")
	})
}

// startPrograms starts a process that is to send that many messages through a socket. send has the
// process do so, and returns the processor time that it used.
func startPrograms(b *testing.B, socket string, many int) (send func() time.Duration) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	begin, beginning, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	said, saying, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	// The node takes a child of its own process for something that it has started. So the shell
	// ends before its child is told to begin.
	cmd := exec.Command("sh", "-c", `exec 3<&0; "$0" <&3 & exit 0`, self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", sendVar, many, socket))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = begin, saying, os.Stderr
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	begin.Close()
	saying.Close()
	b.Cleanup(func() {
		beginning.Close()
		said.Close()
	})
	return func() time.Duration {
		beginning.Close()
		line, err := io.ReadAll(said)
		if err != nil {
			b.Fatal(err)
		}
		used, err := time.ParseDuration(string(line))
		if err != nil {
			b.Fatal(err)
		}
		return used
	}
}

// sendAsked does what sendVar asks for: it names how many messages to send, and through which
// socket. sendAsked begins once its standard input has ended. It writes to its standard output how
// much processor time the sending took.
func sendAsked(asked string) error {
	count, socket, _ := strings.Cut(asked, " ")
	many, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := sendThrough(context.Background(), socket, many); err != nil {
		return err
	}
	used, err := usedTime()
	fmt.Print(used)
	return err
}

// sendThrough has 64 programs send that many messages together.
func sendThrough(ctx context.Context, socket string, many int) error {
	const programs = 64
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var next atomic.Int64
	var sending sync.WaitGroup
	for range programs {
		client := control.NewClient(socket, "test")
		sending.Go(func() { // ends with the messages
			for next.Add(1) <= int64(many) && ctx.Err() == nil {
				if _, err := control.Send.Ask(ctx, client, control.SendRequest{As: "nat", To: []string{"visitor"}, Body: "a question", Anyway: true}); err != nil {
					fail(err)
				}
			}
		})
	}
	sending.Wait()
	return context.Cause(ctx)
}
