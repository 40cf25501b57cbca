package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// The sizes of records about which parley makes promises.
const (
	quickScale = 2000
	usualScale = 100_000
	largeScale = 1_000_000
)

const mebibyte = 1 << 20

// startMeasure starts a node on a record of `scale` messages; 0 means usualScale.
func startMeasure(scale int) Measure {
	if scale == 0 {
		scale = usualScale
	}
	on := fmt.Sprintf("on %d messages", scale)
	const (
		read  = `"git archive", which reads every message once`
		bytes = "the messages' own bytes"
	)
	start := Spec{Name: "start_cached", Unit: "s", What: "from the start of a process to its first stored message, " + on, Better: Lower,
		Beside: read, Full: scale == usualScale}
	switch {
	case scale <= usualScale:
		start.Aim, start.AimOn = 1, OnValue
	case scale <= largeScale:
		start.Aim, start.AimOn = 5, OnValue
	}
	memory := Spec{Name: "memory_cached", Unit: "MiB", What: "most anonymous memory of that process while it starts and for a second after, " + on,
		Better: Lower, Beside: bytes, Full: scale == usualScale}
	if scale <= largeScale {
		memory.Aim, memory.AimOn = 300, OnValue
	}
	return Measure{
		Name: "start", What: "a node starts on a long record",
		take: func(ctx context.Context, s *stand) (readings, error) { return takeStart(ctx, s, scale) },
		Figures: []Spec{start, memory,
			{Name: "start_uncached", Unit: "s", What: "start_cached without the cache: all is read from git", Better: Lower, Beside: read},
			{Name: "memory_uncached", Unit: "MiB", What: "memory_cached without the cache, until that is whole again", Better: Lower, Beside: bytes},
		},
	}
}

// takeStart starts a node twice: first without the cache, which that start makes, and then with it.
func takeStart(ctx context.Context, s *stand, scale int) (readings, error) {
	if len(s.options.Command) == 0 {
		return nil, skipped("this program cannot start parley")
	}
	note := ""
	if scale == usualScale && s.options.Quick {
		scale = quickScale
		note = fmt.Sprintf("on %d messages only", scale)
	}
	began := time.Now().UTC().Add(-time.Duration(scale+1) * apart)
	home, err := newHome(ctx, s.path("home"), func(o *homes.Options) { o.Now = func() time.Time { return began } })
	if err != nil {
		return nil, err
	}
	size, err := s.fill(ctx, home, scale)
	if err != nil {
		return nil, err
	}
	archiving, err := s.archive(ctx, home)
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(home.Cache()); err != nil {
		return nil, fmt.Errorf("cannot remove the cache: %w", err)
	}
	s.progress("starting without the cache", 0, 0)
	without, err := s.startOnce(ctx, home)
	if err != nil {
		return nil, err
	}
	s.progress("starting with the cache", 0, 0)
	with, err := s.startOnce(ctx, home)
	if err != nil {
		return nil, err
	}
	taken := readings{
		"start_cached":   {value: with.took.Seconds(), yardstick: archiving.Seconds(), note: note},
		"start_uncached": {value: without.took.Seconds(), yardstick: archiving.Seconds(), note: note},
	}
	if with.memory > 0 {
		taken["memory_cached"] = reading{value: float64(with.memory) / mebibyte, yardstick: float64(size) / mebibyte, note: note}
		taken["memory_uncached"] = reading{value: float64(without.memory) / mebibyte, yardstick: float64(size) / mebibyte, note: note}
	}
	return taken, nil
}

// apart is the time between two messages of a filled record: 10,000 a day.
const apart = 24 * time.Hour / 10_000

// fill writes `n` messages into the record of a home, as its host, to 20 names. The last one is of
// now. It returns how many bytes they have.
func (s *stand) fill(ctx context.Context, home configs.Home, n int) (size int64, err error) {
	const names = 20
	at := time.Now().UTC().Add(-time.Duration(n) * apart)
	return s.fillWith(ctx, home, n, func(a *author, i int) (gitsync.MessageFile, error) {
		return a.write(fmt.Sprintf("agent%d", a.random.IntN(names)), at.Add(time.Duration(i)*apart))
	})
}

// fillWith is fill with the `n` messages that `write` makes, one after the other.
func (s *stand) fillWith(ctx context.Context, home configs.Home, n int, write func(a *author, i int) (gitsync.MessageFile, error)) (size int64, err error) {
	const batch = 1000
	r, err := openHome(ctx, home, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	key, err := homes.HostKey(home)
	if err != nil {
		return 0, err
	}
	a := newAuthor(r.ID(), hostName(0), key.Pair)
	if a.prev, err = lastOf(ctx, r.Record); err != nil {
		return 0, err
	}
	letters := make([]gitsync.MessageFile, 0, batch)
	for i := range n {
		l, err := write(a, i)
		if err != nil {
			return 0, err
		}
		size += int64(len(l.Data))
		if letters = append(letters, l); len(letters) < batch && i < n-1 {
			continue
		}
		s.progress("filling a record", i, n)
		if err := r.Append(ctx, letters); err != nil {
			return 0, err
		}
		letters = make([]gitsync.MessageFile, 0, batch)
	}
	return size, nil
}

// lastOf is the hash of the record's last message, which the next one names.
func lastOf(ctx context.Context, r *gitsync.Record) (string, error) {
	var last gitsync.MessageFile
	err := r.Walk(ctx, func(l gitsync.MessageFile) error {
		if last.Path.IsZero() || l.Path.Time().After(last.Path.Time()) {
			last = l
		}
		return nil
	})
	return protocol.Hash(last.Data), err
}

// archive is how long the git program takes to read every message once.
func (s *stand) archive(ctx context.Context, home configs.Home) (time.Duration, error) {
	s.progress("reading it with the git program", 0, 0)
	began := time.Now()
	_, err := s.tools.run(ctx, home.Record(), "archive", "--format=tar", "--output="+os.DevNull, "main", "data")
	var none skipped
	if errors.As(err, &none) {
		return 0, nil
	}
	return time.Since(began), err
}

// started is what one start took.
type started struct {
	took   time.Duration // until the first message was stored
	memory int64         // the most anonymous memory, in bytes; 0 if the system does not say
}

// startOnce runs a node as a process of its own, sends it a message as soon as it takes one,
// watches it until it rests, and ends it.
func (s *stand) startOnce(ctx context.Context, home configs.Home) (_ started, err error) {
	began := time.Now()
	p, err := s.startProcess(ctx, home)
	if err != nil {
		return started{}, err
	}
	watch := watchMemory(p.cmd.Process.Pid)
	defer func() {
		watch.stop()
		if err != nil {
			err = errors.Join(err, p.kill())
		}
	}()
	var seen started
	err = until(ctx, "a node took a message", time.Millisecond, func() (bool, error) {
		if err := p.running(); err != nil {
			return false, err
		}
		_, err := control.Send.Ask(ctx, p.client, control.SendRequest{To: []string{"agent0"}, Body: "the first message after a start", Anyway: true})
		return answered(err)
	})
	if err != nil {
		return seen, err
	}
	seen.took = time.Since(began)
	if err := s.rest(ctx, p.client); err != nil {
		return seen, err
	}
	seen.memory = watch.stop()
	return seen, p.stop(ctx)
}

// answered distinguishes a node that does not answer yet from a node that refuses.
func answered(err error) (bool, error) {
	if err != nil && control.AsError(err).Kind == control.KindUnavailable {
		return false, nil
	}
	return err == nil, err
}

// rest waits a second, and until the node has put all its messages into the index of words.
func (s *stand) rest(ctx context.Context, client control.Service) error {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for {
		found, err := control.Search.Ask(ctx, client, control.SearchRequest{Words: "message", Limit: 1})
		if err != nil || found.Pending == 0 {
			return err
		}
		s.progress("the index of words: messages left", found.Pending, 0)
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
