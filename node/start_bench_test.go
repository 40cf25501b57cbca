package node

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/control"
)

// BenchmarkStart opens a home whose record holds some messages, with the cache and without it.
func BenchmarkStart(b *testing.B) {
	for _, messages := range []int{1000, 10_000} {
		home := initHome(b, nil)
		n, stop := runNode(b, home)
		var senders sync.WaitGroup
		for s := range 50 {
			senders.Go(func() {
				for i := range messages / 50 {
					r := control.SendRequest{As: "nat", To: []string{"mawjs"}, Anyway: true, Body: fmt.Sprint("message ", i, " of ", s)}
					if _, err := control.Send.Ask(b.Context(), n, r); err != nil {
						b.Error(err)
					}
				}
			})
		}
		senders.Wait()
		stop()
		for name, prepare := range map[string]func() error{
			"cached": func() error {
				_, err := Rebuild(b.Context(), Options{Home: home, Log: zerolog.Nop()}, false, nil)
				return err
			},
			"anew": func() error { return os.RemoveAll(home.Cache()) },
		} {
			b.Run(fmt.Sprintf("messages=%d/%s", messages, name), func(b *testing.B) {
				if err := prepare(); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if name == "anew" {
						if err := prepare(); err != nil {
							b.Fatal(err)
						}
					}
					n, err := Open(b.Context(), Options{Home: home, Log: zerolog.Nop()})
					if err != nil {
						b.Fatal(err)
					}
					if err := n.Close(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
