package bench

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/gitsync"
)

// storedBlock is how many messages go to the record, then to the bare file, and so on in turn. So
// other work of the disk affects both.
const storedBlock = 50

func storedMeasure() Measure {
	const bare = "append and fsync of the same bytes to one bare file"
	return Measure{
		Name: "stored", What: "one sender stores messages one after the other", take: takeStored,
		Figures: []Spec{
			{Name: "stored_p50", Unit: "ms", What: "one sender, until a message is stored: median", Beside: bare,
				Better: Lower, Aim: 3, AimOn: OnRatio},
			{Name: "stored_p99", Unit: "ms", What: "one sender, until a message is stored: 99 of 100 take no longer", Beside: bare,
				Better: Lower, Aim: 20, AimOn: OnValue},
		},
	}
}

func takeStored(ctx context.Context, s *stand) (_ readings, err error) {
	r, err := s.newRecord(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	bare, err := openBare(s.path("bare"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	letters, err := s.lettersOfADay(ctx, r.ID(), s.count(5000, 1000))
	if err != nil {
		return nil, err
	}
	var stored, synced []time.Duration
	for len(letters) > 0 {
		s.progress("storing one by one", len(stored), len(stored)+len(letters))
		block := letters[:min(storedBlock, len(letters))]
		letters = letters[len(block):]
		for _, l := range block {
			began := time.Now()
			if err := r.Append(ctx, []gitsync.MessageFile{l}); err != nil {
				return nil, err
			}
			stored = append(stored, time.Since(began))
		}
		for _, l := range block {
			began := time.Now()
			if err := bare.append(l.Data); err != nil {
				return nil, err
			}
			synced = append(synced, time.Since(began))
		}
	}
	read := func(p int) reading {
		return reading{value: milliseconds(percentile(stored, p)), yardstick: milliseconds(percentile(synced, p))}
	}
	return readings{"stored_p50": read(50), "stored_p99": read(99)}, nil
}
