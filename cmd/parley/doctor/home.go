package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/agentprogram/install"
	"github.com/parleyfleet/parley/node/causes"
)

const (
	// leastFree is how much room the disk of a home should have, in bytes.
	leastFree = 128 << 20
	// lockLasts is how long a git that works may hold a lock.
	lockLasts = 10 * time.Minute
)

// onDisk is what is wrong with a home, as its files say. It needs no node. `path` is the PATH in which
// commands are looked for; `runs` says that a node runs.
func onDisk(home configs.Home, path string, runs bool, now time.Time) (all []causes.Found) {
	add := func(id causes.ID, text string) {
		all = append(all, causes.Of(id, causes.Facts{Text: text}))
	}
	if open := home.OpenToOthers(); open != "" {
		add(causes.HomeOpen, open)
	} else if err := home.Check(); err != nil {
		add(causes.HomeBroken, err.Error())
	}
	opened, err := home.Open()
	if err != nil {
		add(causes.HomeBroken, err.Error())
	}
	for _, o := range opened {
		id := causes.HomeOpen
		if o.Key {
			id = causes.KeyOpen
		}
		add(id, fmt.Sprintf("%s has the mode %04o", o.Path, o.Mode))
	}
	cfg, err := configs.Load(home.Config())
	if err != nil {
		add(causes.ConfigWrong, err.Error())
	}
	for _, w := range configs.Warnings(home.Config()) {
		if w.Line > 0 { // else it is about the rights of the file
			add(causes.ConfigRisky, fmt.Sprintf("line %d: %s", w.Line, w.Text))
		}
	}
	if _, err := configs.ReadAgents(home.Agents()); err != nil {
		add(causes.ConfigWrong, err.Error())
	}
	if gone := home.KeyGone(); gone != "" {
		add(causes.KeyMissing, gone)
	}
	if !isThere(filepath.Join(home.Record(), "HEAD")) {
		add(causes.RecordGone, home.Record()+" is no repository")
	}
	for _, file := range leftovers(home, runs, now) {
		add(causes.Leftover, file)
	}
	if free, err := free(home.Dir); err == nil && free < leastFree {
		add(causes.DiskLow, fmt.Sprintf("%d MB", free>>20))
	}
	for _, n := range cfg.Notify {
		words := strings.Fields(n.Command)
		if len(words) > 0 && !strings.ContainsAny(words[0], `'"\`) && !isProgram(words[0], path) {
			add(causes.NotifyFails, fmt.Sprintf("the notification %q cannot be run: no program %s is there", n.Shown(), words[0]))
		}
	}
	return all
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

func isProgram(name, path string) bool {
	if filepath.IsAbs(name) {
		return isThere(name)
	}
	return strings.ContainsRune(name, filepath.Separator) || install.LookPath(name, path) != ""
}

// leftovers are files that a node or a git which ended at once has left. What a node that runs may
// hold is none.
func leftovers(home configs.Home, runs bool, now time.Time) (files []string) {
	if runs {
		return nil
	}
	if isThere(home.Socket()) {
		files = append(files, home.Socket())
	}
	for _, pattern := range []string{"*.lock", filepath.Join("refs", "heads", "*.lock")} {
		found, _ := filepath.Glob(filepath.Join(home.Record(), pattern)) // the pattern is right
		for _, file := range found {
			if info, err := os.Stat(file); err == nil && now.Sub(info.ModTime()) > lockLasts {
				files = append(files, file)
			}
		}
	}
	return files
}

// mend puts right what can be put right without harm, and says each thing.
func mend(v cli.View, home configs.Home, runs bool, now time.Time, hooks func() ([]string, error)) error {
	said := 0
	mended := func(format string, args ...any) {
		said++
		v.Say("mended: " + fmt.Sprintf(format, args...))
	}
	if home.OpenToOthers() != "" {
		if err := os.Chmod(home.Dir, 0o700); err != nil {
			return fmt.Errorf("cannot close the home: %w", err)
		}
		mended("%s is closed to other users", home.Dir)
	}
	opened, err := home.Tighten()
	for _, o := range opened {
		if o.Err == nil {
			mended("%s is closed to other users (it had the mode %04o)", o.Path, o.Mode)
		}
	}
	if err != nil {
		return err
	}
	for _, file := range leftovers(home, runs, now) {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("cannot take away what was left: %w", err)
		}
		mended("%s is taken away", file)
	}
	files, err := hooks()
	for _, file := range files {
		mended("%s is as parley install writes it", file)
	}
	if said == 0 && err == nil {
		v.Say("Nothing was to be mended that can be mended without a decision of yours.")
	}
	return err
}
