package doctor

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/node/causes"
)

// mostLogged is how much of the end of a log goes into a bundle, in bytes.
const mostLogged = 4 << 20

// write writes the bundle: what was found, how the node and its fleet fare, the log, and the settings.
// Each line loses its secrets. Keys, prompts and the record are not in it.
func (d *doctor) write(lines []causes.Found) (err error) {
	file, err := os.OpenFile(d.bundle, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return cli.UsageErrorf(d.cmd, "%s is there already: name another file", d.bundle)
	}
	if err != nil {
		return fmt.Errorf("cannot write the bundle: %w", err)
	}
	packed := gzip.NewWriter(file)
	out := tar.NewWriter(packed)
	defer func() {
		if err = errors.Join(err, out.Close(), packed.Close(), file.Close()); err != nil {
			err = errors.Join(fmt.Errorf("cannot write the bundle: %w", err), os.Remove(d.bundle))
		}
	}()
	put := func(name string, text []byte) error {
		clean := redact.Everything(string(text))
		if err := out.WriteHeader(&tar.Header{Name: "parley/" + name, Mode: 0o600, Size: int64(len(clean)), ModTime: d.Now().Truncate(time.Second)}); err != nil {
			return err
		}
		_, err := io.WriteString(out, clean)
		return err
	}
	for name, value := range map[string]any{"doctor.json": lines, "status.json": d.status, "fleet.json": d.fleet, "version.json": cli.Version} {
		text, err := json.MarshalIndent(value, "", "  ")
		if err == nil {
			err = put(name, text)
		}
		if err != nil {
			return err
		}
	}
	files := []string{d.home.Config(), d.home.Log(), d.home.Log() + ".1"}
	agents, _ := filepath.Glob(filepath.Join(d.home.Agents(), "*.yaml")) // the pattern is right
	for _, path := range append(files, agents...) {
		text, err := tail(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		name, _ := filepath.Rel(d.home.Dir, path) // it is below the home
		if err == nil {
			err = put(filepath.ToSlash(name), text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tail is the end of a file, in whole lines: of half a token nobody sees that it is one.
func tail(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	over := info.Size() - mostLogged
	if over > 0 {
		if _, err := f.Seek(over, io.SeekStart); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, mostLogged))
	if over > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, err
}
