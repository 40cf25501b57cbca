package books

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
)

// IdentityFile belongs to the fleet and says who the fleet is (Crosstalk, "Your identity", R1).
const IdentityFile = "local/CROSSTALK.md"

// FleetFile names the fleet if IdentityFile, which another program has written, does not.
const FleetFile = "local/PARLEY.md"

// VersionFile says which form the record has (R1).
const VersionFile = "upstream/CROSSTALK-VERSION"

// Identity is to whom a record belongs, and the name of its fleet.
type Identity struct {
	Name  string `yaml:"name"`
	Email string `yaml:"email"`
	Fleet string `yaml:"fleet"`
}

// ParseIdentity reads an Identity from the frontmatter of a file.
func ParseIdentity(data []byte) (Identity, error) {
	var id Identity
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

// Configured reports whether somebody has filled in who the fleet is.
func (id Identity) Configured() bool {
	return id.Name != "" && id.Email != "" && id.Name != "CONFIGURE" && id.Email != "CONFIGURE"
}

// ReadIdentity reads the identity of a record from its files. `ok` is false if they do not say it.
func ReadIdentity(read func(path string) ([]byte, bool, error)) (id Identity, ok bool, err error) {
	data, ok, err := read(IdentityFile)
	if err != nil {
		return id, false, fmt.Errorf("cannot read %s of the record: %w", IdentityFile, err)
	}
	if !ok {
		return id, false, nil
	}
	if id, err = ParseIdentity(data); err != nil {
		return id, true, fmt.Errorf("%s of the record: %w", IdentityFile, err)
	}
	if id.Fleet != "" {
		return id, true, nil
	}
	if data, ok, err = read(FleetFile); err != nil || !ok {
		return id, true, err
	}
	more, err := ParseIdentity(data)
	if err != nil {
		return id, true, fmt.Errorf("%s of the record: %w", FleetFile, err)
	}
	id.Fleet = more.Fleet
	return id, true, nil
}

// CheckIdentity is the gate of the seed: it returns an error for a record that does not say whose it
// is, or says that it is another fleet's. Nobody writes to such a record.
func CheckIdentity(read func(path string) ([]byte, bool, error), cfg configs.Config) error {
	id, ok, err := ReadIdentity(read)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("it has no %s, which names the fleet", IdentityFile)
	case !id.Configured():
		return fmt.Errorf("name or email in its %s is still to be configured", IdentityFile)
	case id.Fleet != "" && id.Fleet != cfg.Fleet.String():
		return fmt.Errorf("by its %s it belongs to the fleet %q, and the configuration says %q", IdentityFile, id.Fleet, cfg.Fleet)
	}
	return nil
}

// NoteIdentity notes the identity as lost if this disk has lost it: then it is made anew.
func NoteIdentity(record *gitsync.Record) error {
	_, ok, err := record.ReadFile(IdentityFile)
	if errors.Is(err, gitsync.ErrDamaged) || err == nil && !ok && record.IsLost(IdentityFile) {
		return record.NoteLost([]string{IdentityFile})
	}
	return err
}
