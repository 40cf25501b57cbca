package node

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/internal/span"
)

const (
	// maxNotices bounds what status repeats of the warnings since the start; all of
	// them are in the log.
	maxNotices = 20
	// noticeLasts is how long status repeats what has happened, rightLasts what
	// somebody did that was put right.
	noticeLasts = 24 * time.Hour
	rightLasts  = time.Hour
)

// notices are the warnings that status repeats, oldest first: what is wrong, until it is
// mended, and what has happened, for a while. Each is in the log once.
type notices struct {
	log zerolog.Logger
	now func() time.Time

	mu   sync.Mutex // guards what follows
	all  []warning
	said map[string]bool // what is warned of once
}

type warning struct {
	about string    // what is wrong; "" for what has happened
	text  string    // for people
	at    time.Time // when that was noticed
	until time.Time // of what has happened: when status forgets it
}

func newNotices(log zerolog.Logger, now func() time.Time) *notices {
	return &notices{log: log, now: now, said: map[string]bool{}}
}

// happened warns the operator of what has happened, in the log and in status.
func (ns *notices) happened(format string, args ...any) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.event(fmt.Sprintf(format, args...))
}

// once is happened for what is to be said of something one time, and reports whether
// this was it.
func (ns *notices) once(about, format string, args ...any) bool {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if ns.said[about] {
		return false
	}
	ns.said[about] = true
	ns.event(fmt.Sprintf(format, args...))
	return true
}

// unless is happened, unless a warning says some text already.
func (ns *notices) unless(text, format string, args ...any) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if !slices.ContainsFunc(ns.all, func(w warning) bool { return strings.Contains(w.text, text) }) {
		ns.event(fmt.Sprintf(format, args...))
	}
}

// news warns of what has happened, once for as long as status repeats it.
func (ns *notices) news(text string) { ns.unless(text, "%s", text) }

// wrong warns the operator of something that is wrong: in the log when that is new, and
// in status until it is mended.
func (ns *notices) wrong(about, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if ns.about(about) == text {
		return
	}
	ns.log.Warn().Msg(text)
	ns.add(warning{about: about, text: text, at: ns.now()})
}

// mended notes that what was wrong about something is no longer.
func (ns *notices) mended(about string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.mend(about)
}

// putRight is mended for what somebody else did: status tells of it a while longer,
// because a node puts much of that right before anybody has seen it.
func (ns *notices) putRight(about string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if was := ns.mend(about); was != "" {
		now := ns.now()
		ns.add(warning{text: was + "; it was put right", at: now, until: now.Add(rightLasts)})
	}
}

// ofFile warns of what a file says that it should not, or that it says that no more.
func (ns *notices) ofFile(path, what, wrong string) {
	if about := what + " in " + path; wrong != "" {
		ns.wrong(about, "%s %s", path, wrong)
	} else {
		ns.putRight(about)
	}
}

// forget forgets the warnings that name a file.
func (ns *notices) forget(path string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.all = slices.DeleteFunc(ns.all, func(w warning) bool { return strings.Contains(w.text, path) })
}

// clear forgets all.
func (ns *notices) clear() {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.all = nil
	clear(ns.said)
}

// texts are the warnings as status shows them. What happened a while ago says so.
func (ns *notices) texts() (all []string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	now := ns.now()
	for _, w := range ns.all {
		switch age := now.Sub(w.at); {
		case w.about == "" && now.After(w.until):
		case w.about == "" && age >= time.Minute:
			all = append(all, fmt.Sprintf("%s (%s ago)", w.text, span.Text(age.Truncate(time.Minute))))
		default:
			all = append(all, w.text)
		}
	}
	return all
}

// event is happened for who holds mu.
func (ns *notices) event(text string) {
	ns.log.Warn().Msg(text)
	now := ns.now()
	ns.add(warning{text: text, at: now, until: now.Add(noticeLasts)})
}

// mend drops what is wrong about something, and returns what that was, "" for nothing.
// The caller holds mu.
func (ns *notices) mend(about string) (was string) {
	if was = ns.about(about); was != "" {
		ns.log.Info().Str("was", was).Msg("a warning is over")
		ns.drop(about)
	}
	return was
}

// about is the warning about that, "" if nothing is wrong with it. The caller holds mu.
func (ns *notices) about(about string) string {
	for _, w := range ns.all {
		if w.about == about {
			return w.text
		}
	}
	return ""
}

// add takes in a warning, in place of the one about the same. Where there are too many,
// what has happened makes way before what is wrong. The caller holds mu.
func (ns *notices) add(w warning) {
	ns.drop(w.about)
	ns.all = append(ns.all, w)
	if len(ns.all) > maxNotices {
		i := max(0, slices.IndexFunc(ns.all, func(w warning) bool { return w.about == "" }))
		ns.all = slices.Delete(ns.all, i, i+1)
	}
}

// drop takes out what is wrong about that. The caller holds mu.
func (ns *notices) drop(about string) {
	ns.all = slices.DeleteFunc(ns.all, func(w warning) bool { return about != "" && w.about == about })
}
