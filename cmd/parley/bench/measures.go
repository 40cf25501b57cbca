package bench

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// measure takes some figures together.
type measure struct {
	name, what string // what it does, as half a sentence
	figures    []Figure
	take       func(context.Context, *stand) (readings, error)
}

func (m measure) wanted(only []string) []Figure {
	return slices.DeleteFunc(slices.Clone(m.figures), func(f Figure) bool {
		return len(only) > 0 && !slices.Contains(only, m.name) && !slices.Contains(only, f.Name)
	})
}

func measures() []measure {
	const (
		sent     = "one program, through the socket of a node until its answer: "
		heard    = "from the request until the sender has its answer that the other host has fsynced it: "
		answered = "from the request until the answer of another host's agent is here, its command run: "
		most     = "99 of 100 take no longer"
		disk     = "append and fsync of as many bytes to one bare file"
		link     = "the least it takes: append and fsync, a bare NATS request across such a link, append and fsync there, and the reply"
	)
	return []measure{
		{"send", "a program sends messages through a node's socket", []Figure{
			{Name: "send_p50", Unit: "ms", What: sent + "median", Better: Lower, Beside: disk},
			{Name: "send_p99", Unit: "ms", What: sent + most, Better: Lower, Beside: disk},
		}, takeSend},
		{"hop", "messages to another host, one after the other", []Figure{
			{Name: "heard_p50", Unit: "ms", What: heard + "median", Better: Lower, Beside: link, Aim: new(3.0), AimOn: OnValue},
			{Name: "heard_p99", Unit: "ms", What: heard + most, Better: Lower, Beside: link},
			{Name: "nats_p50", Unit: "ms", What: "bare NATS: request and reply across such a link, as many bytes: median", Better: Lower},
			{Name: "fsync_p50", Unit: "ms", What: "bare disk: append and fsync of as many bytes: median", Better: Lower},
		}, takeHop},
		{"answer", "an agent on another host is asked and answers", []Figure{
			{Name: "answer_p50", Unit: "ms", What: answered + "median", Better: Lower, Beside: bareCommand, Aim: new(30.0), AimOn: OnValue},
			{Name: "answer_p99", Unit: "ms", What: answered + most, Better: Lower, Beside: bareCommand},
		}, takeAnswer},
	}
}

func takeSend(ctx context.Context, s *stand) (readings, error) {
	h, err := s.startHost(ctx, 0, func(*homes.Options) {})
	if err != nil {
		return nil, err
	}
	bare, err := s.openBare("bare")
	if err != nil {
		return nil, err
	}
	sent, synced, err := inTurn(s.count(2000, 200), 50, func() error {
		_, err := control.Send.Ask(ctx, h.client, control.SendRequest{To: []string{"mawjs"}, Body: body, Anyway: true})
		return err
	}, func() error { return appendTo(bare) })
	return readings{"send_p50": beside(sent, synced, 50), "send_p99": beside(sent, synced, 99)}, err
}

func takeHop(ctx context.Context, s *stand) (readings, error) {
	near, _, err := s.pair(ctx)
	if err != nil {
		return nil, err
	}
	here, err := s.openBare("here")
	if err != nil {
		return nil, err
	}
	there, err := s.openBare("there")
	if err != nil {
		return nil, err
	}
	link, err := s.openLinks(ctx, 1, func(_ int, m *nats.Msg) {
		if appendTo(there) == nil { // otherwise the one who asks waits in vain, and says so
			_ = m.Respond(nil)
		}
	})
	if err != nil {
		return nil, err
	}
	var synced, asked, least []time.Duration
	heard, _, err := inTurn(s.count(2000, 300), 50, func() error {
		m, err := control.Send.Ask(ctx, near.client, control.SendRequest{To: []string{"human1"}, Body: body, HeardWithin: patience})
		if err == nil && len(m.Heard) != 1 {
			err = fmt.Errorf("waited %s in vain until a message was heard by the other host", patience)
		}
		return err
	}, func() error {
		began := time.Now()
		if err := appendTo(here); err != nil {
			return err
		}
		synced = append(synced, time.Since(began))
		if _, err := link.ask("message"); err != nil {
			return err
		}
		least = append(least, time.Since(began))
		took, err := link.ask("echo.0")
		asked = append(asked, took)
		return err
	})
	return readings{
		"heard_p50": beside(heard, least, 50), "heard_p99": beside(heard, least, 99), "nats_p50": {value: milliseconds(percentile(asked, 50))}, "fsync_p50": {value: milliseconds(percentile(synced, 50))},
	}, err
}

const bareCommand = "the agent's command alone: fork, exec and its end"

func takeAnswer(ctx context.Context, s *stand) (readings, error) {
	near, far, err := s.pair(ctx)
	if err != nil {
		return nil, err
	}
	if err := serveAnswering(ctx, far, near); err != nil {
		return nil, err
	}
	answered, alone, err := inTurn(s.count(500, 60), 1, func() error { return near.ask(ctx) }, func() error { return runAlone(ctx) })
	return readings{"answer_p50": beside(answered, alone, 50), "answer_p99": beside(answered, alone, 99)}, err
}

// serveAnswering has a host serve an agent that answers, and waits until another host knows it. Its
// command takes as little time as a command can.
func serveAnswering(ctx context.Context, h, other *host) error {
	command, err := exec.LookPath("echo")
	if err != nil {
		return err
	}
	if _, err := control.AddAgent.Ask(ctx, h, control.AddAgentRequest{Name: "echo", Exec: command + " done"}); err != nil {
		return err
	}
	return until(ctx, "the other host knows the agent", time.Millisecond, func() (bool, error) {
		list, err := control.List.Ask(ctx, other, control.HostsRequest{})
		return slices.ContainsFunc(list, func(p control.Participant) bool { return p.Name == "echo" }), err
	})
}

// ask asks the agent and waits for its answer, as "parley hey --wait" does.
func (h *host) ask(ctx context.Context) error {
	m, err := control.Send.Ask(ctx, h.client, control.SendRequest{To: []string{"echo"}, Body: "a question"})
	if err != nil {
		return err
	}
	answer, err := control.Wait.Ask(ctx, h.client, control.WaitRequest{Re: m.Path.String(), Within: patience})
	if err == nil && strings.TrimSpace(answer.Body) != "done" {
		err = fmt.Errorf("the agent answered %q", answer.Body)
	}
	return err
}

func runAlone(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "echo", "done")
	cmd.Stdin = strings.NewReader("a question")
	_, err := cmd.Output()
	return err
}

// These bound every wait for something that should take seconds at most, or milliseconds.
const patience, natsWait = 2 * time.Minute, 10 * time.Second

// stand is where one measure is taken: a folder of its own, and what is ended afterwards.
type stand struct {
	dir   string
	quick bool
	ends  []func() error // the last one first
}

// run takes the measure in a new folder. What this machine has no program for is left empty.
func (m measure) run(ctx context.Context, dir string, quick bool, wanted []Figure) ([]Figure, error) {
	s, note := &stand{dir: dir, quick: quick}, ""
	err := os.Mkdir(dir, 0o700)
	var taken readings
	if err == nil {
		taken, err = m.take(ctx, s)
	}
	if errors.Is(err, exec.ErrNotFound) {
		note, err = err.Error(), nil
	}
	for _, end := range slices.Backward(s.ends) {
		err = errors.Join(err, end())
	}
	if err != nil {
		return nil, fmt.Errorf("cannot measure %s: %w", m.name, err)
	}
	for i, f := range wanted {
		if wanted[i].Note = note; note == "" {
			wanted[i] = f.with(taken[f.Name])
		}
	}
	return wanted, nil
}

func (s *stand) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stand) count(full, quick int) int {
	if s.quick {
		return quick
	}
	return full
}

// host is a whole node: its record, its bus, its control socket.
type host struct {
	*node.Node
	client *control.Client
	stop   func() error // may be called twice
}

// newHome makes the home of the host with this number, as "parley init" does.
func (s *stand) newHome(ctx context.Context, i int, change func(*homes.Options)) (configs.Home, error) {
	alias, human := fmt.Sprintf("host%d", i), fmt.Sprintf("human%d", i)
	o := homes.Options{Home: configs.Home{Dir: s.path(alias)}, Version: "bench", Fleet: "bench", Alias: alias, Human: human, Log: zerolog.Nop()}
	change(&o)
	_, err := node.Init(ctx, o)
	return o.Home, err
}

func (s *stand) startHost(ctx context.Context, i int, change func(*homes.Options)) (*host, error) {
	home, err := s.newHome(ctx, i, change)
	if err != nil {
		return nil, err
	}
	return s.runHost(ctx, home, zerolog.Nop())
}

// runHost runs the node of a home as "parley up" does: commands of agents have keepers.
func (s *stand) runHost(ctx context.Context, home configs.Home, log zerolog.Logger) (*host, error) {
	n, err := node.Open(ctx, node.Options{Home: home, Version: "bench", Log: log, Keeper: true})
	if err != nil {
		return nil, err
	}
	running, end := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- n.Run(running, func() { close(ready) }) }() // stop ends it
	h := &host{Node: n, client: control.NewClient(home.Socket(), "bench"), stop: sync.OnceValue(func() error {
		end()
		return errors.Join(<-ended, n.Close())
	})}
	s.ends = append(s.ends, h.stop)
	select {
	case <-ready:
		return h, nil
	case err := <-ended:
		ended <- nil // for stop
		return nil, err
	}
}

func (s *stand) newShared(ctx context.Context) (string, error) {
	dir := s.path("shared.git")
	cmd := exec.CommandContext(ctx, "git", "init", "--quiet", "--bare", "--initial-branch=main", dir)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	return dir, cmd.Run()
}

// pair runs two linked hosts that share a repository.
func (s *stand) pair(ctx context.Context) (near, far *host, err error) {
	shared, err := s.newShared(ctx)
	if err != nil {
		return nil, nil, err
	}
	if near, err = s.startHost(ctx, 0, func(o *homes.Options) { o.Remote, o.Listen = shared, "127.0.0.1:0" }); err != nil {
		return nil, nil, err
	}
	status, err := control.ShowStatus.Ask(ctx, near)
	if err != nil {
		return nil, nil, err
	}
	if far, err = s.startHost(ctx, 1, func(o *homes.Options) { o.Remote, o.Hubs = shared, []string{status.Bus.Links} }); err != nil {
		return nil, nil, err
	}
	return near, far, settled(ctx, []*host{near, far}, true, true)
}

// settled waits until every host knows all others, sees them `live` and has `pushed` what it wrote
// at its start. Each fetches first: so the first hosts learn of the later ones.
func settled(ctx context.Context, all []*host, live, pushed bool) error {
	for _, h := range all {
		if _, err := control.Wake.Ask(ctx, h, control.WakeRequest{}); err != nil {
			return err
		}
	}
	return until(ctx, "the hosts know each other", 20*time.Millisecond, func() (bool, error) {
		for _, h := range all {
			s, err := control.ShowStatus.Ask(ctx, h)
			away := live && slices.ContainsFunc(s.Hosts, func(o control.HostStatus) bool { return !o.Live })
			if err != nil || away || len(s.Hosts) < len(all) || pushed && s.Record.Unrecorded+s.Record.Unpushed > 0 {
				return false, err
			}
		}
		return true, nil
	})
}

func until(ctx context.Context, what string, every time.Duration, so func() (bool, error)) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(every) {
		ok, err := so()
		switch {
		case ok || err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case time.Now().After(deadline):
			return fmt.Errorf("waited %s in vain until %s", patience, what)
		}
	}
}

// body is what a message says, and letter stands for the signed message: both are as long as a short
// paragraph makes them.
var body, letter = strings.Repeat("a paragraph of words ", 19), make([]byte, 735)

// openBare opens the least that makes a message durable: a file to which appendTo appends it.
func (s *stand) openBare(name string) (*os.File, error) {
	f, err := os.OpenFile(s.path(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	s.ends = append(s.ends, f.Close)
	return f, err
}

func appendTo(bare *os.File) error {
	_, err := bare.Write(letter)
	return errors.Join(err, bare.Sync())
}

// natsLinks is bare NATS over the same kind of links as hosts have: a server, and others that are
// linked to it as leaves over loopback with TLS, all in this process, with a client in each.
type natsLinks struct {
	servers []*server.Server
	conns   []*nats.Conn // the first one is that of the hub
}

// openLinks starts the servers, and returns when a message gets across each link. `heard` is called
// with what is published as "message", for each spoke that hears it, from one goroutine for each.
func (s *stand) openLinks(ctx context.Context, spokes int, heard func(spoke int, m *nats.Msg)) (*natsLinks, error) {
	l := &natsLinks{}
	s.ends = append(s.ends, l.close)
	// Nobody looks at the certificate: it only makes TLS work.
	_, key, _ := ed25519.GenerateKey(nil) // chance does not fail
	about := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(nil, about, about, key.Public(), key)
	if err != nil {
		return l, err
	}
	options := &server.Options{}
	options.LeafNode.Host, options.LeafNode.Port, options.LeafNode.TLSTimeout = "127.0.0.1", server.RANDOM_PORT, natsWait.Seconds()
	options.LeafNode.TLSConfig = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	if _, err := l.start(options); err != nil {
		return l, err
	}
	at, err := l.servers[0].Varz(nil)
	if err != nil {
		return l, err
	}
	hub := &url.URL{Scheme: "nats-leaf", Host: fmt.Sprintf("127.0.0.1:%d", at.LeafNode.Port)}
	for i := range spokes {
		options := &server.Options{}
		options.LeafNode.Remotes = []*server.RemoteLeafOpts{{
			URLs: []*url.URL{hub}, TLS: true, TLSTimeout: natsWait.Seconds(), TLSConfig: &tls.Config{InsecureSkipVerify: true}}}
		conn, err := l.start(options)
		if err != nil {
			return l, err
		}
		_, err = conn.Subscribe("message", func(m *nats.Msg) { heard(i, m) })
		echo := fmt.Sprintf("echo.%d", i)
		if err == nil {
			_, err = conn.Subscribe(echo, func(m *nats.Msg) { _ = m.Respond(m.Data) }) // the one who asks notices
		}
		if err != nil {
			return l, err
		}
		// A server tells of its subscriptions in their order: after an answer both are known.
		err = until(ctx, "the bare servers were linked", time.Millisecond, func() (bool, error) {
			_, err := l.ask(echo)
			if errors.Is(err, nats.ErrNoResponders) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

// start runs one server and connects to it inside the process.
func (l *natsLinks) start(o *server.Options) (*nats.Conn, error) {
	o.ServerName = fmt.Sprintf("bench-%d", len(l.servers))
	o.DontListen, o.NoLog, o.NoSigs, o.NoSystemAccount = true, true, true, true
	srv, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	l.servers = append(l.servers, srv)
	srv.Start()
	if !srv.ReadyForConnections(natsWait) {
		return nil, errors.New("a bare NATS server did not start")
	}
	conn, err := nats.Connect("", nats.InProcessServer(srv))
	l.conns = append(l.conns, conn)
	return conn, err
}

// ask has the hub send a request, and returns how long the reply took.
func (l *natsLinks) ask(subject string) (time.Duration, error) {
	began := time.Now()
	_, err := l.conns[0].Request(subject, letter, natsWait)
	return time.Since(began), err
}

func (l *natsLinks) close() error {
	for _, conn := range l.conns {
		conn.Close()
	}
	for _, srv := range l.servers {
		srv.Shutdown()
		srv.WaitForShutdown()
	}
	return nil
}

func inTurn(many, block int, one, other func() error) (took, least []time.Duration, err error) {
	for len(took) < many {
		for i, do := range []func() error{one, other} {
			times := []*[]time.Duration{&took, &least}[i]
			for range block {
				began := time.Now()
				if err := do(); err != nil {
					return nil, nil, err
				}
				*times = append(*times, time.Since(began))
			}
		}
	}
	return took, least, nil
}

// percentile is the nearest rank: the smallest of the times that p percent of them do not exceed.
// It sorts `times`.
func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[max(0, (len(times)*p+99)/100-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// beside is a percentile of what was measured, in milliseconds, beside that of its yardstick.
func beside(took, least []time.Duration, p int) reading {
	return reading{value: milliseconds(percentile(took, p)), yardstick: milliseconds(percentile(least, p))}
}
