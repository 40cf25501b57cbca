package homes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// OpenRecord opens the record of a home. If record.git is missing and there is a remote, it fetches
// the record anew. What only this host had is still in the journal, and goes in again. It logs such
// steps.
func OpenRecord(ctx context.Context, home configs.Home, alias protocol.Name, o gitsync.Options, log zerolog.Logger) (*gitsync.Record, error) {
	record, err := gitsync.Open(ctx, o)
	if unusable := new(gitsync.UnusableError); errors.As(err, &unusable) {
		return nil, control.Errorf(control.KindFailed,
			fmt.Sprintf("undo that commit: git clone %s mend && cd mend && git revert %s && git push", home.Record(), unusable.Commit), "%v", err)
	}
	if !errors.Is(err, gitsync.ErrNoRecord) {
		return record, err
	}
	if o.Remote == "" {
		return nil, recordGone(home, "")
	}
	log.Warn().Str("remote", redact.Remote(o.Remote)).Msg("record.git is gone: fetching the record anew")
	anew := o
	anew.Check = func(read func(string) ([]byte, bool, error)) error {
		if err := o.Check(read); err != nil {
			return err
		}
		return checkOurs(home, alias, o.Remote, read)
	}
	_, err = gitsync.Init(ctx, anew, nil)
	switch {
	case errors.Is(err, gitsync.ErrNoRecord):
		return nil, recordGone(home, ", and the repository "+redact.Remote(o.Remote)+" is empty")
	case err != nil:
		return nil, fmt.Errorf("cannot fetch the record anew: %w", err)
	}
	return gitsync.Open(ctx, o)
}

func recordGone(home configs.Home, more string) error {
	return control.Errorf(control.KindNotFound, "bring record.git back from a backup", "cannot start: record.git is not in %s%s", home.Dir, more)
}

// checkOurs looks at a record that is about to replace a lost one: this host must be in it, with
// its key.
func checkOurs(home configs.Home, alias protocol.Name, remote string, read func(string) ([]byte, bool, error)) error {
	data, ok, err := read(protocol.HostFilePath(alias))
	if err != nil {
		return err
	}
	if says, err := protocol.ParseHostFile(data); !ok || err != nil || !HasSeed(home, says.Key) {
		return fmt.Errorf("the record at %s is another one: it does not know the host %s with its key", redact.Remote(remote), alias)
	}
	return nil
}

// CheckOrigin returns an error for a home that is a copy, before anything is written: the node from
// which it was copied may run, and both would do everything twice. With `moved`, the operator says
// that there is no such node. `noted` reports whether the home has noted that it belongs where it
// is.
func CheckOrigin(home configs.Home, moved bool) (noted bool, err error) {
	if moved {
		return false, nil
	}
	noted, err = home.CheckOrigin()
	copied := new(configs.CopiedError)
	switch {
	case errors.As(err, &copied):
		return false, control.Errorf(control.KindConflict, copied.Hint(), "cannot start: %v", err)
	case err != nil:
		return false, control.Errorf(control.KindFailed, "if this home is no copy: parley up --moved", "cannot start: %v", err)
	}
	return noted, nil
}

// NoteOrigin notes that the home belongs where it is. If that fails, the home is like one of an
// earlier version, which knows nothing of it. Only if the operator said that it was moved is this
// an error, because the home would be refused at its next start.
func NoteOrigin(home configs.Home, now time.Time, moved bool, log zerolog.Logger) error {
	err := home.NoteOrigin(now)
	if err != nil && !moved {
		log.Warn().Err(err).Msg("a copy of this home will not know that it is one")
		return nil
	}
	return err
}
