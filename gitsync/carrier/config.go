package carrier

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/parleyfleet/parley/gitsync/objects"
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

// ConfigWorks reports whether git can take a folder with this config for the bare repository that
// it is.
func ConfigWorks(dir string) bool {
	c, err := readConfig(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) // it is made
	}
	core := c.Section("core")
	format := core.Option("repositoryformatversion")
	bare := slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(core.Option("bare")))
	return bare && (format == "0" || format == "1")
}

// CheckConfig returns an error for a repository whose objects or refs this program cannot read.
func CheckConfig(dir string) error {
	c, err := readConfig(dir)
	if err != nil {
		return err
	}
	extensions := c.Section("extensions")
	if format := extensions.Option("objectformat"); format != "" && !strings.EqualFold(format, "sha1") {
		return errSHA256
	}
	if storage := extensions.Option("refstorage"); storage != "" && !strings.EqualFold(storage, "files") {
		return fmt.Errorf("it keeps its refs as %s; run \"git refs migrate --ref-format=files\" in it", storage)
	}
	return nil
}

// RemoteOf is the remote with which the record was last shared, in the form of Noted.
func RemoteOf(dir string) (string, error) {
	c, err := readConfig(dir)
	if err != nil {
		return "", err
	}
	return c.Section("remote").Subsection("origin").Option("url"), nil
}

// SetRemote notes the remote, for the next start and for people who run git by hand.
func SetRemote(dir, remote string) error {
	c, err := readConfig(dir)
	if err != nil {
		return err
	}
	c.SetOption("remote", "origin", "url", Noted(remote))
	c.SetOption("remote", "origin", "fetch", "+"+MainRef+":"+RemoteRef)
	return writeConfig(dir, c)
}

func writeConfig(dir string, c *config.Config) error {
	var out bytes.Buffer
	if err := config.NewEncoder(&out).Encode(c); err != nil {
		return fmt.Errorf("cannot write the repository's config: %w", err)
	}
	return objects.WriteFile(filepath.Join(dir, "config"), out.Bytes())
}
