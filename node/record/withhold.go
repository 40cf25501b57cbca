package record

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/talk"
	"github.com/parleyfleet/parley/protocol"
)

// Withholding keeps from the remote what the remote refuses: files that the operator names, and
// messages that their own hosts have named in a word to all.
type Withholding struct {
	Host   protocol.Name
	System protocol.ChannelID
	Shared func() bool // with a remote
	Record *gitsync.Record
	Folded folded.State
	Views  *talk.Views
	Say    func(context.Context, fleet.Command) error
	Log    zerolog.Logger

	// Only heed uses what follows: the words that were carried out, and what was logged of others.
	Heeded map[protocol.Path]bool
	Logged map[protocol.Path]string
}

// Withhold answers control.Withhold. What this host wrote itself, it has all hosts withhold. Of
// another host's message it only decides for itself. What comes before a file that cannot be
// withheld is withheld.
func (w *Withholding) Withhold(ctx context.Context, r control.WithholdRequest) (control.Withheld, error) {
	done := control.Withheld{Files: []control.WithheldFile{}}
	var own []protocol.Path
	var failed error
	for _, name := range r.Files {
		file, host := name, protocol.Name("")
		var path protocol.Path
		if it, err := w.Views.Item(name); err == nil {
			path, host = it.Path, it.Host
			file = path.RepoPath()
		}
		kept, err := w.Record.Withhold(ctx, file)
		if err != nil {
			failed = notWithheld(err)
			break
		}
		if !path.IsZero() && host == w.Host {
			own = append(own, path)
		}
		done.Files = append(done.Files, control.WithheldFile{Path: path, File: file, Kept: kept, Everywhere: !path.IsZero() && host == w.Host})
	}
	if len(own) > 0 {
		if err := w.Say(ctx, fleet.Withhold{Host: w.Host, Paths: own}); err != nil {
			return done, err
		}
	}
	return done, failed
}

// notWithheld says why a file is not withheld, and what to do.
func notWithheld(err error) error {
	switch {
	case errors.Is(err, gitsync.ErrPushed):
		return control.Errorf(control.KindConflict, "whoever may read the remote can have read it: make a password or token that stands in it worthless", "%v", err)
	case errors.Is(err, gitsync.ErrNotFound):
		return control.Errorf(control.KindNotFound, "give the path of a message, or of a file from the top of the record", "%v", err)
	}
	return err
}

// Heed withholds the messages that their own hosts have named. A message that is not here yet is
// withheld at a later look. That is logged once, because it may never come.
func (w *Withholding) Heed(ctx context.Context) {
	if !w.Shared() {
		return
	}
	var words []*fleet.Item
	w.Folded(func(s *fleet.State) {
		for it := range s.Ledger.Channel(w.System) {
			if it.Act == protocol.ActHostWithhold && !w.Heeded[it.Path] && s.Keys().Judge(&it.File) == keys.Genuine {
				words = append(words, it)
			}
		}
	})
	for _, word := range words {
		if err := w.carryOut(ctx, word); err != nil {
			if w.Logged[word.Path] != err.Error() {
				w.Logged[word.Path] = err.Error()
				w.Log.Warn().Err(err).Stringer("path", word.Path).Msg("a message that its host withholds is not withheld here yet")
			}
			continue
		}
		w.Heeded[word.Path] = true
	}
}

func (w *Withholding) carryOut(ctx context.Context, word *fleet.Item) error {
	data, err := w.Record.Get(word.Path)
	if err != nil {
		return err
	}
	m, err := protocol.Decode(word.Path, data)
	if err != nil {
		return err
	}
	says, err := protocol.HostWithhold.Parse(m.Body)
	if err != nil {
		return err
	}
	var late []error
	for _, path := range says.Paths {
		var it *fleet.Item
		w.Folded(func(s *fleet.State) { it, _ = s.Ledger.Item(path) })
		switch {
		case it == nil:
			late = append(late, gitsync.ErrNotFound)
		case it.Host == word.Host:
			if _, err := w.Record.Withhold(ctx, path.RepoPath()); err != nil && !errors.Is(err, gitsync.ErrPushed) {
				late = append(late, err)
			}
		}
	}
	return errors.Join(late...)
}
