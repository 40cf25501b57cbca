// Package notices keeps the warnings that status repeats: what is wrong, until it is
// mended, and what has happened, for a while.
package notices

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// most bounds what status repeats of the warnings since the start; all of
	// them are in the log.
	most = 20
	// lasts is how long status repeats what has happened, rightLasts what
	// somebody did that was put right.
	lasts      = 24 * time.Hour
	rightLasts = time.Hour
)

// Notices are the warnings, oldest first. Each is in the log once. Its methods may be
// called by several goroutines, and whatever locks the caller holds.
type Notices struct {
	log zerolog.Logger
	now func() time.Time
	to  Follower

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

// Follower is told of warnings as they come and go. It is called under a lock, so it waits
// for nobody and asks for no warnings.
type Follower interface {
	Happened(text string)
	Wrong(about, text string) // "": that is over, if it was
}

// New begins to keep warnings. Each goes to the log and to a follower as well.
func New(log zerolog.Logger, now func() time.Time, to Follower) *Notices {
	return &Notices{log: log, now: now, to: to, said: map[string]bool{}}
}

// Happened warns the operator of what has happened, in the log and in status.
func (ns *Notices) Happened(format string, args ...any) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.event(fmt.Sprintf(format, args...))
}

// Once is Happened for what is to be said of something one time, and reports whether
// this was it.
func (ns *Notices) Once(about, format string, args ...any) bool {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if ns.said[about] {
		return false
	}
	ns.said[about] = true
	ns.event(fmt.Sprintf(format, args...))
	return true
}

// Unless is Happened, unless a warning says some text already.
func (ns *Notices) Unless(text, format string, args ...any) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if !slices.ContainsFunc(ns.all, func(w warning) bool { return strings.Contains(w.text, text) }) {
		ns.event(fmt.Sprintf(format, args...))
	}
}

// News warns of what has happened, once for as long as status repeats it.
func (ns *Notices) News(text string) { ns.Unless(text, "%s", text) }

// Wrong warns the operator of something that is wrong: in the log when that is new, and
// in status until it is mended.
func (ns *Notices) Wrong(about, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if ns.about(about) == text {
		return
	}
	ns.log.Warn().Msg(text)
	ns.add(warning{about: about, text: text, at: ns.now()})
	ns.to.Wrong(about, text)
}

// Mended notes that what was wrong about something is no longer.
func (ns *Notices) Mended(about string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.mend(about)
}

// putRight is Mended for what somebody else did: status tells of it a while longer,
// because a node puts much of that right before anybody has seen it.
func (ns *Notices) putRight(about string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if was := ns.mend(about); was != "" {
		now := ns.now()
		ns.add(warning{text: was + "; it was put right", at: now, until: now.Add(rightLasts)})
	}
}

// OfFile warns of what a file says that it should not, or that it says that no more.
func (ns *Notices) OfFile(path, what, wrong string) {
	if about := what + " in " + path; wrong != "" {
		ns.Wrong(about, "%s %s", path, wrong)
	} else {
		ns.putRight(about)
	}
}

// Opened says what in the home was open to other users until this start: who could
// read a key may have read it.
func (ns *Notices) Opened(opened []configs.Opened) {
	for _, o := range opened {
		switch {
		case o.Err != nil:
			ns.Happened("%v", o.Err)
		case o.Key:
			ns.Happened("%s was open to other users of this machine (mode %04o), and is not any more: if somebody may have read it, take a new key: parley host rotate", o.Path, o.Mode)
		default:
			ns.Happened("%s was open to other users of this machine (mode %04o), and is not any more", o.Path, o.Mode)
		}
	}
}

// KeeperLost says that something of a run may go on, for as long as callers are judged by that.
func (ns *Notices) KeeperLost(agent protocol.Name) {
	ns.Wrong("the keepers of "+agent.String(), "the keeper of a run of %s was ended by somebody: what it has started may go on, and programs without "+
		"a parent that began since are not taken for the operator's, until the node is started anew", agent)
}

// Forget forgets the warnings that name a file.
func (ns *Notices) Forget(path string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.all = slices.DeleteFunc(ns.all, func(w warning) bool {
		named := strings.Contains(w.text, path)
		if named {
			ns.to.Wrong(w.about, "")
		}
		return named
	})
}

// Clear forgets all.
func (ns *Notices) Clear() {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	for _, w := range ns.all {
		ns.to.Wrong(w.about, "")
	}
	ns.all = nil
	clear(ns.said)
}

// Texts are the warnings as status shows them. What happened a while ago says so.
func (ns *Notices) Texts() (all []string) {
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

// event is Happened for who holds mu.
func (ns *Notices) event(text string) {
	ns.log.Warn().Msg(text)
	ns.to.Happened(text)
	now := ns.now()
	ns.add(warning{text: text, at: now, until: now.Add(lasts)})
}

// mend drops what is wrong about something, and returns what that was, "" for nothing.
// The caller holds mu.
func (ns *Notices) mend(about string) (was string) {
	ns.to.Wrong(about, "")
	if was = ns.about(about); was != "" {
		ns.log.Info().Str("was", was).Msg("a warning is over")
		ns.drop(about)
	}
	return was
}

// about is the warning about that, "" if nothing is wrong with it. The caller holds mu.
func (ns *Notices) about(about string) string {
	for _, w := range ns.all {
		if w.about == about {
			return w.text
		}
	}
	return ""
}

// add takes in a warning, in place of the one about the same. Where there are too many,
// what has happened makes way before what is wrong. The caller holds mu.
func (ns *Notices) add(w warning) {
	ns.drop(w.about)
	ns.all = append(ns.all, w)
	if len(ns.all) > most {
		i := max(0, slices.IndexFunc(ns.all, func(w warning) bool { return w.about == "" }))
		ns.all = slices.Delete(ns.all, i, i+1)
	}
}

// drop takes out what is wrong about that. The caller holds mu.
func (ns *Notices) drop(about string) {
	ns.all = slices.DeleteFunc(ns.all, func(w warning) bool { return about != "" && w.about == about })
}
