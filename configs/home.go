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

// Agents is the folder of the agents' files.
func (h Home) Agents() string { return filepath.Join(h.Dir, "agents") }

// Keys is the folder of the host's secret keys.
func (h Home) Keys() string { return filepath.Join(h.Dir, "keys") }

// Humans is the folder of the keys with which humans sign decisions. No node reads them.
func (h Home) Humans() string { return filepath.Join(h.Dir, "humans") }

// Record is the bare git repository of the record.
func (h Home) Record() string { return filepath.Join(h.Dir, "record.git") }

// Journal is the folder of what is stored and not yet safe in git.
func (h Home) Journal() string { return filepath.Join(h.Dir, "journal") }

// Cache is the folder of what can be computed again.
func (h Home) Cache() string { return filepath.Join(h.Dir, "cache") }

// StateCache is the folder, below Cache, of what the record says as it was folded
// last, so that a start need not read the whole record.
func (h Home) StateCache() string { return filepath.Join(h.Cache(), "state") }

// SearchIndex is the folder, below Cache, of the index of words.
func (h Home) SearchIndex() string { return filepath.Join(h.Cache(), "search") }

// Runs is the log of what has become of runs of agents.
func (h Home) Runs() string { return filepath.Join(h.Dir, "runs.log") }

// Notified is what the human of the host was notified of.
func (h Home) Notified() string { return filepath.Join(h.Dir, "notified.json") }

// Current is which party each agent means where it names none.
func (h Home) Current() string { return filepath.Join(h.Dir, "parties.json") }

// Spool is where results of inquiries wait until they may be told, and Members where their
// members work.
func (h Home) Spool() string { return filepath.Join(h.Dir, "spool") }

// Members is the folder of the places in which members of inquiries work.
func (h Home) Members() string { return filepath.Join(h.Dir, "members") }

// Prompts is the folder of what agents' commands were given.
func (h Home) Prompts() string { return filepath.Join(h.Dir, "prompts") }

// Socket is the control socket of the running node.
func (h Home) Socket() string { return filepath.Join(h.Dir, "control.sock") }

// AgentSocket is the socket of the running node on which everybody is an agent. It
// lies in a folder of its own, so that a container can be given that and nothing else
// of the home.
func (h Home) AgentSocket() string { return filepath.Join(h.Dir, "door", "agent.sock") }

// Lock is the file that the running node holds locked.
func (h Home) Lock() string { return filepath.Join(h.Dir, "lock") }

// Log is the file that the node writes its log to.
func (h Home) Log() string { return filepath.Join(h.Dir, "node.log") }

// DefaultHome is the home to use when none was named: PARLEY_HOME, else
// $XDG_DATA_HOME/parley, else ~/.local/share/parley; on Windows
// %LocalAppData%\parley instead of the last two. A relative PARLEY_HOME counts
// from the working directory; a relative XDG_DATA_HOME is ignored, as its
// specification asks.
func DefaultHome(getenv func(string) string) (string, error) {
	if dir := getenv("PARLEY_HOME"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("cannot find the home PARLEY_HOME=%s: %w", dir, err)
		}
		return abs, nil
	}
	return userHome(getenv)
}

// Create makes the home and its folders, open to their owner alone. What is
// there already is left as it is.
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
	Reason string // with the fix where there is one
}

// Error names the folder and the reason.
func (e *HomeError) Error() string {
	return fmt.Sprintf("cannot use %s as a home: %s", e.Dir, e.Reason)
}

// Check refuses, as a *HomeError, a folder that is not ours: owned by another
// user, open to others (both not on Windows), no folder at all, or full of
// something else. A folder that is missing, empty or left by an interrupted
// init is fine.
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
		return no // before its modes: nobody is to be told to close /etc to others
	}
	if reason := foreign(h.Dir, info); reason != "" {
		return &HomeError{Dir: h.Dir, Reason: reason}
	}
	return contents
}

// checkContents lets a home pass, and a folder in which only things stand that
// init makes before it writes config.yaml last.
func (h Home) checkContents() error {
	entries, err := os.ReadDir(h.Dir)
	if err != nil {
		return fmt.Errorf("cannot look at the home %s: %w", h.Dir, err)
	}
	ours := make([]string, 0, 10)
	for _, path := range []string{
		h.Config(), h.Agents(), h.Keys(), h.Record(), h.Journal(), h.Cache(), h.Socket(), filepath.Dir(h.AgentSocket()), h.Lock(), h.Log(), h.Origin(), h.Runs(), h.Current(), h.Notified(),
	} {
		ours = append(ours, filepath.Base(path))
	}
	stranger := ""
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == filepath.Base(h.Config()):
			return nil
		case stranger == "" && !slices.Contains(ours, name) && !isTemp(name) &&
			!strings.HasPrefix(name, filepath.Base(h.Record())) && // such as a record half made
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
