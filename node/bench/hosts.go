package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// The measures of sharing have fleetSize hosts, in a quick run quickFleet.
const (
	fleetSize  = 8
	quickFleet = 3
)

// runningNode is a whole node: its record, its bus, its control socket.
type runningNode struct {
	*node.Node
	home  configs.Home
	human string // the only participant of its host
	end   context.CancelFunc
	ended chan error
}

// startNode makes a home and runs its node.
func startNode(ctx context.Context, dir string, change func(*homes.Options)) (*runningNode, error) {
	home, err := newHome(ctx, dir, change)
	if err != nil {
		return nil, err
	}
	return runNode(ctx, home, zerolog.Nop())
}

// runNode runs the node of a home as "parley up" does: commands of agents have keepers.
func runNode(ctx context.Context, home configs.Home, log zerolog.Logger) (*runningNode, error) {
	n, err := node.Open(ctx, node.Options{Home: home, Version: version, Log: log, Keeper: true})
	if err != nil {
		return nil, err
	}
	running, end := context.WithCancel(context.Background())
	r := &runningNode{Node: n, home: home, end: end, ended: make(chan error, 1)}
	ready := make(chan struct{})
	go func() { r.ended <- n.Run(running, func() { close(ready) }) }() // stop ends it
	select {
	case <-ready:
		return r, nil
	case err := <-r.ended:
		end()
		return nil, errors.Join(err, n.Close())
	}
}

func (r *runningNode) stop() error {
	r.end()
	return errors.Join(<-r.ended, r.Close())
}

// hosts are the nodes of one fleet with one shared repository, all on this machine.
type hosts struct {
	shared *sharedRepo
	nodes  []*runningNode
}

// wantedHosts says what fleet a measure needs.
type wantedHosts struct {
	size  int
	alone bool                          // without the bus: they dial a hub that does not exist
	noGit bool                          // after their start, what they say stays on the bus and on their disks
	log   func(host int) zerolog.Logger // nil: nobody looks at the logs
}

// startHosts runs a fleet. The first host is the hub of all others.
func (s *stand) startHosts(ctx context.Context, want wantedHosts) (_ *hosts, err error) {
	shared, err := s.newShared(ctx)
	if err != nil {
		return nil, err
	}
	h := &hosts{shared: shared}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.stop())
		}
	}()
	hub := ""
	if want.alone {
		if hub, err = deadAddress(); err != nil {
			return nil, err
		}
	}
	for i := range want.size {
		s.progress("starting hosts", i, want.size)
		n, err := s.startHost(ctx, i, want, shared, hub)
		if err != nil {
			return nil, err
		}
		h.nodes = append(h.nodes, n)
		if hub == "" {
			status, err := control.ShowStatus.Ask(ctx, n)
			if err != nil {
				return nil, err
			}
			hub = status.Bus.Links
		}
	}
	return h, h.settle(ctx, want)
}

// startHost makes the home of one host and runs it. If `hub` is "", the host is the hub.
func (s *stand) startHost(ctx context.Context, i int, want wantedHosts, shared *sharedRepo, hub string) (*runningNode, error) {
	home, human, err := s.newHost(ctx, i, shared, hub)
	if err != nil {
		return nil, err
	}
	if want.noGit {
		err := reconfigure(home, func(c *configs.Config) { c.PushInterval, c.FetchInterval = time.Hour, time.Hour })
		if err != nil {
			return nil, err
		}
	}
	log := zerolog.Nop()
	if want.log != nil {
		log = want.log(i)
	}
	n, err := runNode(ctx, home, log)
	if err != nil {
		return nil, err
	}
	n.human = human
	return n, nil
}

// newHost makes the home of one host of a fleet.
func (s *stand) newHost(ctx context.Context, i int, shared *sharedRepo, hub string) (home configs.Home, human string, err error) {
	human = fmt.Sprintf("human%d", i)
	home, err = newHome(ctx, s.path(hostName(i).String()), func(o *homes.Options) {
		o.Alias, o.Human, o.Remote = hostName(i).String(), human, shared.dir
		if hub == "" {
			o.Listen = "127.0.0.1:0"
		} else {
			o.Hubs = []string{hub}
		}
	})
	return home, human, err
}

// reconfigure changes the configuration of a home whose node does not run.
func reconfigure(home configs.Home, change func(*configs.Config)) error {
	cfg, err := configs.Load(home.Config())
	if err != nil {
		return err
	}
	change(&cfg)
	if err := os.Remove(home.Config()); err != nil {
		return fmt.Errorf("cannot change the configuration: %w", err)
	}
	return configs.WriteConfig(home.Config(), cfg)
}

// deadAddress is an address at which nobody listens.
func deadAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// settle waits until every host knows all others and, if there is a bus, sees them live. If it
// pushes, it must also have pushed what it wrote at its start.
func (h *hosts) settle(ctx context.Context, want wantedHosts) error {
	if err := h.lookAtRemote(ctx); err != nil {
		return err
	}
	return until(ctx, "the hosts know each other", 20*time.Millisecond, func() (bool, error) {
		for _, n := range h.nodes {
			s, err := control.ShowStatus.Ask(ctx, n)
			if err != nil {
				return false, err
			}
			away := slices.ContainsFunc(s.Hosts, func(o control.HostStatus) bool { return !want.alone && !o.Live })
			// If nobody pushes, the messages of others are left to the courier, and recorded half a
			// minute later.
			pending := !want.noGit && s.Record.Unrecorded+s.Record.Unpushed > 0
			if len(s.Hosts) < len(h.nodes) || away || pending {
				return false, nil
			}
		}
		return true, nil
	})
}

// lookAtRemote has every host fetch now. So the first hosts learn of the later ones: a host that is
// not known yet rings no bell.
func (h *hosts) lookAtRemote(ctx context.Context) error {
	for _, n := range h.nodes {
		if _, err := control.Wake.Ask(ctx, n, control.WakeRequest{}); err != nil {
			return err
		}
	}
	return nil
}

func (h *hosts) stop() error {
	errs := make([]error, len(h.nodes))
	var stopping sync.WaitGroup
	for i, n := range h.nodes {
		stopping.Go(func() { errs[i] = n.stop() })
	}
	stopping.Wait()
	return errors.Join(errs...)
}

// rejected is how many pushes of the hosts came after another's, since their start.
func (h *hosts) rejected(ctx context.Context) (int, error) {
	all := 0
	for _, n := range h.nodes {
		s, err := control.ShowStatus.Ask(ctx, n)
		if err != nil {
			return 0, err
		}
		all += s.Record.Rejected
	}
	return all, nil
}
