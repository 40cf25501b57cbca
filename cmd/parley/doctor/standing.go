package doctor

import (
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
)

const (
	// pushLasts is how long something may wait for a remote that works.
	pushLasts = 15 * time.Minute
	// backupLasts is how long a backup, a push or another host counts as one that has the record.
	backupLasts = 7 * 24 * time.Hour
)

// unpushed is what waits too long for a remote that works.
func unpushed(s control.Status, now time.Time) (all []causes.Found) {
	since := s.Since
	if s.Record.LastPush.After(since) {
		since = s.Record.LastPush
	}
	if s.Record.Remote == "" || s.Record.Trouble != nil || s.Record.Unpushed == 0 || now.Sub(since) < pushLasts {
		return nil
	}
	return append(all, causes.Of(causes.Unpushed, causes.Facts{Text: cli.Count(s.Record.Unpushed, "message")}))
}

// copies says what else has the record, as a status and the last backup say: another host, a remote, a
// backup; "" if nothing does.
func copies(v cli.View, s control.Status, backup *configs.Backup, now time.Time) string {
	var words []string
	for _, h := range s.Hosts {
		if !h.Here && (h.Live || now.Sub(h.LastSeen) < backupLasts) {
			words = append(words, "another host has the record")
			break
		}
	}
	carrier, _, carried := gitremote.Host(s.Record.Remote)
	own := carried && carrier == s.Host.String() // what this host carries lies on its own disk
	if s.Record.Remote != "" && !own && (s.Record.Trouble == nil || now.Sub(s.Record.LastPush) < backupLasts) {
		words = append(words, "the remote has it")
	}
	if backup != nil && now.Sub(backup.Time) < backupLasts {
		words = append(words, "a backup of "+v.At(backup.Time, cli.ShortForm)+" is in "+backup.Dir)
	}
	return strings.Join(words, ", ")
}

// Fleet is what is wrong with the hosts of a fleet, as they have answered.
func Fleet(f control.FleetStatus) (all []causes.Found) {
	for _, h := range f.Hosts {
		add := func(id causes.ID, text string) {
			all = append(all, causes.Of(id, causes.Facts{Here: f.Asked, Host: h.Alias, Text: text}))
		}
		switch {
		case h.State != control.HostLive:
			continue
		case h.Problem != "":
			add(causes.HostSilent, h.Problem)
		}
		if off := h.Clock.Duration(); off.Abs() > time.Minute {
			add(causes.ClockOff, causes.OffBy(off))
		}
		if h.Behind > 0 {
			add(causes.HostBehind, cli.Count(h.Behind, "message"))
		}
		if h.Remote != "" {
			add(causes.HostRemote, h.Remote+": "+h.Trouble)
		}
		for _, l := range h.Links {
			if !l.Up && l.Problem != "" {
				add(causes.HostLink, l.Peer+": "+l.Problem)
			}
		}
	}
	return all
}
