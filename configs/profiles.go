package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/protocol"
)

const profileExt = ".md"

// ReadProfiles returns the actor profiles that the operator has accepted, by name. A file that
// cannot be read counts as not accepted; the errors name such files.
func ReadProfiles(dir string) (map[string]protocol.Actor, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	accepted, errs := map[string]protocol.Actor{}, []error{err}
	for _, entry := range entries {
		name, is := strings.CutSuffix(entry.Name(), profileExt)
		if !is || isTemp(entry.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		var a protocol.Actor
		if err == nil {
			a, err = protocol.ParseActor(data)
		}
		if err == nil && a.Name != name {
			err = fmt.Errorf("the name in it is %q", a.Name)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the accepted profile %s does not count: %w", entry.Name(), err))
			continue
		}
		accepted[name] = a
	}
	return accepted, errors.Join(errs...)
}

// AcceptProfile keeps the file of an actor profile as the operator has accepted it. A file without
// bytes takes back what was accepted before.
func AcceptProfile(dir string, name protocol.Name, file []byte) error {
	path := filepath.Join(dir, name.String()+profileExt)
	err := os.MkdirAll(dir, privateDir)
	switch {
	case err != nil:
	case len(file) > 0:
		err = writeAtomic(path, file)
	default:
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("cannot keep the accepted profile %s: %w", name, err)
	}
	return nil
}
