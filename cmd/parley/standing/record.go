package standing

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
)

// Line is one thing that a status says: its name, a text, which may have words of others, and the
// commands that show more.
type Line struct {
	Name, Text string
	See        []string
	Level      causes.Level // yellow: it needs attention; red: it does not work; "": neither
}

// In is the line without its name, with the commands as a person types them.
func (l Line) In(v cli.View) string {
	text, lead := l.Text, ": "
	for _, command := range l.See {
		text, lead = text+lead+v.Command(command), ", "
	}
	return text
}

// Record says how the record and its remote stand.
func Record(v cli.View, r control.RecordStatus) []Line {
	all := []Line{{Name: "record", Text: fmt.Sprintf("%s in %s, %d not recorded yet", cli.Count(r.Messages, "message"), cli.ShortHash(r.ID), r.Unrecorded)}}
	add := func(level causes.Level, name, text string) {
		all = append(all, Line{Name: name, Text: text, Level: level})
	}
	if r.Arriving > 0 {
		add("", "behind", fmt.Sprintf("%d of %d messages that others wrote are taken in", r.Arrived, r.Arriving))
	}
	if r.StoreError != "" {
		add(causes.Red, "trouble", "new messages are refused: "+withAdvice(r.StoreError, r.StoreAdvice))
	}
	if r.CommitError != "" {
		add(causes.Red, "trouble", "what is stored stays in the journal: "+r.CommitError)
	}
	add("", "remote", remote(v, r))
	if r.Trouble != nil {
		add(causes.Red, "trouble", Trouble(v, *r.Trouble))
	}
	if n := len(r.Withheld); n > 0 {
		add("", "withheld", fmt.Sprintf("%s kept from the remote, such as %s", cli.Count(n, "message"), v.Path(r.Withheld[0])))
	}
	return all
}

// Refused says what counts for nothing.
func Refused(s control.Status) (all []Line) {
	see := []string{"parley record verify"}
	if s.Refused > 0 {
		all = append(all, Line{Name: "refused", Text: cli.Count(s.Refused, "message") + " since start", See: see})
	}
	if len(s.Flags) > 0 {
		words := make([]string, len(s.Flags))
		for i, f := range s.Flags {
			words[i] = fmt.Sprintf("%d %s", f.Count, Flag(f))
		}
		all = append(all, Line{Name: "flagged", Text: strings.Join(words, ", "), See: see})
	}
	return all
}

// Flag says why a file of the record counts for nothing, or should be known of.
func Flag(f control.Flag) string {
	words := map[string]string{
		"signature": "wrong signature", "replay": "copied to another path", "unreadable": "no message", "other-key": "another key than the host's",
		"lost-join": "join to a name that is taken", "old-key": "old key outside of its time", "revoked": "from a revoked key",
		"fork": "fork of a host's chain", "hole": "message of a host's chain that is not here", "conflict": "path claimed by another file",
	}
	if text, known := words[f.Kind]; known {
		return text
	}
	return term.Line(f.Kind)
}

func remote(v cli.View, r control.RecordStatus) string {
	if r.Remote == "" {
		return "none: the record is on this host alone"
	}
	text := fmt.Sprintf("%s, %d not pushed yet, %s", r.Remote, r.Unpushed, RemoteUse(v, r))
	switch {
	case r.Trouble != nil: // a host that cannot push is not one of those that push for all
	case r.Courier == 1:
		text += "; this host pushes for all"
	case r.Courier > 1:
		text += fmt.Sprintf("; %s pushes for all, and this host what is left over", r.Pusher)
	}
	return text
}

// RemoteUse says when the remote was used last.
func RemoteUse(v cli.View, r control.RecordStatus) string {
	fetched, pushed := "fetched "+v.At(r.LastFetch, cli.TimeForm), "pushed "+v.At(r.LastPush, cli.TimeForm)
	switch {
	case r.LastFetch.IsZero() && r.LastPush.IsZero():
		return "neither fetched nor pushed since the start"
	case r.LastFetch.IsZero():
		fetched = "not fetched since the start"
	case r.LastPush.IsZero():
		pushed = "nothing pushed since the start"
	}
	return fetched + ", " + pushed
}

// Trouble says why the remote cannot be used, and what is tried next.
func Trouble(v cli.View, t control.Trouble) string {
	text := fmt.Sprintf("failing since %s (%s): %s; ", v.At(t.Since, cli.TimeForm), t.Kind, t.Text)
	switch {
	case t.Waiting == 0 && t.Pushing:
		text += "nothing waits, other hosts have pushed it; tried again with the next message that is left to this host"
	default:
		text += waitFor(t.Waiting, "message")
	}
	if !t.Next.IsZero() {
		text += ", next try " + v.At(t.Next, cli.TimeForm)
	}
	if t.Advice != "" {
		text += "; " + t.Advice + ", then: " + v.Command("parley fleet sync")
	}
	return text
}

func waitFor(n int, noun string) string {
	if n == 1 {
		return cli.Count(n, noun) + " waits"
	}
	return cli.Count(n, noun) + " wait"
}
