package statecache

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/mapped"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/protocol"
)

const (
	archiveEnding = ".archive"
	archiveTemp   = "tmp-"
)

// errNoCache says that there is no archive to start from.
var errNoCache = errors.New("there is none")

// Cache is the folder in which the state lies as an archive. Each archive is a file of its own,
// named by a number that rises. The name of an unfinished one begins with archiveTemp. The user of
// a Cache holds the home's lock.
type Cache struct {
	dir   string
	kinds Kinds        // what the state folds
	last  int          // the highest number given
	path  string       // of the archive in use
	file  *mapped.File // nil while no archive is in use
}

// stamp is what the node notes in an archive: a commit whose files are all in the archive, and
// which of these files are no messages.
type stamp struct {
	Tip   string       `json:"tip"`
	Flaws []books.Flaw `json:"flaws,omitempty"`
}

// Kinds returns the affairs that a state folds, for the record with the given id.
type Kinds func(recordID string) []affair.Any

// New makes a cache in a folder, for states that fold these kinds. No archive is in use yet.
func New(dir string, kinds Kinds) *Cache { return &Cache{dir: dir, kinds: kinds} }

// Empty returns the state of this cache before anything is folded.
func (c *Cache) Empty(anchor keys.Anchor) *fleet.State {
	return fleet.New(anchor, c.kinds(anchor.RecordID)...)
}

// Paths returns the paths of the messages that the newest archive remembers. It returns none if no
// archive can be read. The error says that the archive did not close cleanly.
func (c *Cache) Paths(anchor keys.Anchor) (paths []protocol.Path, err error) {
	a, _, err := c.open(anchor.RecordID)
	if err != nil {
		return nil, nil
	}
	for it := range fleet.Restore(anchor, a).Ledger.After(nil) {
		paths = append(paths, it.Path)
	}
	return paths, c.Close()
}

// open maps the newest archive, and removes unfinished ones.
func (c *Cache) open(recordID string) (*fleet.Archive, stamp, error) {
	var s stamp
	newest := ""
	for name, number := range c.files() {
		if number < 0 {
			_ = os.Remove(filepath.Join(c.dir, name)) // the next start tries it again
		} else if newest == "" || number > c.last {
			newest, c.last = name, number
		}
	}
	if newest == "" {
		return nil, s, errNoCache
	}
	path := filepath.Join(c.dir, newest)
	file, err := mapped.Open(path)
	if err != nil {
		return nil, s, err
	}
	a, err := fleet.OpenArchive(recordID, file.Data, c.kinds(recordID)...)
	if err == nil {
		err = json.Unmarshal([]byte(a.Stamp()), &s)
	}
	if err != nil {
		return nil, s, errors.Join(fmt.Errorf("%s: %w", newest, err), file.Close())
	}
	c.path, c.file = path, file
	return a, s, nil
}

// files returns the names of the archives, with their numbers. The number -1 marks an unfinished
// one.
func (c *Cache) files() map[string]int {
	files := map[string]int{}
	entries, _ := os.ReadDir(c.dir) // a folder that cannot be read has none
	for _, e := range entries {
		number := -1
		if text, ok := strings.CutSuffix(e.Name(), archiveEnding); ok {
			if _, err := fmt.Sscanf(text, "%d", &number); err != nil || number < 0 {
				continue
			}
		} else if !strings.HasPrefix(e.Name(), archiveTemp) {
			continue
		}
		files[e.Name()] = number
	}
	return files
}

type archived struct {
	archive *fleet.Archive
	file    *mapped.File
	path    string
}

// write makes an archive of a snapshot. A lasting archive is synced, and the next start begins with
// it. Any other archive serves only this process.
func (c *Cache) write(recordID string, sn *fleet.Snapshot, s stamp, lasting bool) (_ archived, err error) {
	text, err := json.Marshal(s)
	if err != nil {
		return archived{}, err
	}
	if err := durable.FoldersIn(filepath.Dir(filepath.Dir(c.dir)), c.dir, 0o700); err != nil {
		return archived{}, err
	}
	f, err := os.CreateTemp(c.dir, archiveTemp+"*")
	if err != nil {
		return archived{}, err
	}
	path := f.Name()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	err = sn.Write(f, string(text))
	if err == nil && lasting {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return archived{}, err
	}
	failpoint.Hit(failpoint.CacheWritten)
	if lasting {
		c.last++
		to := filepath.Join(c.dir, fmt.Sprintf("%08d%s", c.last, archiveEnding))
		if err := os.Rename(path, to); err != nil {
			return archived{}, err
		}
		path = to
	}
	failpoint.Hit(failpoint.CachePlaced)
	made := archived{path: path}
	if made.file, err = mapped.Open(path); err != nil {
		return archived{}, err
	}
	if made.archive, err = fleet.OpenArchive(recordID, made.file.Data, c.kinds(recordID)...); err != nil {
		return archived{}, errors.Join(err, made.file.Close())
	}
	return made, nil
}

// use takes an archive into use, and ends the use of the old one. A lasting archive stays on disk
// until another lasting one replaces it.
func (c *Cache) use(made archived) error {
	err := c.Close()
	c.path, c.file = made.path, made.file
	lasting := strings.HasSuffix(made.path, archiveEnding)
	for name, number := range c.files() {
		path := filepath.Join(c.dir, name)
		if path != made.path && (lasting || number < 0) {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

// InUse reports whether an archive is in use.
func (c *Cache) InUse() bool { return c.file != nil }

// passing reports whether an archive is in use with which the next start cannot begin.
func (c *Cache) passing() bool {
	return c.InUse() && !strings.HasSuffix(c.path, archiveEnding)
}

// Close ends the use of the archive.
func (c *Cache) Close() error {
	if c.file == nil {
		return nil
	}
	passing := c.passing()
	err := c.file.Close()
	c.file = nil
	if passing {
		if gone := os.Remove(c.path); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
