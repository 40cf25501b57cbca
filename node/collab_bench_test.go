package node

import (
	"fmt"
	"testing"

	"github.com/parleyfleet/parley/node/control"
)

// BenchmarkConcerned asks whose files a mail of an agent of this host changes, with many topics of others,
// and with one of the two who write last.
func BenchmarkConcerned(b *testing.B) {
	n, _ := runNode(b, initHome(b, nil))
	for _, name := range []string{"mawjs", "volt", "skills"} {
		if _, err := control.AddAgent.Ask(b.Context(), n, control.AddAgentRequest{Name: name, Inbox: true}); err != nil {
			b.Fatal(err)
		}
	}
	open := func(with, topic string) {
		acting := control.Acting{As: "mawjs"}
		if _, err := control.OpenTopic.Ask(b.Context(), n, control.OpenTopicRequest{Acting: acting, With: with, Topic: topic}); err != nil {
			b.Fatal(err)
		}
	}
	said, err := control.Send.Ask(b.Context(), n, control.SendRequest{As: "volt", To: []string{"skills"}, Body: "hello"})
	if err != nil {
		b.Fatal(err)
	}
	opened := 0
	for _, topics := range []int{10, 100, 900} {
		for ; opened < topics; opened++ {
			open("volt", fmt.Sprintf("topic number %d", opened))
		}
		b.Run(fmt.Sprintf("%d topics", topics), func(b *testing.B) {
			for b.Loop() {
				if names := n.collab.Concerned(said.Channel); len(names) != 0 {
					b.Fatal(names)
				}
			}
		})
	}
}
