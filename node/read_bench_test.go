package node

import (
	"fmt"
	"sync"
	"testing"

	"github.com/parleyfleet/parley/node/control"
)

// BenchmarkReading asks a node with 50,000 messages over its socket what people ask every day.
func BenchmarkReading(b *testing.B) {
	const many, channels, threads = 50_000, 20, 100
	n, _ := runNode(b, initHome(b, nil))
	client := control.NewClient(n.home.Socket(), "test")
	ctx := b.Context()
	for _, name := range []string{"mawjs", "volt"} {
		if _, err := control.AddAgent.Ask(ctx, client, control.AddAgentRequest{Name: name, Inbox: true}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range channels {
		if _, err := control.NewChannel.Ask(ctx, client, control.NewChannelRequest{As: "nat", Name: fmt.Sprintf("channel%d", i)}); err != nil {
			b.Fatal(err)
		}
	}
	first, err := control.Send.Ask(ctx, client, control.SendRequest{As: "nat", To: []string{"mawjs"}, Channel: "channel0", Body: "the root of a thread"})
	if err != nil {
		b.Fatal(err)
	}
	var senders sync.WaitGroup
	for s := range 50 {
		senders.Go(func() {
			for i := range many / 50 {
				r := control.SendRequest{As: "nat", To: []string{"mawjs"}, Channel: fmt.Sprintf("channel%d", s%channels),
					Body: fmt.Sprintf("message %d of sender %d about topic%d, said plainly\nand a second line", i, s, i%997)}
				if s == 0 && i < threads {
					r = control.SendRequest{As: "nat", To: []string{"mawjs"}, Re: first.Path.String(), Body: "in the thread"}
				}
				if _, err := control.Send.Ask(ctx, n, r); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	senders.Wait()
	for name, ask := range map[string]func() error{
		"inbox": func() error {
			_, err := control.Inbox.Ask(ctx, client, control.InboxRequest{As: "mawjs", Limit: 101})
			return err
		},
		"thread": func() error {
			_, err := control.Thread.Ask(ctx, client, control.ThreadRequest{Path: first.Path.String()})
			return err
		},
		"search": func() error {
			_, err := control.Search.Ask(ctx, client, control.SearchRequest{Words: "topic42 plainly", Limit: 20})
			return err
		},
		"log": func() error {
			return control.Log.Ask(ctx, client, control.LogRequest{Last: 50}, func(control.Message) error { return nil })
		},
		"log of a channel": func() error {
			return control.Log.Ask(ctx, client, control.LogRequest{Last: 50, Channel: "channel7"}, func(control.Message) error { return nil })
		},
		"channel list": func() error {
			_, err := control.Channels.Ask(ctx, client)
			return err
		},
		"show": func() error {
			_, err := control.Show.Ask(ctx, client, control.ShowRequest{Path: first.Path.Suffix()})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
