package node

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
// mended, and what has happened, for a while. They have no lock of their own.
type notices []warning

type warning struct {
	about string    // what is wrong; "" for what has happened
	text  string    // for people
	at    time.Time // when that was noticed
	until time.Time // of what has happened: when status forgets it
}

// add takes in a warning, in place of the one about the same. Where there are too many,
// what has happened makes way before what is wrong.
func (ns *notices) add(w warning) {
	ns.drop(w.about)
	*ns = append(*ns, w)
	if len(*ns) > maxNotices {
		i := max(0, slices.IndexFunc(*ns, func(w warning) bool { return w.about == "" }))
		*ns = slices.Delete(*ns, i, i+1)
	}
}

// drop forgets what is wrong about that.
func (ns *notices) drop(about string) {
	*ns = slices.DeleteFunc(*ns, func(w warning) bool { return about != "" && w.about == about })
}

// forget forgets the warnings that name a file.
func (ns *notices) forget(path string) {
	*ns = slices.DeleteFunc(*ns, func(w warning) bool { return strings.Contains(w.text, path) })
}

// about is the warning about that, "" if nothing is wrong with it.
func (ns *notices) about(about string) string {
	for _, w := range *ns {
		if w.about == about {
			return w.text
		}
	}
	return ""
}

// mention reports whether a warning says that.
func (ns *notices) mention(text string) bool {
	return slices.ContainsFunc(*ns, func(w warning) bool { return strings.Contains(w.text, text) })
}

// texts are the warnings as status shows them. What happened a while ago says so.
func (ns *notices) texts(now time.Time) (all []string) {
	for _, w := range *ns {
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

// notice warns the operator of what has happened, in the log and in status. The caller
// holds mu.
func (n *Node) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	n.log.Warn().Msg(text)
	n.happened(text, noticeLasts)
}

func (n *Node) happened(text string, lasts time.Duration) {
	now := n.now()
	n.notices.add(warning{text: text, at: now, until: now.Add(lasts)})
}

// wrong warns the operator of something that is wrong: in the log when that is new, and
// in status until it is mended. The caller holds mu.
func (n *Node) wrong(about, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if n.notices.about(about) == text {
		return
	}
	n.log.Warn().Msg(text)
	n.notices.add(warning{about: about, text: text, at: n.now()})
}

// mended notes that what was wrong about something is no longer. The caller holds mu.
func (n *Node) mended(about string) {
	if was := n.notices.about(about); was != "" {
		n.log.Info().Str("was", was).Msg("a warning is over")
		n.notices.drop(about)
	}
}

// putRight is mended for what somebody else did: status tells of it a while longer,
// because a node puts much of that right before anybody has seen it. The caller holds mu.
func (n *Node) putRight(about string) {
	if was := n.notices.about(about); was != "" {
		n.mended(about)
		n.happened(was+"; it was put right", rightLasts)
	}
}
