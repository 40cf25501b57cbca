package node

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
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/internal/mapped"
	"github.com/parleyfleet/parley/node/books"
)

const (
	archiveEnding = ".archive"
	archiveTemp   = "tmp-"
)

// errNoCache says that there is no archive to start from.
var errNoCache = errors.New("there is none")

// stateCache is the folder in which the state lies as an archive. Each archive is a
// file of its own, named by a number that rises; one that is not whole has a name
// that begins with archiveTemp. Whoever uses it holds the home's lock.
type stateCache struct {
	dir   string
	kinds []affair.Any // what the state folds
	last  int          // the highest number given
	path  string       // of the archive in use
	file  *mapped.File // nil while none is in use
}

// stamp is what the node notes in an archive: the commit whose files it holds all
// of, and what of them is no message.
type stamp struct {
	Tip   string       `json:"tip"`
	Flaws []books.Flaw `json:"flaws,omitempty"`
}

// open maps the newest archive, and removes what is left of unfinished ones.
func (c *stateCache) open(recordID string) (*fleet.Archive, stamp, error) {
	var s stamp
	newest := ""
	for name, number := range c.files() {
		if number < 0 {
			_ = os.Remove(filepath.Join(c.dir, name)) // the next start tries again
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
	a, err := fleet.OpenArchive(recordID, file.Data, c.kinds...)
	if err == nil {
		err = json.Unmarshal([]byte(a.Stamp()), &s)
	}
	if err != nil {
		return nil, s, errors.Join(fmt.Errorf("%s: %w", newest, err), file.Close())
	}
	c.path, c.file = path, file
	return a, s, nil
}

// files are the names of the archives with their numbers; -1 marks one that is not
// whole.
func (c *stateCache) files() map[string]int {
	files := map[string]int{}
	entries, _ := os.ReadDir(c.dir) // none that can be read: none
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

// archived is an archive that was written and is not in use yet.
type archived struct {
	archive *fleet.Archive
	file    *mapped.File
	path    string
}

// write makes an archive of a snapshot. A lasting one is synced, and what the next
// start begins with; another serves this process alone.
func (c *stateCache) write(recordID string, sn *fleet.Snapshot, s stamp, lasting bool) (_ archived, err error) {
	text, err := json.Marshal(s)
	if err != nil {
		return archived{}, err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
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
	if made.archive, err = fleet.OpenArchive(recordID, made.file.Data, c.kinds...); err != nil {
		return archived{}, errors.Join(err, made.file.Close())
	}
	return made, nil
}

// use ends the use of the old archive. A lasting one stays on disk until another
// lasting one takes its place.
func (c *stateCache) use(made archived) error {
	err := c.close()
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

// passing reports whether the archive in use is none that the next start can begin
// with.
func (c *stateCache) passing() bool {
	return c.file != nil && !strings.HasSuffix(c.path, archiveEnding)
}

// close ends the use of the archive.
func (c *stateCache) close() error {
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
