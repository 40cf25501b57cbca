package runlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// History returns what the log still has of all jobs on a message, the oldest entry first. It reads
// the whole log, which has some megabytes.
func (l *Log) History(p protocol.Path) ([]Entry, error) {
	all, err := l.Histories([]protocol.Path{p})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Histories returns the histories of several messages, in their order.
func (l *Log) Histories(of []protocol.Path) ([][]Entry, error) {
	l.reading.Lock()
	defer l.reading.Unlock()
	steps := make([][]Entry, len(of))
	for _, file := range []string{l.aside(), l.file} {
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot read the log of runs: %w", err)
		}
		for i, p := range of {
			for e := range about(data, p) {
				if e.Path == p.String() && !slices.Contains(steps[i], e) {
					steps[i] = append(steps[i], e)
				}
			}
		}
	}
	return steps, nil
}

// about yields the entries of those whole lines of `data` in which the path of a message occurs.
// Other lines are not decoded: decoding them would take a hundred times as long.
func about(data []byte, p protocol.Path) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		path, err := json.Marshal(p.String())
		if err != nil {
			return // no path is like this
		}
		for at := bytes.Index(data, path); at >= 0; at = bytes.Index(data, path) {
			begin := bytes.LastIndexByte(data[:at], '\n') + 1
			end := bytes.IndexByte(data[at:], '\n')
			if end < 0 {
				return
			}
			end += at + 1
			for e := range entries(data[begin:end]) {
				if !yield(e) {
					return
				}
			}
			data = data[end:]
		}
	}
}

// entries yields the entries of all whole lines of `data` that make sense.
func entries(data []byte) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for line := range bytes.Lines(data) {
			var e Entry
			if json.Unmarshal(line, &e) == nil && (e.Path != "" || e.Step == Granted) && !yield(e) {
				return
			}
		}
	}
}
