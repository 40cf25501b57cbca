// Package notices keeps the warnings that status repeats. A warning about what is wrong stays until
// that is mended. A warning about what has happened stays for a while.
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
	// most is how many warnings since the start status repeats. All of them are in the log.
	most = 20
	// lasts is how long status repeats what has happened. rightLasts is how long it repeats what
	// somebody did and what was put right.
	lasts      = 24 * time.Hour
	rightLasts = time.Hour
)

// Notices are the warnings, the oldest first. Each is in the log once. Its methods may be called
// concurrently, and no matter which locks the caller holds.
type Notices struct {
	log zerolog.Logger
	now func() time.Time
	to  Follower

	mu   sync.Mutex // guards what follows
	all  []warning
	said map[string]bool // the subjects about which Once has warned
}

type warning struct {
	about string    // the subject; "" if something has happened that stands beside all else
	text  string    // for people
	at    time.Time // when that was noticed
	until time.Time // if something has happened: when status forgets it
}

// Follower is told of warnings as they come and go. It is called while a lock is held, so it must
// not wait, and must not ask for warnings.
type Follower interface {
	Happened(text string)
	Wrong(about, text string) // text "": nothing is wrong with it any more
}

// New makes an empty list of warnings. Each warning goes also to the log and to the follower `to`.
func New(log zerolog.Logger, now func() time.Time, to Follower) *Notices {
	return &Notices{log: log, now: now, to: to, said: map[string]bool{}}
}

// Happened warns the operator of what has happened, in the log and in status.
func (ns *Notices) Happened(format string, args ...any) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.event("", fmt.Sprintf(format, args...))
}

// Latest is Happened, and status repeats only the latest about a subject.
func (ns *Notices) Latest(about, format string, args ...any) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.event(about, fmt.Sprintf(format, args...))
}

// Once is Happened for what is said only once about a subject. It reports whether this was the
// time.
func (ns *Notices) Once(about, format string, args ...any) bool {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if ns.said[about] {
		return false
	}
	ns.said[about] = true
	ns.event("", fmt.Sprintf(format, args...))
	return true
}

// Unless is Happened, unless a warning contains `text` already.
func (ns *Notices) Unless(text, format string, args ...any) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if !slices.ContainsFunc(ns.all, func(w warning) bool { return strings.Contains(w.text, text) }) {
		ns.event("", fmt.Sprintf(format, args...))
	}
}

// News warns of what has happened. It says nothing while status still repeats the same text.
func (ns *Notices) News(text string) { ns.Unless(text, "%s", text) }

// Wrong warns the operator that something is wrong with a subject: in the log if that is new, and
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

// Stands warns that something is wrong with a subject; if `text` is "", nothing is any more.
func (ns *Notices) Stands(about, text string) {
	if text == "" {
		ns.Mended(about)
		return
	}
	ns.Wrong(about, "%s", text)
}

// Mended notes that nothing is wrong with a subject any more.
func (ns *Notices) Mended(about string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.mend(about)
}

// putRight is Mended for something that somebody else did. Status mentions it a while longer,
// because a node often puts it right before anybody has seen it.
func (ns *Notices) putRight(about string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if was := ns.mend(about); was != "" {
		now := ns.now()
		ns.add(warning{text: was + "; it was put right", at: now, until: now.Add(rightLasts)})
	}
}

// OfFile warns that a file says something that it should not say. If `wrong` is "", it notes that
// the file does not say that any more.
func (ns *Notices) OfFile(path, what, wrong string) {
	if about := what + " in " + path; wrong != "" {
		ns.Wrong(about, "%s %s", path, wrong)
	} else {
		ns.putRight(about)
	}
}

// Opened says which files of the home were open to other users until this start: a user who could
// read a key may have read it.
func (ns *Notices) Opened(opened []configs.Opened) {
	for _, o := range opened {
		switch {
		case o.Err != nil:
			ns.Happened("%v", o.Err)
		case o.Key:
			ns.Happened("%s was open to other users of this machine (mode %04o), and is not any more: if somebody may have read it, take a new key: parley fleet rotate", o.Path, o.Mode)
		default:
			ns.Happened("%s was open to other users of this machine (mode %04o), and is not any more", o.Path, o.Mode)
		}
	}
}

// KeeperLost says that programs which a run has started may go on. The warning stays as long as
// that matters for the judgement of callers.
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

// Clear forgets all warnings.
func (ns *Notices) Clear() {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	for _, w := range ns.all {
		ns.to.Wrong(w.about, "")
	}
	ns.all = nil
	clear(ns.said)
}

// Texts are the warnings as status shows them. If something happened more than a minute ago, its
// text says how long ago.
func (ns *Notices) Texts() (all []string) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	now := ns.now()
	for _, w := range ns.all {
		switch age := now.Sub(w.at); {
		case !w.until.IsZero() && now.After(w.until):
		case !w.until.IsZero() && age >= time.Minute:
			all = append(all, fmt.Sprintf("%s (%s ago)", w.text, span.Text(age.Truncate(time.Minute))))
		default:
			all = append(all, w.text)
		}
	}
	return all
}

// event is Happened for a caller that holds mu.
func (ns *Notices) event(about, text string) {
	ns.log.Warn().Msg(text)
	ns.to.Happened(text)
	now := ns.now()
	ns.add(warning{about: about, text: text, at: now, until: now.Add(lasts)})
}

// mend drops the warning about a subject, and returns its text; "" if there was none. The caller
// holds mu.
func (ns *Notices) mend(about string) (was string) {
	ns.to.Wrong(about, "")
	if was = ns.about(about); was != "" {
		ns.log.Info().Str("was", was).Msg("a warning is over")
		ns.drop(about)
	}
	return was
}

// about is the text of the warning about a subject; "" if there is none. The caller holds mu.
func (ns *Notices) about(about string) string {
	for _, w := range ns.all {
		if w.about == about {
			return w.text
		}
	}
	return ""
}

// add takes in a warning, in place of an older one about the same subject. If there are too many,
// the oldest warning about what has happened is dropped, or else the oldest of all. The caller
// holds mu.
func (ns *Notices) add(w warning) {
	ns.drop(w.about)
	ns.all = append(ns.all, w)
	if len(ns.all) > most {
		i := max(0, slices.IndexFunc(ns.all, func(w warning) bool { return !w.until.IsZero() }))
		ns.all = slices.Delete(ns.all, i, i+1)
	}
}

// drop removes the warning about a subject. The caller holds mu.
func (ns *Notices) drop(about string) {
	ns.all = slices.DeleteFunc(ns.all, func(w warning) bool { return about != "" && w.about == about })
}
