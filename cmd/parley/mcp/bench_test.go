package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// stored is a node that tells when a message that it was asked to send is stored.
type stored struct {
	control.Service
	at chan time.Time
}

func (s stored) Answer(ctx context.Context, v control.VerbSpec, request any, yield func(any) error) error {
	err := s.Service.Answer(ctx, v, request, yield)
	if v.Name == control.Send.Name {
		s.at <- time.Now()
	}
	return err
}

// How soon a message is stored that an agent sends by a tool, beside one by the bare socket, in
// turns. Of a machine that does other things too, the median says more than the mean.
func BenchmarkHey(b *testing.B) {
	n := startNode(b)
	agent := n.client.Bearing("", n.token(b, "mawjs"))
	node := stored{agent, make(chan time.Time, 1)}
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	l := newLines(b.Context(), toServer, fromServer)
	serving, err := (&server{program: programAt(n.home), node: node, over: l.over, beat: time.Hour}).tools().Connect(b.Context(), l, nil)
	if err != nil {
		b.Fatal(err)
	}
	answers := bufio.NewReader(toClient)
	say := func(line string) {
		if _, err := io.WriteString(fromClient, line+"\n"); err != nil {
			b.Fatal(err)
		}
	}
	hear := func() string {
		line, err := answers.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		return line
	}
	say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	hear()
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	var tool, socket, ratio []float64
	for n := 1; b.Loop(); n++ {
		began := time.Now()
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hey","arguments":{"to":"volt","text":"x"}}}`, n))
		t := float64((<-node.at).Sub(began).Microseconds())
		hear()
		began = time.Now()
		if _, err := control.Send.Ask(b.Context(), agent, control.SendRequest{To: []string{"volt"}, Act: protocol.ActHey, Body: "x", HeardWithin: talk.HeardWithin}); err != nil {
			b.Fatal(err)
		}
		s := float64(time.Since(began).Microseconds())
		tool, socket, ratio = append(tool, t), append(socket, s), append(ratio, t/s)
	}
	for unit, all := range map[string][]float64{"tool-µs": tool, "socket-µs": socket, "tool/socket": ratio} {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], unit)
	}
	_ = fromClient.Close()
	if err := serving.Wait(); err != nil {
		b.Error(err)
	}
}
