package homes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/invite"
	"github.com/parleyfleet/parley/protocol"
)

// Invited has a new host join by an invitation line (R76). Say is called with what a person should
// see meanwhile, a line each, Words with the three words to compare.
type Invited struct {
	Line  protocol.InviteLine
	Say   func(text string)
	Words func(words string)
}

// Remote is the remote of a host that gets the record from the inviting one.
func (i *Invited) Remote() string { return CarriedBy(i.Line.Alias) }

// knock asks the inviting host to be let in, and takes what it grants into the configuration.
func (o Options) knock(ctx context.Context, key *Key, cfg *configs.Config, record *gitsync.Options) error {
	i := o.Invited
	fingerprint, err := protocol.Fingerprint(key.Public)
	if err != nil {
		return err
	}
	i.Say(fmt.Sprintf("This host is %s of %s, with the fingerprint\n%s", cfg.Alias, cfg.Human, fingerprint))
	about := invite.About{Alias: cfg.Alias, Human: cfg.Human, Version: o.Version, Takes: cfg.Bus.LinksAddress() != ""}
	granted, err := i.dial(ctx, key, about)
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.LetIn)
	if _, _, host := gitremote.Host(granted.Remote); host {
		return control.Errorf(control.KindRefused, "ask for a line of the host that carries the record",
			"cannot join: %s names a host as what the fleet shares its record through, %s, and only that host itself invites", i.Line.Alias, granted.Remote)
	}
	cfg.Alias, cfg.Fleet, cfg.Remote = granted.Alias, granted.Fleet, cmp.Or(granted.Remote, cfg.Remote)
	if err := errors.Join(cfg.Validate(), storable(*cfg, nil)); err != nil {
		return cutShort("", err)
	}
	record.Author = Author(*cfg)
	if granted.Alias != about.Alias {
		i.Say(fmt.Sprintf("The fleet has a host called %s already: this one is %s.", about.Alias, granted.Alias))
	}
	if granted.Remote == "" {
		return nil // the remote is the inviting host
	}
	i.Say("The fleet shares its record at " + visible.Line(redact.Remote(granted.Remote)) + ".")
	look := *record
	look.Remote, look.Check = granted.Remote, nil
	looking, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	found, err := gitsync.Inspect(looking, look, i.Line.RecordID)
	if err == nil && found.Empty {
		err = errors.New("the repository is empty here")
	}
	if err != nil {
		return cutShort(tryRemote(granted.Remote), err)
	}
	record.Remote = granted.Remote
	return nil
}

// tryRemote says what to try if the remote that the inviting host names cannot be used. A person pastes
// the command: nothing in the name is more than a name there.
func tryRemote(remote string) string {
	return "see that this machine may use it: git ls-remote " + visible.Shell(redact.Remote(remote)) + "; then the same again with the same line, within a day: nobody is asked again"
}

// cutShort is the error of a host that was let in and has not got the record. What was begun stays, and
// with it the key that was let in.
func cutShort(hint string, err error) error {
	return unfinished{control.Errorf(control.KindFailed, hint, "cannot join: this host was let in, and has not got the record: %v", err)}
}

// dial tries the addresses of the line one after the other, and knocks at the first one where the
// inviting host answers.
func (i *Invited) dial(ctx context.Context, key *Key, about invite.About) (invite.Granted, error) {
	if i.Line.Expired(time.Now()) {
		return invite.Granted{}, control.Errorf(control.KindRefused, "ask for another line", "cannot join: the line has expired, at %s", i.Line.Expires.Local().Format("2006-01-02 15:04 MST"))
	}
	var tried []string
	for _, address := range i.Line.Addresses {
		conn, err := bus.DialStream(ctx, address, invite.Service, key.Pair, func(shown string) error {
			if shown != i.Line.Key {
				return errors.New("another host answers there than the line names, or the key of that host has changed since")
			}
			return nil
		})
		if failed := new(bus.DialError); errors.As(err, &failed) {
			tried = append(tried, fmt.Sprintf("%s: %s", address, failed.Reason))
			continue
		} else if err != nil {
			return invite.Granted{}, err
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.NetConn().Close() })
		granted, err := invite.Knock(conn, i.Line, key.Public, i.Line.Key, about, func(words string) {
			i.Words(words)
			failpoint.Hit(failpoint.Knocking)
		})
		stop()
		_ = conn.NetConn().Close()
		if err != nil {
			return granted, control.Errorf(control.KindRefused, "ask whoever gave you the line for another one", "cannot join: %s: %v", i.Line.Alias, err)
		}
		return granted, nil
	}
	return invite.Granted{}, control.Errorf(control.KindFailed,
		"see that the machine is on and lets TCP in at that port; or share a git repository on "+i.Line.Alias.String()+" (fleet remote set URL), and then: parley join URL",
		"cannot join: %s cannot be reached\n%s", i.Line.Alias, strings.Join(tried, "\n"))
}
