package homes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"
	"golang.org/x/text/unicode/norm"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/carry"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Options describe a new node. Home and Version are required. An empty field gets a default: the
// fleet's name is taken from the record or from the human, the alias from the machine's name, and
// the human from the user's name.
type Options struct {
	Home    configs.Home
	Version string
	Fleet   string
	Alias   string
	Human   string
	Remote  string
	Carrier carry.Hint // how the host is reached that Remote names as parley://HOST
	Join    bool       // the remote must hold a record already
	// Invited has the host join by an invitation line, in place of Remote and Carrier; nil: by none.
	Invited *Invited
	Ask     bool // git may ask for the remote's password, by the program that the user has named for that
	// Adopt is called before a record is taken over that another program of the format has begun.
	// It is told what that means, before anything is written. An error ends it. nil: only a record
	// that parley can use as it is can be taken.
	Adopt     func(Adoption) error
	Listen    string      // bus.listen of the configuration
	Advertise []string    // bus.advertise of the configuration
	Hubs      []string    // bus.hubs of the configuration
	System    configs.Bus // URL, Creds, NKey, CA and Context of the configuration
	From      string      // a folder with config.yaml and agents/; it replaces all options above except Remote and Join
	Log       zerolog.Logger
	Now       func() time.Time // nil: time.Now
	Builtin   bool             // see gitsync.Options
}

// Result is what Make and the join have made.
type Result struct {
	Config  configs.Config
	Record  string   // record id
	Key     string   // this host's public key
	Reached []string // where it says that other hosts reach it
	Hosts   []Found  // the other hosts of the record, by alias
	Adopted bool     // the remote held the record already
	// TakenOver is set if the home was a node before, whose keys and agents it has.
	TakenOver bool
	Notes     []string // what the operator should know or do
}

// Found is a host that was found in a record. It is trusted from then on. So people compare its
// fingerprint with the one that the host itself shows.
type Found struct {
	Alias       protocol.Name
	Fingerprint string
	Founder     bool
	Addresses   []string
}

// Make makes a home: a key, the record (adopted from the remote if that holds one) and the
// configuration. Then `join` has the host join the fleet by a signed message, and says so in the
// result. If this or anything before it fails, nothing is left behind, with one exception: the
// remote may have the host's key, in the record's first commit (gitsync.ErrUnsure) or in that
// message (an UnsureError of `join`). Then the home stays, because nobody else could ever speak for
// the host. A call that was cut short before the folder was a home is made up for by the same call.
// With Join, a node that has nothing but its keys and agents is taken over, and is as it was if that
// fails.
func Make(ctx context.Context, o Options, join func(context.Context, Options, *Result) error) (Result, error) {
	old, err := o.earlier()
	if err != nil {
		return Result{}, err
	}
	cfg, agents, err := o.decide(old)
	if err != nil {
		return Result{}, err
	}
	o.Remote = cfg.Remote
	if o.From != "" {
		o.Fleet = cfg.Fleet.String()
	}
	if err := o.Home.Check(); err != nil {
		return Result{}, control.Errorf(control.KindRefused, "choose another folder with --home DIR", "%v", err)
	}
	system, _, err := ExistingSystem(cfg.Bus)
	if err != nil {
		return Result{}, o.wrong("", err)
	}
	if err := o.checkListen(cfg.Bus); err != nil {
		return Result{}, err
	}
	if i := o.Invited; i != nil {
		o.Carrier = carry.Hint{Alias: i.Line.Alias, Addresses: i.Line.Addresses, Keys: []string{i.Line.Key}}
	}
	undo, err := o.prepare(old)
	if err != nil {
		return Result{}, err
	}
	result, err := o.found(ctx, cfg, agents, old)
	if err == nil {
		failpoint.Hit(failpoint.HomeMade)
		err = join(ctx, o, &result)
		if unsure := new(UnsureError); errors.As(err, &unsure) {
			return Result{}, unsure.told(cfg.Alias, o.Home)
		}
		if err != nil && cfg.Remote != "" && (!result.Adopted || o.Invited != nil) { // the remote has a record with this key
			return Result{}, (&UnsureError{Push: err}).told(cfg.Alias, o.Home)
		}
	}
	if err != nil {
		if errors.Is(err, gitsync.ErrUnsure) {
			return Result{}, control.Errorf(control.KindFailed, "run the same again", "cannot say whether %s has begun a record at %s: the push was cut short; "+
				"its home %s stays, and with it the key", cfg.Alias, redact.Remote(cfg.Remote), o.Home.Dir)
		}
		switch {
		case errors.As(err, new(unfinished)): // what was begun stays, to be finished
		case !errors.Is(err, ErrLocked):
			undo()
		case old != nil:
			err = control.Errorf(control.KindConflict, "parley stop, then the same again", "cannot make a node: %v", err)
		}
		if ctx.Err() != nil { // git says so too, but as if the URL were to blame
			o.Log.Debug().Err(err).Msg("interrupted")
			err = errInterrupted
		}
		return Result{}, err
	}
	result.TakenOver = old != nil
	result.Notes = append(result.Notes, system.Warnings...)
	return result, o.Home.DropAside()
}

// decide is what the new node is to be: what somebody has prepared, or what the options, the node
// that was there and the machine say.
func (o Options) decide(old *earlier) (cfg configs.Config, agents []configs.Agent, err error) {
	if o.From != "" {
		cfg, agents, err = o.readPrepared()
	} else {
		cfg, agents, err = o.config(old)
	}
	if err == nil {
		err = storable(cfg, agents)
	}
	return cfg, agents, err
}

// storable returns an error for names that cannot be those of files in the record on each system.
func storable(cfg configs.Config, agents []configs.Agent) error {
	names := each.Of(agents, func(a configs.Agent) protocol.Name { return a.Name })
	for _, name := range append(names, cfg.Alias, cfg.Human) {
		if err := protocol.CheckFileName(name.String()); err != nil {
			return control.Errorf(control.KindUsage, "choose another name", "cannot make a node: %v", err)
		}
	}
	return nil
}

// config is the configuration that the options, the node that was there and the machine give. The
// agents are those of that node.
func (o Options) config(old *earlier) (configs.Config, []configs.Agent, error) {
	cfg, agents := configs.Default(), []configs.Agent(nil)
	alias, _ := os.Hostname()
	human := whereabouts.User()
	if old != nil {
		cfg, agents, alias, human = old.cfg, old.anew(), old.cfg.Alias.String(), old.cfg.Human.String()
	}
	if b := o.bus(); old == nil || !reflect.DeepEqual(b, configs.Bus{}) {
		cfg.Bus = b
	}
	cfg.Remote = o.Remote
	for _, field := range []struct {
		flag, given, fallback string
		at                    *protocol.Name
	}{
		{"--alias", o.Alias, NameFrom(alias, "host"), &cfg.Alias},
		{"--human", o.Human, NameFrom(human, "human"), &cfg.Human},
		{"--fleet", o.Fleet, "", &cfg.Fleet},
	} {
		text := cmp.Or(field.given, field.fallback, cfg.Human.String())
		name, err := protocol.ParseName(text)
		if err != nil {
			hint := ""
			if near := NameFrom(text, ""); near != "" {
				hint = "write it as: " + field.flag + " " + near
			}
			return cfg, nil, control.Errorf(control.KindUsage, hint, "cannot make a node: %s: %v", field.flag, err)
		}
		*field.at = name
	}
	if err := cfg.Validate(); err != nil {
		return cfg, nil, o.wrong("", err)
	}
	return cfg, agents, nil
}

// bus are the settings of the bus that the options give.
func (o Options) bus() configs.Bus {
	b := o.System
	b.Listen, b.Advertise, b.Hubs = o.Listen, o.Advertise, o.Hubs
	return b
}

// NameFrom makes a Name from what the system, or a person, calls a machine or a user.
func NameFrom(s, fallback string) string {
	s, _, _ = strings.Cut(strings.ToLower(s), ".")
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1 // zoë is zoe, not zo
		}
		return r
	}, norm.NFD.String(s))
	s = strings.Trim(regexp.MustCompile(`[^a-z0-9_-]+`).ReplaceAllString(s, "-"), "-_")
	if len(s) > 64 {
		s = s[:64]
	}
	if _, err := protocol.ParseName(s); err != nil || protocol.CheckFileName(s) != nil {
		return fallback
	}
	return s
}

// prepare makes the home's folders. It returns a function that removes the new ones again, or brings
// back the node that was there.
func (o Options) prepare(old *earlier) (undo func(), err error) {
	if old != nil {
		return func() {
			if err := old.restore(); err != nil {
				o.Log.Error().Err(err).Msg("cannot bring the home back")
			}
		}, nil
	}
	_, statErr := os.Stat(o.Home.Dir)
	entries, _ := os.ReadDir(o.Home.Dir)
	undo = func() {}
	if errors.Is(statErr, fs.ErrNotExist) {
		undo = func() { os.RemoveAll(o.Home.Dir) }
	} else if len(entries) == 0 {
		undo = func() {
			made, _ := os.ReadDir(o.Home.Dir)
			for _, e := range made {
				os.RemoveAll(o.Home.Dir + string(os.PathSeparator) + e.Name())
			}
		}
	}
	return undo, o.Home.Create()
}

// found makes the key, the record, the agents' files and, last, the configuration, which makes the
// folder a home. It holds the home's lock, so that two calls at the same time cannot both do it.
func (o Options) found(ctx context.Context, cfg configs.Config, agents []configs.Agent, old *earlier) (Result, error) {
	lock, err := TakeLock(o.Home)
	if err != nil {
		return Result{}, err
	}
	defer lock.Unlock()
	if old != nil {
		if err := old.putAside(ctx, o, cfg); err != nil {
			return Result{}, err
		}
	}
	if _, err := os.Stat(o.Home.Config()); err == nil {
		return Result{}, fmt.Errorf("cannot make a node: %s has just become one: %w", o.Home.Dir, ErrLocked)
	}
	if err := o.resume(&cfg); err != nil {
		return Result{}, err
	}
	key, err := makeKey(o.Home)
	if err != nil {
		return Result{}, err
	}
	failpoint.Hit(failpoint.HomeKeyed)
	founder, err := protocol.FormatFounder(protocol.HostState{Host: cfg.Alias, Key: key.Public, Humans: []protocol.Name{cfg.Human}})
	if err != nil {
		return Result{}, err
	}
	files := func() map[string][]byte {
		files := books.FirstCommit(cfg)
		files[protocol.FounderPath] = founder
		return files
	}
	if o.Join || o.Adopt != nil {
		files = nil
	}
	options := gitsync.Options{
		Dir: o.Home.Dir, Remote: cfg.Remote, Author: Author(cfg), Ask: o.Ask, Log: o.Log, Now: o.Now, Builtin: o.Builtin,
		Dial: (&carry.Dialler{Home: o.Home, Key: func() nkeys.KeyPair { return key.Pair }}).Dial,
	}
	if o.Carrier.Alias != "" {
		if err := o.Carrier.Write(o.Home); err != nil {
			return Result{}, err
		}
	}
	mine := false // an earlier call has begun what the remote holds
	options.Check = func(read func(string) ([]byte, bool, error)) error {
		began, _, err := read(protocol.FounderPath)
		mine = err == nil && bytes.Equal(began, founder)
		return o.adopt(&cfg, key.Public, read)
	}
	if o.Adopt != nil {
		o.complete(&options, cfg)
	}
	if o.Invited != nil {
		if err := o.knock(ctx, key, &cfg, &options); err != nil {
			return Result{}, err
		}
	}
	found, err := gitsync.Init(ctx, options, files)
	if err == nil && o.Invited != nil && found.ID != o.Invited.Line.RecordID {
		err = fmt.Errorf("the record there is %s, and the line names %s", found.ID, o.Invited.Line.RecordID)
	}
	if err != nil && o.Invited != nil {
		return Result{}, cutShort("the same again with the same line goes on where it was cut short, for a day: nobody is asked again", err)
	}
	if err != nil {
		return Result{}, o.noRecord(err)
	}
	failpoint.Hit(failpoint.RecordPlaced)
	for _, a := range agents {
		if err := configs.WriteAgent(o.Home.Agents(), a); err != nil {
			return Result{}, err
		}
	}
	if err := errors.Join(o.Home.WriteDraft(cfg), o.Home.TakeDraft()); err != nil {
		return Result{}, err
	}
	return Result{Config: cfg, Record: found.ID, Key: key.Public, Adopted: found.Adopted && !mine, Notes: found.Notes}, nil
}

// unfinished says that another call than this one has to be finished.
type unfinished struct{ error }

func (u unfinished) Unwrap() error { return u.error }

// resume makes up for a call that was cut short before the folder was a home. It returns an error
// if that one was to make another host: the remote may know the key as that host's. What it has put
// there is used by nobody yet, except for the key.
func (o Options) resume(cfg *configs.Config) error {
	draft, err := configs.Load(o.Home.Draft())
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(o.Home.Record()); !errors.Is(err, fs.ErrNotExist) {
			return nil // the home of a node that has lost its configuration: its record is left alone
		}
		return o.Home.WriteDraft(*cfg)
	}
	if err != nil {
		return err
	}
	if o.Fleet == "" {
		cfg.Fleet = draft.Fleet
	}
	if cfg.Remote == redact.Remote(draft.Remote) { // as the hint shows it
		cfg.Remote = draft.Remote
	}
	if draft.Fleet != cfg.Fleet || draft.Alias != cfg.Alias || draft.Human != cfg.Human || draft.Remote != cfg.Remote {
		return unfinished{control.Errorf(control.KindConflict, configs.UnfinishedHint(draft)+"; or choose another folder with --home DIR",
			"cannot make a node: %s is to be the host %s of %s in the fleet %s, and making it was cut short: the remote may have its key",
			o.Home.Dir, draft.Alias, draft.Human, draft.Fleet)}
	}
	if err := os.RemoveAll(o.Home.Record()); err != nil {
		return fmt.Errorf("cannot remove what was begun: %w", err)
	}
	return nil
}

// complete adds what is missing to a record that another program has begun, after that was shown
// and agreed to. If others push in the meantime, the record is looked at again. It asks again only
// if that makes a difference.
func (o Options) complete(options *gitsync.Options, cfg configs.Config) {
	var agreed *Adoption
	var now Adoption
	options.Adopt = func(tree gitsync.Tree) (map[string][]byte, error) {
		s, err := o.survey(cfg, tree)
		if err != nil {
			return nil, err
		}
		now = s.Adoption
		return s.add, nil
	}
	check := options.Check
	options.Check = func(read func(string) ([]byte, bool, error)) error {
		if err := check(read); err != nil || agreed != nil && slices.Equal(agreed.Add, now.Add) {
			return err
		}
		asked := now
		agreed = &asked
		return o.Adopt(now)
	}
}

// adopt looks at a record that is about to be adopted. The name of its fleet becomes ours, or must
// be the one that was asked for. The alias must be free.
func (o Options) adopt(cfg *configs.Config, key string, read func(string) ([]byte, bool, error)) error {
	id, ok, err := books.ReadIdentity(read)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("the record has no %s, which names its fleet", books.IdentityFile)
	}
	switch {
	case id.Fleet != "" && o.Fleet != "" && id.Fleet != o.Fleet:
		return control.Errorf(control.KindRefused, "leave --fleet out to join it, or name another remote",
			"cannot make a node: the record at %s belongs to the fleet %q, not %q", redact.Remote(o.Remote), id.Fleet, o.Fleet)
	case id.Fleet != "":
		if cfg.Fleet, err = protocol.ParseName(id.Fleet); err != nil {
			return fmt.Errorf("%s of the record: fleet %w", books.IdentityFile, err)
		}
	default: // two hosts with different names for the fleet would not hear each other on the bus
		return control.Errorf(control.KindRefused, "take it over, which shows first what it writes there: parley init --remote URL --adopt",
			"cannot make a node: the record at %s names no fleet: another program began it", redact.Remote(o.Remote))
	}
	older := olderHosts + cfg.Alias.String() + ".md"
	if _, there, err := read(older); err != nil {
		return err
	} else if there {
		return o.taken(fmt.Sprintf("has a host called %s already, in %s", cfg.Alias, older))
	}
	host, ok, err := read(protocol.HostFilePath(cfg.Alias))
	if err != nil || !ok {
		return err
	}
	if says, err := protocol.ParseHostFile(host); err == nil && says.Key == key {
		return nil
	}
	which := fmt.Sprintf("has a host called %s already", cfg.Alias)
	if since, removed := protocol.HostFileRemoved(host); removed {
		which = fmt.Sprintf("had a host called %s, which was removed on %s: what it wrote bears its name, so that is given to no other",
			cfg.Alias, since.Format("2006-01-02"))
	}
	return o.taken(which)
}

// taken refuses an alias that another host has. `which` says what the fleet has.
func (o Options) taken(which string) error {
	hint := "choose another name for this one: --alias NAME"
	if o.From != "" {
		hint = "choose another alias for this one in the config.yaml of " + o.From
	}
	return control.Errorf(control.KindConflict, hint,
		"cannot make a node: the fleet %s", which)
}

// Author signs the commits of this host.
func Author(c configs.Config) gitsync.Author {
	return gitsync.Author{Name: c.Alias.String(), Email: c.Alias.String() + "@" + c.Fleet.String() + ".parley.local"}
}
