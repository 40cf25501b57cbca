package agents

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/parleyfleet/parley/internal/folders"
	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/node/control"
)

// Doorsteps are the sockets of agents that run as other users of the machine. Each such user has a
// folder outside of the home. Only that user's group may enter the folder, and it contains nothing
// but a socket for agents.
type Doorsteps struct {
	keeper bool // commands can be run as other users

	mu      sync.Mutex         // guards what follows
	serve   func(net.Listener) // nil while the node does not answer
	base    string             // "" until there is one
	folders map[uint32]string  // by user
}

// NewDoorsteps makes Doorsteps without any socket. `keeper` says that this program becomes a keeper
// if it is asked to: without one, nothing is run as another user.
func NewDoorsteps(keeper bool) *Doorsteps { return &Doorsteps{keeper: keeper} }

// doorstepSocket is the name of the socket in such a folder.
const doorstepSocket = "agent.sock"

// Open has sockets served by `serve` from now on.
func (d *Doorsteps) Open(serve func(net.Listener)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.serve, d.folders = serve, map[uint32]string{}
}

// Close stops serving sockets.
func (d *Doorsteps) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.serve = nil
}

// Remove removes the folders. Call it when nothing is served any more.
func (d *Doorsteps) Remove() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.base != "" {
		_ = os.RemoveAll(d.base) // it is in the system's folder for files that may be lost
	}
	d.base = ""
}

// Base is the folder above all of them; "" while there is none.
func (d *Doorsteps) Base() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.base
}

func (d *Doorsteps) of(u *keeper.User) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.serve == nil {
		return "", errors.New("the node is stopping")
	}
	if folder, ok := d.folders[u.UID]; ok {
		return folder, nil
	}
	folder, listener, err := d.make(u)
	if err != nil {
		return "", fmt.Errorf("cannot make a socket for the user %d: %w", u.UID, err)
	}
	d.serve(listener)
	d.folders[u.UID] = folder
	return folder, nil
}

// make makes a user's folder with the socket in it. The caller holds mu.
func (d *Doorsteps) make(u *keeper.User) (folder string, l net.Listener, err error) {
	const passable, theirs, socket = 0o711, 0o750, 0o660
	if d.base == "" {
		if d.base, err = os.MkdirTemp(runtimeFolder(), "parley-"); err == nil {
			err = os.Chmod(d.base, passable)
		}
		if err != nil {
			return "", nil, err
		}
	}
	folder = filepath.Join(d.base, strconv.FormatUint(uint64(u.UID), 10))
	if err := os.Mkdir(folder, theirs); err != nil && !errors.Is(err, os.ErrExist) {
		return "", nil, err
	}
	path := filepath.Join(folder, doorstepSocket)
	if l, err = control.Listen(path); err != nil {
		return "", nil, err
	}
	err = errors.Join(os.Chown(path, 0, int(u.GID)), os.Chmod(path, socket), os.Chown(folder, 0, int(u.GID)), os.Chmod(folder, theirs))
	if err != nil {
		return "", nil, errors.Join(err, l.Close())
	}
	return folder, l, nil
}

// runtimeFolder is the folder in which the system's own programs have their sockets, if it exists.
func runtimeFolder() string {
	const folder = "/run"
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return folder
	}
	return folders.Temporary()
}
