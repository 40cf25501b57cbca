package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/random"
)

// A node that has just stopped may hold its lock a moment longer than its
// socket.
const (
	lockWithin = time.Second
	lockRetry  = 20 * time.Millisecond
)

// takeLock makes sure that one node at most runs on a home.
func takeLock(home configs.Home) (*flock.Flock, error) {
	lock := flock.New(home.Lock(), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWithin)
	defer cancel()
	ok, err := lock.TryLockContext(ctx, lockRetry)
	switch {
	case !ok && ctx.Err() != nil:
		if holder, err := os.ReadFile(home.Lock()); err == nil && len(holder) > 0 {
			return nil, fmt.Errorf("cannot use the home %s: %w, process %s", home.Dir, ErrLocked, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("cannot use the home %s: %w", home.Dir, ErrLocked)
	case err != nil:
		return nil, fmt.Errorf("cannot lock the home %s: %w", home.Dir, err)
	}
	// Who holds it is a note for people: the lock is good without it.
	_ = os.WriteFile(home.Lock(), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	return lock, nil
}

// serverID is what tells the name of the bus server from others: a random part that
// is kept with the key, and a mark of this place. Servers of one name throw each
// other off, and a home that was copied must get as far as being told to stay out.
func serverID(home configs.Home) (string, error) {
	id, err := keptServerID(home)
	mark := sha256.Sum256([]byte(hostname() + "\x00" + home.Dir))
	return id + "-" + hex.EncodeToString(mark[:4]), err
}

func keptServerID(home configs.Home) (string, error) {
	file := filepath.Join(home.Keys(), "server.id")
	data, err := os.ReadFile(file)
	if err == nil {
		return strings.TrimSpace(string(data)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("cannot read the id of the bus server: %w", err)
	}
	id := random.Hex(8)
	return id, writeOnce(file, []byte(id+"\n"))
}

// author signs the commits of this host.
func author(c configs.Config) gitsync.Author {
	return gitsync.Author{Name: c.Alias.String(), Email: c.Alias.String() + "@" + c.Fleet.String() + ".parley.local"}
}
