package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	privateDir  fs.FileMode = 0o700
	privateFile fs.FileMode = 0o600
)

// Home is the folder that holds everything of one node, so that several nodes
// can run on one machine.
type Home struct {
	Dir string // absolute
}

// Config is the path of config.yaml.
func (h Home) Config() string { return filepath.Join(h.Dir, "config.yaml") }

// Draft is the config.yaml of a home that is being made. It is there before anybody else can know
// the home's key, and becomes config.yaml.
func (h Home) Draft() string { return h.Config() + ".new" }

// Aside is the folder of the configuration and the record that a home had before it joined another
// fleet, until it has.
func (h Home) Aside() string { return h.Record() + ".aside" }

// DropAside removes what was put aside.
func (h Home) DropAside() error { return os.RemoveAll(h.Aside()) }

// Agents is the folder of the agents' files.
func (h Home) Agents() string { return filepath.Join(h.Dir, "agents") }

// Profiles is the folder of the actor profiles that the operator has accepted. It lies below Agents,
// where earlier versions pass over it.
func (h Home) Profiles() string { return filepath.Join(h.Agents(), "profiles") }

// Keys is the folder of the host's secret keys.
func (h Home) Keys() string { return filepath.Join(h.Dir, "keys") }

// HostKey has the seed of the key with which the host signs. When a host first changes its key,
// each of its keys gets a file of its own beside it.
func (h Home) HostKey() string { return filepath.Join(h.Keys(), "host.nk") }

// Humans is the folder of the keys with which humans sign decisions. No node reads them.
func (h Home) Humans() string { return filepath.Join(h.Dir, "humans") }

// Record is the bare git repository of the record.
func (h Home) Record() string { return filepath.Join(h.Dir, "record.git") }

// Shared is the bare git repository through which a fleet shares its record, on the host that carries it.
func (h Home) Shared() string { return filepath.Join(h.Dir, "shared.git") }

// Carrier is the file that says how the host that carries the record is reached.
func (h Home) Carrier() string { return filepath.Join(h.Dir, "carrier.json") }

// Journal is the folder of messages that are stored and not yet safe in git.
func (h Home) Journal() string { return filepath.Join(h.Dir, "journal") }

// Cache is the folder of everything that can be computed again.
func (h Home) Cache() string { return filepath.Join(h.Dir, "cache") }

// StateCache is the folder, below Cache, of the folded record. With it, a start need not read the
// whole record.
func (h Home) StateCache() string { return filepath.Join(h.Cache(), "state") }

// SearchIndex is the folder, below Cache, of the index of words.
func (h Home) SearchIndex() string { return filepath.Join(h.Cache(), "search") }

// Runs is the log of the runs of agents.
func (h Home) Runs() string { return filepath.Join(h.Dir, "runs.log") }

// Notified is the file that says of what the human of the host was notified.
func (h Home) Notified() string { return filepath.Join(h.Dir, "notified.json") }

// Current is the file that says which party each agent means if it names none.
func (h Home) Current() string { return filepath.Join(h.Dir, "parties.json") }

// Sessions is the file of the sessions of agent programs, and of the names that they had.
func (h Home) Sessions() string { return filepath.Join(h.Dir, "sessions.json") }

// Invitations is the file of invitation lines, without their secrets.
func (h Home) Invitations() string { return filepath.Join(h.Dir, "invitations.json") }

// Withheld is the folder of files that are withheld from the remote and are no messages.
func (h Home) Withheld() string { return filepath.Join(h.Dir, "withheld-files") }

// Spool is the folder in which results of inquiries wait until they may be told.
func (h Home) Spool() string { return filepath.Join(h.Dir, "spool") }

// Members is the folder of the places in which members of inquiries work.
func (h Home) Members() string { return filepath.Join(h.Dir, "members") }

// Prompts is the folder of the prompts that agents' commands were given.
func (h Home) Prompts() string { return filepath.Join(h.Dir, "prompts") }

// Console is the folder of what parley console keeps: the device that is paired, and its certificate.
func (h Home) Console() string { return filepath.Join(h.Dir, "console") }

// Redacted is the file that says for which redacted texts this host has cleared what it keeps.
func (h Home) Redacted() string { return filepath.Join(h.Dir, "redacted") }

// Socket is the control socket of the running node.
func (h Home) Socket() string { return filepath.Join(h.Dir, "control.sock") }

// AgentSocket is the socket of the running node on which every caller is an agent. It lies in a
// folder of its own. So a container can be given that folder and nothing else of the home.
func (h Home) AgentSocket() string { return filepath.Join(h.Dir, "door", "agent.sock") }

// Lock is the file that the running node holds locked.
func (h Home) Lock() string { return filepath.Join(h.Dir, "lock") }

// Log is the file into which the node writes its log.
func (h Home) Log() string { return filepath.Join(h.Dir, "node.log") }

// DefaultHome is the home to use if none was named: PARLEY_HOME, else $XDG_DATA_HOME/parley, else
// ~/.local/share/parley. On Windows, %LocalAppData%\parley takes the place of the last two. A
// relative PARLEY_HOME is relative to the working directory. A relative XDG_DATA_HOME is ignored,
// as its specification asks.
func DefaultHome(getenv func(string) string) (string, error) {
	if dir := getenv("PARLEY_HOME"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("cannot find the home PARLEY_HOME=%s: %w", dir, err)
		}
		return abs, nil
	}
	return UsualHome(getenv)
}

// FindHome is the home that a person has named by --home, or else DefaultHome.
func FindHome(named string, getenv func(string) string) (Home, error) {
	dir, err := filepath.Abs(named)
	if named == "" {
		dir, err = DefaultHome(getenv)
	}
	return Home{Dir: dir}, err
}

// FindSocket is the socket of the node of FindHome. If PARLEY_SOCKET is set, it is that socket, for an
// agent that has no access to a home, unless the person names a home.
func FindSocket(named string, getenv func(string) string) (string, error) {
	if at := getenv("PARLEY_SOCKET"); at != "" && named == "" {
		return at, nil
	}
	home, err := FindHome(named, getenv)
	return home.Socket(), err
}

// Create makes the home and its folders, open only to their owner. It leaves what is there already
// as it is.
func (h Home) Create() error {
	for _, dir := range []string{h.Dir, h.Agents(), h.Keys(), h.Journal(), h.Cache()} {
		if err := os.MkdirAll(dir, privateDir); err != nil {
			return fmt.Errorf("cannot make the home %s: %w", h.Dir, err)
		}
	}
	return nil
}

// HomeError says why a folder cannot be a home.
type HomeError struct {
	Dir    string
	Reason string // with what to do, if there is something
}

// Error names the folder and the reason.
func (e *HomeError) Error() string {
	return fmt.Sprintf("cannot use %s as a home: %s", e.Dir, e.Reason)
}

// Check returns a *HomeError for a folder that cannot be our home: another user owns it, or it is
// open to others (neither is checked on Windows), or it is no folder, or something else is in it. A
// folder that is missing, empty or left by an interrupted init is fine.
func (h Home) Check() error {
	info, err := os.Stat(h.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look at the home %s: %w", h.Dir, err)
	}
	if !info.IsDir() {
		return &HomeError{Dir: h.Dir, Reason: "it is not a folder"}
	}
	contents := h.checkContents()
	if no := new(HomeError); errors.As(contents, &no) {
		return no // before its modes are checked: nobody is to be told to close /etc to others
	}
	if reason := foreign(h.Dir, info); reason != "" {
		return &HomeError{Dir: h.Dir, Reason: reason}
	}
	return contents
}

// paths are what can be in a home.
func (h Home) paths() []string {
	return []string{
		h.Config(), h.Draft(), h.Agents(), h.Keys(), h.Record(), h.Journal(), h.Cache(), h.Socket(), filepath.Dir(h.AgentSocket()), h.Lock(), h.Log(), h.Origin(), h.Runs(), h.Current(), h.Notified(), h.Notified() + ".waiting",
		h.Humans(), h.Spool(), h.Members(), h.Prompts(), h.Withheld(), h.Sessions(), h.Redacted(), h.Backed(), h.Invitations(), h.Shared(), h.Carrier(), h.Console(),
	}
}

// Parts are the files and folders of a home that are there.
func (h Home) Parts() []string {
	return slices.DeleteFunc(h.paths(), func(path string) bool {
		_, err := os.Lstat(path)
		return err != nil
	})
}

// checkContents accepts a home. It also accepts a folder that has only what init makes before
// config.yaml, which it writes last.
func (h Home) checkContents() error {
	entries, err := os.ReadDir(h.Dir)
	if err != nil {
		return fmt.Errorf("cannot look at the home %s: %w", h.Dir, err)
	}
	ours := make([]string, 0, 28)
	for _, path := range h.paths() {
		ours = append(ours, filepath.Base(path))
	}
	stranger := ""
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == filepath.Base(h.Config()):
			return nil
		case stranger == "" && !slices.Contains(ours, name) && !isTemp(name) &&
			!strings.HasPrefix(name, filepath.Base(h.Record())) && // such as an unfinished record
			!strings.HasPrefix(name, filepath.Base(h.Runs())): // or the log of runs before this one
			stranger = name
		}
	}
	if stranger != "" {
		return &HomeError{Dir: h.Dir, Reason: fmt.Sprintf(
			"it is not a parley home: it holds %q and no config.yaml; name an empty folder", stranger)}
	}
	return nil
}
