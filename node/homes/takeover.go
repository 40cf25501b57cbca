package homes

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// earlier is the node that a home was before it joins another fleet. Its keys and agents stay. Its
// configuration and its record are put aside, so that the folder is a home that is being made, until
// the host has joined.
type earlier struct {
	home   configs.Home
	cfg    configs.Config
	agents []configs.Agent
}

func (e *earlier) config() string { return filepath.Join(e.home.Aside(), "config.yaml") }
func (e *earlier) record() string { return filepath.Join(e.home.Aside(), "record.git") }

// earlier is the node that is to be taken over; nil if there is none in the home.
func (o Options) earlier() (*earlier, error) {
	e := &earlier{home: o.Home}
	file := e.config() // a call that was cut short has put it aside
	if _, err := os.Stat(o.Home.Config()); err == nil {
		file = o.Home.Config()
		if !o.Join || o.From != "" {
			return nil, control.Errorf(control.KindConflict, "start it: parley up -d; to share its record: parley fleet remote set URL", "cannot make a node: %s is one already", o.Home.Dir)
		}
	} else if _, err := os.Stat(file); err != nil {
		return nil, nil
	}
	var err error
	if e.cfg, err = LoadConfig(configs.Home{Dir: filepath.Dir(file)}); err != nil {
		return nil, err
	}
	if e.cfg.Remote != "" {
		return nil, control.Errorf(control.KindConflict, "start it: parley up -d; or join with another home: --home DIR",
			"cannot make a node: %s is one already, of the fleet %s", o.Home.Dir, e.cfg.Fleet)
	}
	e.agents, err = configs.ReadAgents(o.Home.Agents())
	return e, err
}

// putAside makes the folder a home that is being made, as `cfg` says, if nothing is lost by that. It
// is called with the home's lock. A call that was cut short is gone on with.
func (e *earlier) putAside(ctx context.Context, o Options, cfg configs.Config) error {
	if _, err := os.Stat(e.home.Config()); err == nil {
		if err := e.check(ctx, o); err != nil {
			return err
		}
		if err := errors.Join(e.home.DropAside(), os.Mkdir(e.home.Aside(), 0o700), e.home.WriteDraft(cfg)); err != nil {
			return err
		}
		if err := os.Rename(e.home.Config(), e.config()); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.HomeAside)
	if _, err := os.Stat(e.record()); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(e.home.Record(), e.record()); err != nil {
			return err
		}
	}
	return errors.Join(durable.Folder(e.home.Aside()), e.forget())
}

// forget removes what was kept of the record that the home had.
func (e *earlier) forget() error {
	return errors.Join(os.RemoveAll(e.home.Journal()), os.RemoveAll(e.home.Cache()), e.home.Create())
}

// check returns an error if the record has something that nobody else has: what somebody wrote, or
// another host.
func (e *earlier) check(ctx context.Context, o Options) (err error) {
	record, err := gitsync.Open(ctx, gitsync.Options{Dir: e.home.Dir, Author: Author(e.cfg), Log: o.Log, Now: o.Now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, record.Close()) }()
	has := func(what string) error {
		return control.Errorf(control.KindRefused, "share this record instead: parley fleet remote set URL; or join with another home: --home DIR",
			"cannot join: %s is a node of the fleet %s already, and its record has %s", e.home.Dir, e.cfg.Fleet, what)
	}
	err = record.Walk(ctx, func(f gitsync.MessageFile) error {
		m, err := protocol.Decode(f.Path, f.Data)
		if err != nil || f.Path.Channel() != protocol.SystemChannel(record.ID()) {
			return has("messages, such as " + f.Path.String())
		}
		switch m.Act {
		case protocol.HostJoin.Act, protocol.HostAgents.Act, protocol.HostRotate.Act, protocol.SayHumanKey.Act:
			return nil // of the host and its human, who say it again
		}
		return has("messages, such as " + f.Path.String())
	})
	if err != nil {
		return err
	}
	usual := books.FirstCommit(e.cfg)
	return record.EachFile(ctx, func(path string, _ bool) error {
		_, own := usual[path]
		_, parseErr := protocol.ParsePath(path)
		switch {
		case own, parseErr == nil, path == protocol.FounderPath, path == protocol.HostFilePath(e.cfg.Alias):
			return nil
		case books.IsHostFile(path):
			return has("another host, " + strings.TrimSuffix(filepath.Base(path), ".md"))
		}
		return has("files of its own, such as " + path)
	})
}

// anew are the agents as they are served in a record that they do not know yet (R8).
func (e *earlier) anew() (agents []configs.Agent) {
	for _, a := range e.agents {
		a.Added, a.DispatchSince = time.Time{}, ""
		agents = append(agents, a)
	}
	return agents
}

// restore makes the folder the home that it was, its configuration last. It does nothing if nothing
// was put aside.
func (e *earlier) restore() error {
	if _, err := os.Stat(e.config()); err != nil {
		return nil
	}
	if err := os.Rename(e.home.Config(), e.home.Draft()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(e.record()); err == nil {
		if err := errors.Join(os.RemoveAll(e.home.Record()), os.Rename(e.record(), e.home.Record()), e.forget()); err != nil {
			return err
		}
	}
	for _, a := range e.agents {
		if err := configs.WriteAgent(e.home.Agents(), a); err != nil {
			return err
		}
	}
	if err := os.Rename(e.config(), e.home.Config()); err != nil {
		return err
	}
	return errors.Join(os.Remove(e.home.Draft()), e.home.DropAside())
}
