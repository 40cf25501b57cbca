package gitsync

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/parleyfleet/parley/gitsync/objects"
)

const (
	versionFile = "upstream/CROSSTALK-VERSION"
	versionText = "5.0"
	// identityFile says whose record it is; no node uses one without it.
	identityFile = "local/CROSSTALK.md"
)

func readConfig(dir string) (*config.Config, error) {
	data, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		return nil, fmt.Errorf("cannot read the repository's config: %w", err)
	}
	c := config.New()
	if err := config.NewDecoder(bytes.NewReader(data)).Decode(c); err != nil {
		return nil, fmt.Errorf("cannot read the repository's config: %w", err)
	}
	return c, nil
}

// checkConfig refuses repositories whose objects or refs this program cannot
// read.
func checkConfig(dir string) error {
	c, err := readConfig(dir)
	if err != nil {
		return err
	}
	extensions := c.Section("extensions")
	if format := extensions.Option("objectformat"); format != "" && !strings.EqualFold(format, "sha1") {
		return fmt.Errorf("%s has %s objects; parley needs SHA-1: make it anew with \"git init --bare --object-format=sha1\"", repoName, format)
	}
	if storage := extensions.Option("refstorage"); storage != "" && !strings.EqualFold(storage, "files") {
		return fmt.Errorf("%s keeps its refs as %s; run \"git refs migrate --ref-format=files\" in it", repoName, storage)
	}
	return nil
}

// remoteOf is the remote that the record was last shared with.
func remoteOf(dir string) (string, error) {
	c, err := readConfig(dir)
	if err != nil {
		return "", err
	}
	return c.Section("remote").Subsection("origin").Option("url"), nil
}

// setRemote notes the remote, for Open and for people who run git by hand.
func setRemote(dir, remote string) error {
	c, err := readConfig(dir)
	if err != nil {
		return err
	}
	c.SetOption("remote", "origin", "url", remote)
	c.SetOption("remote", "origin", "fetch", "+"+mainRef+":"+remoteRef)
	return writeConfig(dir, c)
}

func writeConfig(dir string, c *config.Config) error {
	var out bytes.Buffer
	if err := config.NewEncoder(&out).Encode(c); err != nil {
		return fmt.Errorf("cannot write the repository's config: %w", err)
	}
	return objects.WriteFile(filepath.Join(dir, "config"), out.Bytes())
}

// errNoVersion says that a tree names no version of what is in it.
var errNoVersion = fmt.Errorf("%w", ErrForeign)

// aVersion is how versions are written.
var aVersion = regexp.MustCompile(`^[0-9]+(\.[0-9]+)+$`)

// checkVersion refuses a tree that is no record of the version this program
// speaks (R1); the error is errNoVersion where it names none at all.
func checkVersion(store *objects.Store, tree objects.Hash) error {
	text, ok, err := readFile(store, tree, versionFile)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("%w: it has no %s", errNoVersion, versionFile)
	case strings.TrimSuffix(string(text), "\n") == versionText:
		return nil
	}
	kind := ErrForeign
	if said := strings.TrimSpace(string(text)); said == versionText || !aVersion.MatchString(said) {
		kind = errNoVersion
	}
	return fmt.Errorf("%w: %s says %.20q, not %s", kind, versionFile, text, versionText)
}

// recordID is the root commit, as pinned. A record without a pin gets one, and one
// whose pin names no root commit of this repository too: its signatures would all
// be wrong.
func (r *Record) recordID(tip objects.Hash) (objects.Hash, error) {
	path := filepath.Join(r.dir, idName)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return objects.Zero, fmt.Errorf("cannot read which record this is: %w", err)
	}
	if pinned := strings.TrimSpace(string(text)); plumbing.IsHash(pinned) {
		id := plumbing.NewHash(pinned)
		if c, err := r.store.CommitAt(id); err == nil && len(c.Parents) == 0 {
			return id, nil
		}
	}
	if err == nil {
		r.log.Warn().Msgf("the note which record this is, %s, was damaged; it is written again", idName)
	}
	root, err := r.store.Root(tip)
	if err != nil {
		return objects.Zero, err
	}
	return root, objects.WriteFile(path, []byte(root.String()+"\n"))
}
