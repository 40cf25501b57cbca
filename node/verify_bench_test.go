package node

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// BenchmarkVerify verifies every message of a record of 20,000 that came in many commits, and has
// the git program verify the same repository. The figure that counts is how many times as long the
// first takes.
func BenchmarkVerify(b *testing.B) {
	const many, senders = 20_000, 8
	home := initHome(b, nil)
	n, stop := runNode(b, home)
	var sending sync.WaitGroup
	for s := range senders {
		sending.Go(func() {
			for i := range many / senders {
				r := control.SendRequest{As: "nat", To: []string{"mawjs"}, Anyway: true, Body: fmt.Sprint("message ", i, " of ", s)}
				if _, err := control.Send.Ask(b.Context(), n, r); err != nil {
					b.Error(err)
				}
			}
		})
	}
	sending.Wait()
	stop()
	still := b.TempDir() // no pack is replaced here meanwhile
	if err := os.CopyFS(still, os.DirFS(home.Record())); err != nil {
		b.Fatal(err)
	}
	n, _ = runNode(b, home)
	eventually(b, "all is indexed", func() bool { return n.talk.Indexer.Pending() == 0 })
	var ours, gits time.Duration
	for b.Loop() {
		began := time.Now()
		cmd := exec.CommandContext(b.Context(), "git", "-C", still, "fsck", "--full", "--strict", "--no-progress")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git fsck: %v\n%s", err, out)
		}
		gits += time.Since(began)
		began = time.Now()
		v, err := n.audits.Verify(b.Context())
		if err != nil || v.Wrong > 0 || v.Messages < many {
			b.Fatalf("verify: %+v, %v", v, err)
		}
		ours += time.Since(began)
	}
	b.ReportMetric(ours.Seconds()/float64(b.N), "s/verify")
	b.ReportMetric(gits.Seconds()/float64(b.N), "s/fsck")
	b.ReportMetric(ours.Seconds()/gits.Seconds(), "verify/fsck")
}
