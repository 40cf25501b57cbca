package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

func idleMeasure() Measure {
	return Measure{
		Name: "idle", What: "two linked nodes with nothing to do", take: takeIdle,
		Figures: []Spec{
			{Name: "idle_memory", Unit: "MiB", What: "a node with nothing to do, linked to another, as a process: its anonymous memory, the larger of the two", Better: Lower,
				Aim: 60, AimOn: OnValue},
			{Name: "idle_resident", Unit: "MiB", What: "the same process: all its resident memory, with what it shares with the file it was started from", Better: Lower},
			{Name: "idle_cpu", Unit: "%", What: "processor time of such a process and of the programs it runs, of one processor", Better: Lower,
				Aim: 1, AimOn: OnValue, Full: true},
		},
	}
}

func takeIdle(ctx context.Context, s *stand) (_ readings, err error) {
	if len(s.options.Command) == 0 {
		return nil, skipped("this program cannot start parley")
	}
	shared, err := s.newShared(ctx)
	if err != nil {
		return nil, err
	}
	hub, err := s.startAlone(ctx, 0, shared, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hub.stop(ctx)) }()
	status, err := control.ShowStatus.Ask(ctx, hub.client)
	if err != nil {
		return nil, err
	}
	spoke, err := s.startAlone(ctx, 1, shared, status.Bus.Links)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, spoke.stop(ctx)) }()
	err = until(ctx, "the nodes are linked", 10*time.Millisecond, func() (bool, error) {
		status, err := control.ShowStatus.Ask(ctx, hub.client)
		return len(status.Hosts) == 2 && !slices.ContainsFunc(status.Hosts, func(h control.HostStatus) bool { return !h.Live }), err
	})
	if err != nil {
		return nil, err
	}
	return s.rested(ctx, []*process{hub, spoke})
}

// rested measures processes that have nothing to do.
func (s *stand) rested(ctx context.Context, all []*process) (readings, error) {
	settle, look := time.Duration(s.count(10, 1))*time.Second, time.Duration(s.count(30, 2))*time.Second
	s.progress("letting them rest", 0, 0)
	if err := pause(ctx, settle); err != nil {
		return nil, err
	}
	var used []time.Duration
	for _, p := range all {
		used = append(used, processorTime(p.cmd.Process.Pid))
	}
	began := time.Now()
	s.progress(fmt.Sprintf("looking on for %s", look), 0, 0)
	if err := pause(ctx, look); err != nil {
		return nil, err
	}
	took := time.Since(began)
	var share float64
	var anonymous, resident int64
	for i, p := range all {
		pid := p.cmd.Process.Pid
		share = max(share, 100*(processorTime(pid)-used[i]).Seconds()/took.Seconds())
		anonymous, resident = max(anonymous, anonymousMemory(pid)), max(resident, residentMemory(pid))
	}
	if resident == 0 {
		return nil, skipped("only Linux tells what a process uses")
	}
	note := fmt.Sprintf("over %s", took.Round(time.Second))
	return readings{
		"idle_memory":   {value: float64(anonymous) / mebibyte},
		"idle_resident": {value: float64(resident) / mebibyte},
		"idle_cpu":      {value: share, note: note},
	}, nil
}

// startAlone runs a host of a fleet as a process of its own, and waits until it answers.
func (s *stand) startAlone(ctx context.Context, i int, shared *sharedRepo, hub string) (*process, error) {
	home, _, err := s.newHost(ctx, i, shared, hub)
	if err != nil {
		return nil, err
	}
	p, err := s.startProcess(ctx, home)
	if err != nil {
		return nil, err
	}
	err = until(ctx, "a node answered", 5*time.Millisecond, func() (bool, error) {
		if err := p.running(); err != nil {
			return false, err
		}
		_, err := control.ShowStatus.Ask(ctx, p.client)
		return answered(err)
	})
	if err != nil {
		return nil, errors.Join(err, p.kill())
	}
	return p, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
