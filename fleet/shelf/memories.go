package shelf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Memories are the memories of a record.
type Memories struct {
	channels *Channels
	hidden   func(protocol.Memory) (instead string, yes bool)
	files    map[string]protocol.Memory
}

// NewMemories are the memories of a record before its first one. `channels` are the channels that a
// memory can have as its scope. `hidden` says what stands in place of the text of a memory that is
// redacted.
func NewMemories(channels *Channels, hidden func(protocol.Memory) (instead string, yes bool)) *Memories {
	return &Memories{channels, hidden, map[string]protocol.Memory{}}
}

// shown is a memory as it is told: without its words if it is redacted.
func (a *Memories) shown(m protocol.Memory) protocol.Memory {
	if instead, yes := a.hidden(m); yes {
		m.Subject, m.Tags, m.Body = redactedSubject, nil, instead
	}
	return m
}

const redactedSubject = "redacted"

// Set takes in a memory of the record.
func (a *Memories) Set(m protocol.Memory) { a.files[m.File] = m }

// Drop forgets the memory in `file`.
func (a *Memories) Drop(file string) { delete(a.files, file) }

// Memory is a memory and the file of the one that took its place, if any did.
type Memory struct {
	protocol.Memory
	SupersededBy string
}

// MemoryFilter says which memories are wanted. An empty field allows all.
type MemoryFilter struct {
	Scopes  []protocol.ChannelID // "" among them stands for global
	Subject string               // a part of the subject, in any case
	Tags    []string             // all of them
	From    string
	All     bool // also those that others supersede
}

// List lists memories in the order of their timestamps. Without All it lists only those that hold.
// A memory that another one supersedes does not hold. If two memories supersede the same file, the
// newer one holds, and at the same time the one with the greater name (R10). A memory for a channel
// that does not exist is left out.
func (a *Memories) List(f MemoryFilter) []Memory {
	by := a.superseded()
	var all []Memory
	for file, m := range a.files {
		m = a.shown(m)
		m.Scope = a.channels.spelling(m.Scope)
		if (f.All || by[file] == "") && f.matches(m) && (m.Scope == "" || a.channels.Exists(m.Scope)) {
			all = append(all, Memory{m, by[file]})
		}
	}
	slices.SortFunc(all, func(a, b Memory) int { return compareMemories(a.Memory, b.Memory) })
	return all
}

// ScopeProblem says what is wrong with the scope of the memory in `file`, and what to do. It is ""
// if nothing is wrong. A memory with such a scope is given to nobody: the scope is no channel of
// the record but, for example, the id of a session (R10).
func (a *Memories) ScopeProblem(file string) string {
	m, ok := a.files[file]
	if !ok || m.Scope == "" || a.channels.Exists(a.channels.spelling(m.Scope)) {
		return ""
	}
	return fmt.Sprintf("its scope %s is no channel of the record (a session is none), so it is given to nobody: in a clone, write  scope: global  or the id of a channel, "+
		"as parley channel list --json shows them, and push", m.Scope)
}

// In is the memory in `file`.
func (a *Memories) In(file string) (Memory, bool) {
	m, ok := a.files[file]
	return Memory{a.shown(m), a.superseded()[file]}, ok
}

// superseded gives, for each file that no longer holds, the memory that has taken its place.
func (a *Memories) superseded() map[string]string {
	winners := map[string]protocol.Memory{} // by the file that they supersede
	for _, m := range a.files {
		if old, taken := winners[m.Supersedes]; m.Supersedes != "" && (!taken || compareMemories(old, m) < 0) {
			winners[m.Supersedes] = m
		}
	}
	by := map[string]string{}
	for _, m := range a.files {
		if winner, ok := winners[m.Supersedes]; ok && winner.File != m.File {
			by[m.File] = winner.File
		}
	}
	for file, winner := range winners {
		by[file] = winner.File
	}
	return by
}

func compareMemories(a, b protocol.Memory) int {
	return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.File, b.File))
}

func (f MemoryFilter) matches(m protocol.Memory) bool {
	lacks := func(tag string) bool {
		return !slices.ContainsFunc(m.Tags, func(t string) bool { return strings.EqualFold(t, tag) })
	}
	if f.Scopes != nil && !slices.Contains(f.Scopes, m.Scope) || f.From != "" && m.From != f.From || slices.ContainsFunc(f.Tags, lacks) {
		return false
	}
	return strings.Contains(strings.ToLower(m.Subject), strings.ToLower(f.Subject))
}

// Remember asks for a memory to be written.
type Remember struct {
	From       string // who remembers
	Subject    string
	Scope      string // "", "global", or the id or name of a channel
	Tags       []string
	Session    string
	Supersedes string // the file of a memory that it replaces
	Body       string
}

// Remembered checks that the memory can be written, and returns what it is to say. The writer
// chooses the name of its file. A memory that replaces another one takes over subject, scope and
// tags if it has none of its own. The error is a *refusal.Refusal.
func (a *Memories) Remembered(c Remember, now time.Time) (protocol.Memory, error) {
	m := protocol.Memory{
		From: c.From, Timestamp: now, Subject: strings.TrimSpace(c.Subject), Tags: c.Tags, Session: c.Session,
		Body: protocol.NormalBody(c.Body),
	}
	scope := c.Scope
	if c.Supersedes != "" {
		old, err := a.replaceable(c.Supersedes)
		if err != nil {
			return m, err
		}
		m.Supersedes = old.File
		m.Subject = cmp.Or(m.Subject, old.Subject)
		scope = cmp.Or(scope, old.Scope.String())
		if m.Tags == nil {
			m.Tags = old.Tags
		}
	}
	if scope != "" && scope != "global" {
		channel, err := a.channels.Find(scope)
		if err != nil {
			return m, wrongScope(scope, err)
		}
		m.Scope = channel
	}
	if strings.TrimSpace(m.Body) == "" {
		return m, refusal.New(refusal.Senseless, "write the text as the last words, or - to read it from standard input", "the memory is empty")
	}
	if _, err := protocol.EncodeMemory(m); err != nil {
		return m, refusal.New(refusal.Senseless, "", "%v", err)
	}
	return m, nil
}

// wrongScope says what a scope may be, and why the requested one is none.
func wrongScope(scope string, err error) error {
	hint := "--scope global, or a channel of: parley channel list"
	var why *refusal.Refusal
	if errors.As(err, &why) {
		hint += "; " + why.Hint
	}
	return refusal.New(refusal.Unknown, hint, "cannot write the memory: its scope %q is neither global nor a channel of the record: %v", scope, err)
}

// replaceable is the memory of that name. The error says that there is none, or that another memory
// has replaced it.
func (a *Memories) replaceable(name string) (Memory, error) {
	file, err := a.Find(name)
	if err != nil {
		return Memory{}, err
	}
	m, _ := a.In(file)
	if by := m.SupersededBy; by != "" {
		return m, refusal.New(refusal.Forbidden, "supersede that one: parley memory supersede "+by, "%s was superseded by %s already", file, by)
	}
	return m, nil
}

// Find is the file of the memory that `text` names: its name, with or without ".md", or the hex
// digits at the end of its name. The error is a *refusal.Refusal.
func (a *Memories) Find(text string) (string, error) {
	if file, err := protocol.ParseMemoryFileName(text); err == nil {
		if _, ok := a.files[file]; ok {
			return file, nil
		}
	}
	var found []string
	for file := range a.files {
		if _, hex, _ := strings.Cut(strings.TrimSuffix(file, ".md"), "-"); hex == strings.ToLower(text) {
			found = append(found, file)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", refusal.New(refusal.Unknown, "memories are listed by: parley memory list --all", "there is no memory %q", text)
	}
	return "", refusal.New(refusal.Senseless, "give the whole name: "+found[0], "%q names %d memories", text, len(found))
}
