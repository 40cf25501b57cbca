package node

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
)

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
