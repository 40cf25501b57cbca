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
	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
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
	id := randomHex(8)
	return id, writeOnce(file, []byte(id+"\n"))
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	random(b)
	return hex.EncodeToString(b)
}

// author signs the commits of this host.
func author(c configs.Config) gitsync.Author {
	return gitsync.Author{Name: c.Alias.String(), Email: c.Alias.String() + "@" + c.Fleet.String() + ".parley.local"}
}

// identityFile belongs to the fleet: who it is (Crosstalk, "Your identity", R1).
const identityFile = "local/CROSSTALK.md"

// fleetFile names the fleet where identityFile, which another program wrote, does not.
const fleetFile = "local/PARLEY.md"

// versionFile says of which form the record is (R1).
const versionFile = "upstream/CROSSTALK-VERSION"

type identity struct {
	Name  string `yaml:"name"`
	Email string `yaml:"email"`
	Fleet string `yaml:"fleet"`
}

func parseIdentity(data []byte) (identity, error) {
	var id identity
	_, rest, _ := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), "---\n")
	front, _, ok := strings.Cut(rest, "\n---")
	if !ok {
		return id, errors.New("it has no frontmatter")
	}
	if err := yaml.Unmarshal([]byte(front), &id); err != nil {
		return id, fmt.Errorf("its frontmatter is not YAML: %w", err)
	}
	return id, nil
}

// configured reports whether somebody has filled in who it is.
func (id identity) configured() bool {
	return id.Name != "" && id.Email != "" && id.Name != "CONFIGURE" && id.Email != "CONFIGURE"
}

// readIdentity reads who a record is from its files; ok is false where it does not say.
func readIdentity(read func(path string) ([]byte, bool, error)) (id identity, ok bool, err error) {
	data, ok, err := read(identityFile)
	if err != nil {
		return id, false, fmt.Errorf("cannot read %s of the record: %w", identityFile, err)
	}
	if !ok {
		return id, false, nil
	}
	if id, err = parseIdentity(data); err != nil {
		return id, true, fmt.Errorf("%s of the record: %w", identityFile, err)
	}
	if id.Fleet != "" {
		return id, true, nil
	}
	if data, ok, err = read(fleetFile); err != nil || !ok {
		return id, true, err
	}
	more, err := parseIdentity(data)
	if err != nil {
		return id, true, fmt.Errorf("%s of the record: %w", fleetFile, err)
	}
	id.Fleet = more.Fleet
	return id, true, nil
}

// checkIdentity is the gate of the seed: a record whose identity is missing or
// not configured is not written to.
func checkIdentity(record *gitsync.Record, cfg configs.Config) error {
	id, ok, err := readIdentity(record.ReadFile)
	switch {
	case err != nil:
		return fmt.Errorf("cannot use the record: %w", err)
	case !ok:
		return fmt.Errorf("cannot use the record: it has no %s, which names the fleet", identityFile)
	case !id.configured():
		return fmt.Errorf("cannot use the record: name or email in its %s is still to be configured: edit it in a clone and push", identityFile)
	case id.Fleet != "" && id.Fleet != cfg.Fleet.String():
		return fmt.Errorf("cannot use the record: it belongs to the fleet %q, the configuration says %q", id.Fleet, cfg.Fleet)
	}
	return nil
}
