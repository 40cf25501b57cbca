package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/redactions"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/protocol"
)

// Redactions say which texts of the record are hidden.
type Redactions struct{ state *State }

// Of is the redaction that hides the text of a message: that of the host that wrote it, or of
// a human with whom the record was begun who signed with their own key (R75). Of several, it is the
// first one. What agents said when they failed on the message is hidden with it: it repeats what they
// were given. Words of hosts, deeds, receipts and whatever else a program reads are never hidden.
func (rs Redactions) Of(it *Item) (redactions.Redaction, bool) {
	if asked, there := rs.failedOn(it); there {
		it = asked
	}
	if it.Type != protocol.TypeText || !it.Act.FreeText() {
		return redactions.Redaction{}, false
	}
	return rs.find(it.Path.RepoPath(), func(host protocol.Name) bool { return host == it.Host })
}

// failedOn is the message on which its author failed, if a message says so.
func (rs Redactions) failedOn(it *Item) (asked *Item, there bool) {
	if p, answers := it.AnsweredPath(); answers && it.Act == protocol.ActFailed {
		asked, there = rs.state.Ledger.Item(p)
	}
	return asked, there
}

// failure is a run without the words in which it failed, if those are hidden.
func (rs Redactions) failure(run runs.Run) runs.Run {
	if run.Dead == nil {
		return run
	}
	if it, there := rs.state.Ledger.Item(run.Dead.Path); there {
		if r, hidden := rs.Of(it); hidden {
			dead := *run.Dead
			dead.Failure.Problem, dead.Failure.Text = r.String(), ""
			run.Dead = &dead
		}
	}
	return run
}

// OfMemory is Of for a memory. It was written by a host that declared its author.
func (rs Redactions) OfMemory(m protocol.Memory) (redactions.Redaction, bool) {
	return rs.find(protocol.MemoryPath(m.File), func(host protocol.Name) bool { return rs.state.Keys().Declared(host, m.From) != nil })
}

func (rs Redactions) find(file string, wrote func(host protocol.Name) bool) (redactions.Redaction, bool) {
	if !rs.state.HasAffair(redactions.KindName, file) { // as for nearly all files
		return redactions.Redaction{}, false
	}
	all := Value(rs.state, redactions.Kind(rs.state.anchor.RecordID), file, time.Time{})
	i := slices.IndexFunc(all, func(r redactions.Redaction) bool {
		return wrote(r.Host) || r.Own && rs.founds(r.Host, r.By)
	})
	if i < 0 {
		return redactions.Redaction{}, false
	}
	return all[i], true
}

// founds reports whether the record was begun on a host with that human.
func (rs Redactions) founds(host protocol.Name, human string) bool {
	founder, humans := rs.state.Keys().Founder()
	return host == founder && slices.Contains(humans, protocol.Name(human))
}

// May returns a *Refusal if a human of a host may not redact a text. `it` is nil for a memory.
func (rs Redactions) May(it *Item, m protocol.Memory, host protocol.Name, human string, own bool) error {
	what, wrote := protocol.MemoryPath(m.File), rs.state.Keys().Declared(host, m.From) != nil
	if it != nil {
		what, wrote = it.Path.String(), it.Host == host
	}
	founder, _ := rs.state.Keys().Founder()
	if it != nil {
		if asked, there := rs.failedOn(it); there {
			return refusal.New(refusal.Forbidden, "parley record redact "+asked.Path.String()+" hides both", "cannot redact %s: it says how %s failed on another message", it.Path, it.From)
		}
	}
	switch {
	case it != nil && (it.Type != protocol.TypeText || !it.Act.FreeText()):
		return refusal.New(refusal.Forbidden, "change the secret; a commit that only this host has can be held back: parley record withhold",
			"cannot redact %s: it is %s, and what programs read or humans decided stays as it was signed; only talk and memories can be hidden", it.Path, it.Act)
	case wrote || own && rs.founds(host, human):
		return nil
	case rs.founds(host, human):
		return refusal.New(refusal.Forbidden, "make one: parley gates key add", "cannot redact %s: this host did not write it, and so your own key has to sign it", what)
	}
	return refusal.New(refusal.Forbidden, "run it on the host that wrote it, or on "+founder.String()+", which began the record",
		"cannot redact %s: this host did not write it", what)
}

// Files are the files whose texts are hidden, sorted.
func (rs Redactions) Files() (files []string) {
	for _, file := range rs.state.Affairs(redactions.KindName) {
		if _, hidden := rs.OfFile(file); !hidden {
			continue
		}
		files = append(files, file)
		if p, err := protocol.ParsePath(file); err == nil {
			for _, answer := range rs.state.Talk.Answers(p) {
				if _, hidden := rs.Of(answer); hidden && answer.Act == protocol.ActFailed {
					files = append(files, answer.Path.RepoPath())
				}
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// OfFile is the redaction that hides the text of a file of the record.
func (rs Redactions) OfFile(file string) (r redactions.Redaction, hidden bool) {
	if name, is := protocol.ParseMemoryPath(file); is {
		if m, ok := rs.state.Memories.In(name); ok {
			return rs.OfMemory(m.Memory)
		}
	} else if p, err := protocol.ParsePath(file); err == nil {
		if it, ok := rs.state.Ledger.Item(p); ok && p.RepoPath() == file {
			return rs.Of(it)
		}
	}
	return r, false
}

// Shown is a file of the record as it may be shown: without its text if that is redacted. Without
// its text, a message has no signature.
func (rs Redactions) Shown(file string, data []byte) []byte {
	r, hidden := rs.OfFile(file)
	if !hidden {
		return data
	}
	var err error
	if name, is := protocol.ParseMemoryPath(file); is {
		m, _ := rs.state.Memories.In(name)
		data, err = protocol.EncodeMemory(m.Memory)
	} else {
		p, _ := protocol.ParsePath(file)
		var m *protocol.Message
		if m, err = protocol.Decode(p, data); err == nil {
			m.Body, m.Sig, m.Hsig = r.String(), "", ""
			data, err = protocol.Encode(m)
		}
	}
	if err != nil { // another program wrote it in a form that is not written here
		return []byte(r.String() + "\n")
	}
	return data
}
