package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/parleyfleet/parley/protocol"
	"gopkg.in/yaml.v3"
)

// Backup says what a backup holds. It stands in the folder of the backup, and the home has a copy of
// the last one.
type Backup struct {
	Time   time.Time     `yaml:"time"`
	Dir    string        `yaml:"dir"`    // where it was made
	Record string        `yaml:"record"` // the record's id
	Tip    string        `yaml:"tip"`    // the commit of main that it has
	Fleet  protocol.Name `yaml:"fleet"`
	Alias  protocol.Name `yaml:"alias"` // of the host
	Human  protocol.Name `yaml:"human"`
	Keys   bool          `yaml:"keys"` // the secret keys are in it
}

// Backed is where a home notes its last backup.
func (h Home) Backed() string { return filepath.Join(h.Dir, "backup.yaml") }

// ReadBackup reads such a file; nil if there is none.
func ReadBackup(file string) (*Backup, error) {
	data, err := readCapped(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	b := new(Backup)
	if err == nil {
		err = yaml.Unmarshal(data, b)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read what is known of a backup: %s: %w", file, err)
	}
	return b, nil
}

// Write writes such a file.
func (b Backup) Write(file string) error {
	data, err := yaml.Marshal(b)
	if err == nil {
		err = writeAtomic(file, append([]byte("# What a backup by  parley record backup  holds.\n"), data...))
	}
	if err != nil {
		return fmt.Errorf("cannot note the backup: %w", err)
	}
	return nil
}
