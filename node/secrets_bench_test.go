package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// BenchmarkSearchForSecrets sends by turns with and without the search for secrets, and says by how much
// the one takes longer. Two runs one after the other differ by more than that.
func BenchmarkSearchForSecrets(b *testing.B) {
	n, _ := runNode(b, initHome(b, nil))
	if _, err := control.AddAgent.Ask(b.Context(), n, control.AddAgentRequest{Name: "mawjs", Inbox: true}); err != nil {
		b.Fatal(err)
	}
	searched := control.NewClient(n.home.Socket(), "test")
	clients := []*control.Client{searched, searched.Handling(control.AllowSecrets)}
	for _, size := range []int{100, 4096} {
		body := strings.Repeat("They said that the port of the server is 4222, as before. ", size/58+1)[:size]
		b.Run(fmt.Sprintf("%d bytes", size), func(b *testing.B) {
			var took [2]time.Duration
			for round := 0; b.Loop(); round++ {
				for i := range clients {
					at := (i + round) % len(clients) // neither is always the first
					began := time.Now()
					if _, err := control.Send.Ask(b.Context(), clients[at], control.SendRequest{To: []string{"mawjs"}, Body: body}); err != nil {
						b.Fatal(err)
					}
					took[at] += time.Since(began)
				}
			}
			b.ReportMetric(float64(took[0])/float64(took[1]), "with/without")
			b.ReportMetric(float64((took[0]-took[1]).Microseconds())/float64(b.N), "µs-more/send")
		})
	}
}
