package homes

import (
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

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
