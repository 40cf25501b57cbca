package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/parties"
)

// Party is a party in which the agent is or was. To be a member takes the consent of a human of
// this host. So each such party has a file, and a stranger's party has none.
type Party struct {
	Stem string // name of its file, without .json (R30)
	parties.File
	Over time.Time // when the last member left; zero while somebody is in it
}

func (p Party) text() []byte {
	data, err := json.MarshalIndent(p.File, "", "  ")
	if err != nil {
		panic(err) // it holds only strings and finite numbers
	}
	return append(data, '\n')
}

// is reports whether a file belongs to this party and no other one. It compares what never changes
// of a party.
func (p Party) is(file []byte) bool {
	var of struct {
		Topic   string
		Leader  parties.FileLeader
		Created string
	}
	return json.Unmarshal(file, &of) == nil && of.Topic == p.Topic && of.Leader == p.Leader && of.Created == p.Created
}

func (w writer) parties(all []Party) error {
	if len(all) == 0 {
		return nil
	}
	if err := w.root.MkdirAll(partiesFolder, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of parties: %w", err)
	}
	var wrong []error
	for _, p := range all { // in their order: a party that is put away makes room for a later one of the same name
		wrong = append(wrong, w.party(p, all))
	}
	return errors.Join(wrong...)
}

// party writes the file of a party, and puts it away when the last member has left (R30).
func (w writer) party(p Party, all []Party) error {
	stem := path.Join(partiesFolder, p.Stem)
	name := stem + ".json"
	existing, err := read(w.root, name)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	if mine := p.is(existing); !mine && !p.Over.IsZero() {
		return w.lateParty(p)
	} else if !mine && !slices.ContainsFunc(all, func(other Party) bool { return other.is(existing) }) {
		if err := w.keepByHand(stem, p.Stem, ".json"); err != nil {
			return err
		}
	}
	if err := w.edit(name, func([]byte) []byte { return p.text() }); err != nil || p.Over.IsZero() {
		return err
	}
	if err := w.root.MkdirAll(archive, 0o755); err != nil {
		return err
	}
	for n := 1; n < maxSameDay; n++ {
		if err := w.move(name, archived(p.Stem, p.Over, n)+".json"); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("cannot put %s away: the archive has %d of that day", p.Stem, maxSameDay)
}

// lateParty puts a party that is over into the archive, if it is not there yet. Either the party
// ended before this host wrote its file, or somebody has removed the file.
func (w writer) lateParty(p Party) error {
	if err := w.root.MkdirAll(archive, 0o755); err != nil {
		return err
	}
	for n := 1; n < maxSameDay; n++ {
		name := archived(p.Stem, p.Over, n) + ".json"
		data, err := read(w.root, name)
		if err != nil || p.is(data) {
			return err
		}
		if data != nil {
			continue
		}
		if err := create(w.root, name, p.text()); err != nil {
			return fmt.Errorf("cannot put %s away: %w", p.Stem, err)
		}
		w.w.Files = append(w.w.Files, name)
		return nil
	}
	return fmt.Errorf("cannot put %s away: the archive has %d of that day", p.Stem, maxSameDay)
}
