// Package place makes the places where members of inquiries work. Each member has a folder, a home
// and sessions of its own, with nothing of the node and nothing of another member (R53). What is to
// be investigated is laid into the folder as a copy. A hash in the record says what that copy is.
package place

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/parleyfleet/parley/protocol"
)

// Spec is what a place is made for.
type Spec struct {
	Base        string // the folder of all places
	Inquiry     protocol.ChannelID
	Perspective string
	Login       []string // files below the user's home without which the program is not signed in
	Owner       *Owner   // nil: the node's own user
	// Material returns the folder of what is investigated. It is called when the place is made, and
	// not when it is found again; nil: nothing is investigated.
	Material func() (dir string, err error)
}

// Owner is the user of the system as whom a member runs.
type Owner struct {
	UID, GID int
	Groups   []int  // all of its groups
	Home     string // holds the files with which its programs are signed in
}

// Place is where one member works.
type Place struct {
	Root  string // the folder of all that is the member's
	Dir   string // its working folder
	Home  string
	Grade string // how it is isolated, by its user
}

// Material is the name of the folder, in a member's working folder, with what is investigated.
const Material = "material"

const private = 0o700

// OfOwners is the folder of the places of members that run as users of their own. They may not pass
// through the home of the node, in which `base` is.
func OfOwners(base string) string {
	sum := sha256.Sum256([]byte(base)) // a machine may have several nodes
	return "/var/lib/parley-members-" + hex.EncodeToString(sum[:4])
}

// Make makes a place, or finds it again: a dialogue goes on in the place of the investigation.
func Make(s Spec) (Place, error) {
	sum := sha256.Sum256([]byte(s.Perspective)) // a perspective's name is no name of a folder
	root := filepath.Join(s.Base, s.Inquiry.String(), hex.EncodeToString(sum[:8]))
	p := Place{Root: root, Dir: filepath.Join(root, "work"), Home: filepath.Join(root, "home"), Grade: protocol.GradeProcess}
	if s.Owner != nil {
		p.Grade = protocol.GradeUser
	}
	if _, err := os.Stat(filepath.Join(root, made)); err == nil {
		return p, nil
	}
	err := removeTree(root) // part of a place, from before a crash: nobody has worked there
	if err == nil {
		err = s.fill(p)
	}
	if err == nil && s.Owner != nil {
		err = s.hand(p)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(root, made), nil, 0o600)
	}
	if err != nil {
		return Place{}, fmt.Errorf("cannot make a place for %q: %w", s.Perspective, err)
	}
	return p, nil
}

// made is the file that says that a place is whole. After a crash while a place was made, it is
// missing.
const made = "made"

func (s Spec) fill(p Place) error {
	for _, dir := range []string{p.Dir, filepath.Join(p.Home, "tmp")} {
		if err := os.MkdirAll(dir, private); err != nil {
			return err
		}
	}
	if err := s.signIn(p.Home); err != nil {
		return err
	}
	if s.Material == nil {
		return nil
	}
	from, err := s.Material()
	if err != nil {
		return err
	}
	return copyTree(from, filepath.Join(p.Dir, Material))
}

// maxLogin bounds the size of a file with which a program is signed in, in bytes.
const maxLogin = 1 << 20

// signIn copies the files with which a program is signed in. A file that does not exist is left
// out: the program may be signed in by other means, such as a variable.
func (s Spec) signIn(home string) error {
	if len(s.Login) == 0 {
		return nil
	}
	from, err := os.UserHomeDir()
	if s.Owner != nil {
		from, err = s.Owner.Home, nil
	}
	if err != nil {
		return err
	}
	for _, name := range s.Login {
		var data []byte
		err := s.Owner.as(func() (err error) {
			data, err = readLogin(from, name)
			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(home, name)), private)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(home, name), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readLogin(home, name string) (data []byte, err error) {
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := openPlain(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, maxLogin+1))
	if err == nil && len(data) > maxLogin {
		err = fmt.Errorf("%s is larger than %d KiB", name, maxLogin>>10)
	}
	return data, err
}

// openPlain opens a file below a folder, if it is a plain one. Opening a pipe would wait for its
// other end.
func openPlain(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is no plain file", name))
	}
	return f, nil
}

// hand gives a place to the user as whom its member runs, except for what is investigated, which is
// all that its working folder has yet: the user may only read that. Other users may pass through the
// folders above the place, and see nothing in them.
func (s Spec) hand(p Place) error {
	for dir := p.Root; dir != filepath.Dir(s.Base); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o711); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	give := func(in *os.Root, name string) error { return lchown(in, name, s.Owner.UID, s.Owner.GID) }
	nothing := func(*os.Root, string) error { return nil }
	if err := each(root, filepath.Base(p.Home), nothing, give); err != nil {
		return err
	}
	return give(root, filepath.Base(p.Dir))
}

var lchown = (*os.Root).Lchown // replaced in tests

// each goes through a folder. It calls `first` for each folder before it opens it, and `last` for
// each name when it is done with what is in it. So whoever is given a folder by `last` is given it
// when nothing more is done there. It goes by open folders and follows no link, whatever is put in
// the place of a folder meanwhile.
func each(in *os.Root, name string, first, last func(in *os.Root, name string) error) error {
	info, err := in.Lstat(name)
	if err == nil && info.IsDir() {
		err = eachIn(in, name, first, last)
	}
	if err != nil {
		return err
	}
	return last(in, name)
}

func eachIn(in *os.Root, name string, first, last func(in *os.Root, name string) error) error {
	if err := first(in, name); err != nil {
		return err
	}
	dir, err := step(in, name, nil)
	if errors.Is(err, errNothing) {
		return fmt.Errorf("%s was replaced meanwhile", name)
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := fs.ReadDir(dir.FS(), ".")
	for _, e := range entries {
		if err == nil {
			err = each(dir, e.Name(), first, last)
		}
	}
	return err
}

// Env is the environment that a member gets. Variables that every program needs stay in it, and so
// do keys of services. Variables that lead to the node, or to the memories and sessions of its
// user, are left out.
func (p Place) Env(environ []string) []string {
	var env []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		upper := strings.ToUpper(name) // Windows knows no other names
		if !strings.HasPrefix(upper, "PARLEY_") && !strings.HasPrefix(upper, "XDG_") && !slices.Contains(homes, upper) {
			env = append(env, kv)
		}
	}
	tmp := filepath.Join(p.Home, "tmp")
	env = append(env, "HOME="+p.Home, "TMPDIR="+tmp, "PWD="+p.Dir)
	if runtime.GOOS == "windows" {
		env = append(env, "USERPROFILE="+p.Home, "APPDATA="+filepath.Join(p.Home, "AppData", "Roaming"),
			"LOCALAPPDATA="+filepath.Join(p.Home, "AppData", "Local"), "TEMP="+tmp, "TMP="+tmp)
	}
	return env
}

// homes are variables that say where programs keep what they remember, or that lead to running
// programs of the user.
var homes = []string{
	"HOME", "PWD", "OLDPWD", "TMPDIR", "USERPROFILE", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA", "HISTFILE",
	"CODEX_HOME", "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "COPILOT_HOME", "LLM_USER_PATH", "QWEN_HOME", "QWEN_RUNTIME_DIR", "COPILOT_CACHE_HOME", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG",
	"SSH_AUTH_SOCK", "TMUX", "TMUX_PANE", "STY", "DBUS_SESSION_BUS_ADDRESS",
}

// Remove removes the places of an inquiry below a base.
func Remove(base string, inquiry protocol.ChannelID) error {
	if err := removeTree(filepath.Join(base, inquiry.String())); err != nil {
		return fmt.Errorf("cannot remove what members worked with: %w", err)
	}
	return nil
}

// removeTree removes a folder with all in it, even if some of it is read-only.
func removeTree(root string) error {
	if err := os.RemoveAll(root); err == nil || os.Geteuid() == 0 { // root may always do it, and this way no link is followed
		return err
	}
	if above, err := os.OpenRoot(filepath.Dir(root)); err == nil {
		_ = each(above, filepath.Base(root), func(in *os.Root, name string) error {
			return in.Chmod(name, private) // before it is read
		}, func(*os.Root, string) error { return nil })
		_ = above.Close() // it was only read
	}
	return os.RemoveAll(root)
}
