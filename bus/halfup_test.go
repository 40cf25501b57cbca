package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// A link may be connected although the peer does not hear the fleet through it. Such a link is
// neither up nor down. It is called half up until the peer hears.
func TestALinkIsHalfUpUntilThePeerHears(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	_, conn, _ := strangeServer(t, "black-strange", sideDoor(t, hub, third, false))
	awaitTrue(t, "the link is half up", func() bool {
		l := hub.Links()
		return len(l) == 1 && l[0].HalfUp && !l[0].Up && l[0].Host == "black" && l[0].Problem == halfUp
	})
	subscribe(t, conn, "parley.dawn.>")
	awaitTrue(t, "the link is up", func() bool {
		l := hub.Links()
		return len(l) == 1 && l[0].Up && !l[0].HalfUp && l[0].Problem == ""
	})
	hub.awaitLinked(t, 1)
}

// It prevents: a host that shows no link at all, as if nothing were wrong. Its connection to a hub
// is just beginning or ending, and its server does not have it.
func TestADialledLinkIsShownBeforeTheServerHasIt(t *testing.T) {
	h := newHost(t, newFleet(), "black")
	h.opts.Hubs = func() []Hub { return nil }
	h.start(t)
	if got := h.Links(); len(got) != 0 {
		t.Errorf("without anybody to dial there is %+v", got)
	}
	h.tree.commit(&outlink{host: "white", address: "192.0.2.1:4223", end: func() {}})
	if l := onlyLink(t, h); l.Up || !l.HalfUp || !l.Out || l.Host != "white" || l.Address != "192.0.2.1:4223" || l.Problem != halfUp {
		t.Errorf("the link is %+v, want one to white that is half up", l)
	}
}

// It prevents: a host that takes links and shows no link at all. Either it has taken a link up that
// its server does not have yet, or it is not yet lonely enough to dial up itself.
func TestAHubShowsWhomItMisses(t *testing.T) {
	for _, missed := range []string{"alpha", "gamma"} {
		h := newHost(t, newFleet(), "beta")
		h.opts.Links = "127.0.0.1:0"
		hub := Hub{Alias: protocol.Name(missed), Addresses: []string{closedPort(t)}}
		h.opts.Hubs = func() []Hub { return []Hub{hub} }
		h.start(t)
		for _, taken := range []bool{false, h.tree.takeUp(time.Now())} {
			if l := onlyLink(t, h); l.Up || l.HalfUp || !strings.Contains(l.Peer, missed) {
				t.Errorf("with a link taken: %v; the link is %+v, want one to %s that is down", taken, l, missed)
			}
		}
	}
}

// It prevents: a host that waits for ever for a hub that takes the link and hangs, while another
// hub is there.
func TestAHubThatTakesLinksAndHangs(t *testing.T) {
	t.Parallel()
	f := newFleet()
	deaf, hub, leaf := newHost(t, f, "grey"), newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	both := append(at(hangingHub(t, deaf, welcome{Link: linkVersion}))(), hubsOf(t, hub)()...)
	leaf.opts.Hubs = func() []Hub { return both }
	leaf.start(t).awaitLinked(t, 1)
	if l := onlyLink(t, leaf); !l.Up || l.Host != "white" {
		t.Errorf("the link is %+v, want the one to white", l)
	}

	alone := newHost(t, f, "brown")
	alone.opts.Hubs = at(both[0].Addresses...)
	alone.start(t)
	awaitTrue(t, "what is wrong to be told", func() bool {
		l := onlyLink(t, alone)
		return !l.Up && strings.Contains(l.Problem, "its NATS server says nothing")
	})
}

// hangingHub listens with the key of `h`. It gives `answer` to each host that asks for a link, and
// then says nothing. It returns its address.
func hangingHub(t *testing.T, h *host, answer welcome) string {
	t.Helper()
	cert, err := hostCertificate(h.opts.Key, h.alias, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{cert}, NextProtos: []string{linkName}, ClientAuth: tls.RequireAnyClientCert,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); work.Wait() })
	work.Go(func() {
		acceptAll(ctx, l, func(conn net.Conn) {
			work.Go(func() {
				defer conn.Close()
				stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
				defer stop()
				var asks hello
				if errors.Join(readLine(conn, &asks), writeLine(conn, answer)) == nil {
					_, _ = io.Copy(io.Discard, conn) // until the dialling host gives up
				}
			})
		})
	})
	return l.Addr().String()
}
