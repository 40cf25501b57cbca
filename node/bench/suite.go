package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options say how a suite is run. Only Command is required, and only if a measure starts parley as
// a process of its own.
type Options struct {
	Dir   string   // the folder, which also decides which disk is measured; "": DefaultDir
	Quick bool     // less of everything: seconds instead of minutes
	Only  []string // the figures or measures to take; none: all
	// Command is how to start parley: the program and its first arguments.
	Command []string
	// Progress is called with what is being done, and how much of it is done. `of` is how much
	// there is in all; 0 if that is not known. Progress may be nil.
	Progress func(measure, doing string, done, of int)
}

// Suite is what one bench measures.
type Suite struct {
	Name     string
	Measures []Measure
}

// Measure takes some figures together.
type Measure struct {
	Name    string
	What    string // what it does, as half a sentence
	Figures []Spec
	take    func(context.Context, *stand) (readings, error)
}

// skipped says why a measure cannot be taken on this machine.
type skipped string

func (s skipped) Error() string { return string(s) }

// Run takes the measures one after the other, each in a folder of its own. The folder is removed
// after that, however the measure ends. If a measure fails, Run returns the figures that were taken
// before, too.
func (s Suite) Run(ctx context.Context, o Options) (figures []Figure, err error) {
	if err := s.Check(o.Only); err != nil {
		return nil, err
	}
	dir, err := makeDir(o.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tools := toolsOf(filepath.Join(dir, "yardsticks"), o.Quick)
	for i, m := range s.Measures {
		specs := m.wanted(o.Only)
		if len(specs) == 0 {
			continue
		}
		st := &stand{options: o, tools: tools, measure: m.Name, dir: filepath.Join(dir, fmt.Sprint(i))}
		taken, err := m.takeIn(ctx, st)
		var skip skipped
		if err != nil && !errors.As(err, &skip) {
			return figures, fmt.Errorf("cannot measure %s: %w", m.Name, err)
		}
		for _, spec := range specs {
			if r, ok := taken[spec.Name]; ok {
				figures = append(figures, spec.figure(r, !o.Quick))
			} else {
				figures = append(figures, spec.missing(string(skip)))
			}
		}
	}
	return figures, nil
}

// takeIn takes the measure in the stand's folder.
func (m Measure) takeIn(ctx context.Context, st *stand) (_ readings, err error) {
	if err := os.Mkdir(st.dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(st.dir)) }()
	st.progress(m.What, 0, 0)
	return m.take(ctx, st)
}

// wanted are the figures of the measure that `only` names.
func (m Measure) wanted(only []string) []Spec {
	if len(only) == 0 || slices.Contains(only, m.Name) {
		return m.Figures
	}
	var specs []Spec
	for _, spec := range m.Figures {
		if slices.Contains(only, spec.Name) {
			specs = append(specs, spec)
		}
	}
	return specs
}

// Names are the names that Options.Only may have.
func (s Suite) Names() []string {
	var names []string
	for _, m := range s.Measures {
		names = append(names, m.Name)
		for _, spec := range m.Figures {
			names = append(names, spec.Name)
		}
	}
	return names
}

// Check returns an error for a name that belongs neither to a figure nor to a measure.
func (s Suite) Check(only []string) error {
	names := s.Names()
	for _, name := range only {
		if !slices.Contains(names, name) {
			var measures []string
			for _, m := range s.Measures {
				measures = append(measures, m.Name)
			}
			return fmt.Errorf("cannot measure %q: bench %s has %s, and the figures of its table", name, s.Name, strings.Join(measures, ", "))
		}
	}
	return nil
}

// Takes reports whether a run that is limited to `only` takes the measure with that name.
func (s Suite) Takes(measure string, only []string) bool {
	return slices.ContainsFunc(s.Measures, func(m Measure) bool { return m.Name == measure && len(m.wanted(only)) > 0 })
}

// stand is where one measure is taken.
type stand struct {
	options Options
	tools   *tools
	measure string
	dir     string
}

// count is how many of something the run takes: `full` or, in a quick run, `quick`.
func (s *stand) count(full, quick int) int {
	if s.options.Quick {
		return quick
	}
	return full
}

func (s *stand) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stand) progress(doing string, done, of int) {
	if s.options.Progress != nil {
		s.options.Progress(s.measure, doing, done, of)
	}
}
