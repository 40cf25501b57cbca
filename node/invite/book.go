package invite

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// guestTime is how long a newcomer that was let in may take to get into the record.
	guestTime = 24 * time.Hour
	// keptFor is how long a line that is over is kept, so that its second use is noticed.
	keptFor  = 30 * 24 * time.Hour
	maxLines = 100
)

// Options are what the book needs of its node. All are required.
type Options struct {
	File    string // where the lines are kept, for this user alone
	Now     func() time.Time
	Notices *notices.Notices
	// Line opens the links port if need be, and says where and as whom this host is reached.
	Line func(context.Context, control.InvitationRequest) (protocol.InviteLine, error)
	// Host is the host whose key a public nkey is or was, by the record; "" for none.
	Host func(key string) protocol.Name
	// Names are those that hosts of the record have or had.
	Names func() map[protocol.Name]bool
	// Grant is what newcomers are told once they are let in, but for their name.
	Grant func() Granted
}

// Book has the invitation lines of a host: what became of each, and never the secret of one. It asks
// what the record says while it does not hold its lock.
type Book struct {
	Options
	changed wait.Change
	lobby   lobby

	mu     sync.Mutex           // guards the fields below
	number int                  // how often something has changed
	lines  []*line              // the oldest first
	asking map[string]chan bool // by knock: told whether it is let in
}

// line is one invitation line, as it is kept.
type line struct {
	control.Invitation
	Mark  string            `json:"mark"`  // what newcomers name it by
	Proof ed25519.PublicKey `json:"proof"` // what their proofs are checked with
	// LetIn is when newcomers were let in, by knock: it may be long after they knocked.
	LetIn map[string]time.Time `json:"let_in,omitempty"`
}

// Open reads the lines that a home has.
func Open(o Options) (*Book, error) {
	b := &Book{Options: o, number: 1, asking: map[string]chan bool{}}
	data, err := os.ReadFile(o.File)
	if err == nil {
		err = json.Unmarshal(data, &b.lines)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, control.Errorf(control.KindFailed, "remove the file: no line counts then", "cannot read the invitation lines in %s: %v", o.File, err)
	}
	for _, l := range b.lines {
		for i := range l.Knocks {
			if l.Knocks[i].State == control.KnockAsks {
				l.Knocks[i].State = control.KnockGone // with the node that it asked
			}
		}
	}
	return b, nil
}

// save keeps the lines and tells who waits. The caller holds mu.
func (b *Book) save() error {
	now := b.Now()
	b.lines = slices.DeleteFunc(b.lines, func(l *line) bool { return now.After(l.Expires.Add(keptFor)) })
	b.number++
	b.changed.Tell()
	data, err := json.MarshalIndent(b.lines, "", "  ")
	if err == nil {
		err = durable.WriteFile(b.File, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the invitation lines: %w", err)
	}
	return nil
}

// Make answers control.MakeInvitation.
func (b *Book) Make(ctx context.Context, r control.InvitationRequest) (control.Invitation, error) {
	uses, lasts := max(r.Uses, 1), r.For.Duration()
	if lasts == 0 {
		lasts = control.MaxUnasked
	}
	wrong := ""
	switch {
	case r.Uses < 0 || uses > control.MaxInvitationUses:
		wrong = fmt.Sprintf("a line has 1 to %d uses", control.MaxInvitationUses)
	case lasts < time.Second || lasts > control.MaxInvitationFor:
		wrong = "a line counts for one second to 30 days"
	case r.Unasked && lasts > control.MaxUnasked:
		wrong = "a line whose newcomers nobody is asked about counts for 10 minutes at most"
	}
	if wrong != "" {
		return control.Invitation{}, control.Errorf(control.KindUsage, "", "cannot invite a host: %s", wrong)
	}
	made, err := b.Line(ctx, r)
	if err != nil {
		return control.Invitation{}, err
	}
	now := b.Now().UTC()
	made.Expires = now.Add(lasts).Truncate(time.Second)
	random.Fill(made.Secret[:])
	l := &line{Mark: made.Mark(), Proof: made.Prover().Public().(ed25519.PublicKey)}
	l.Invitation = control.Invitation{ID: made.ID(), State: control.LineOpen, Uses: uses, Unasked: r.Unasked, Made: now, Expires: made.Expires, Knocks: []control.Knock{}}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lines) >= maxLines {
		b.lines = slices.DeleteFunc(b.lines, func(l *line) bool { return l.state(now) != control.LineOpen })
	}
	if len(b.lines) >= maxLines {
		return control.Invitation{}, control.Errorf(control.KindRefused, "revoke some: parley fleet invite list", "cannot invite a host: %d invitation lines are open", maxLines)
	}
	b.lines = append(b.lines, l)
	if err := b.save(); err != nil {
		return control.Invitation{}, err
	}
	shown := l.view(now)
	shown.Line = made.String()
	return shown, nil
}

// state is what a line is good for now.
func (l *line) state(now time.Time) string {
	switch {
	case l.State != control.LineOpen:
		return l.State
	case l.Used >= l.Uses:
		return control.LineUsed
	case !now.Before(l.Expires):
		return control.LineExpired
	}
	return control.LineOpen
}

// view is a line as it is shown. The caller holds the book's mu.
func (l *line) view(now time.Time) control.Invitation {
	shown := l.Invitation
	shown.State, shown.Knocks = l.state(now), slices.Clone(l.Knocks)
	return shown
}

// List answers control.Invitations.
func (b *Book) List(ctx context.Context, r control.InvitationsRequest) (control.InvitationList, error) {
	for {
		next := b.changed.Next()
		b.mu.Lock()
		now := b.Now()
		list := control.InvitationList{Number: b.number, Lines: each.Of(b.lines, func(l *line) control.Invitation { return l.view(now) })}
		b.mu.Unlock()
		if list.Number > r.After {
			for _, l := range list.Lines {
				for i, k := range l.Knocks {
					if k.State == control.KnockAllowed && b.Host(k.Key) != "" {
						l.Knocks[i].State = control.KnockJoined
					}
				}
			}
			return list, nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return list, ctx.Err()
		}
	}
}

// Revoke answers control.RevokeInvitation. The warning of a line that is burnt ends too.
func (b *Book) Revoke(_ context.Context, r control.InvitationName) (control.Invitation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.lines, func(l *line) bool { return l.ID == r.ID })
	if i < 0 {
		return control.Invitation{}, control.Errorf(control.KindNotFound, "parley fleet invite list", "cannot revoke an invitation line: there is no line %q", r.ID)
	}
	b.end(b.lines[i], control.LineRevoked, "")
	b.Notices.Mended(burnt(b.lines[i]))
	return b.lines[i].view(b.Now()), b.save()
}

// end has a line count no more, and refuses who asks by it. The caller holds mu, and saves.
func (b *Book) end(l *line, state, why string) {
	l.State, l.Why = state, why
	for i := range l.Knocks {
		b.settle(&l.Knocks[i], control.KnockRefused)
	}
}

// settle ends the asking of a newcomer, unless it does not ask any more. The caller holds mu.
func (b *Book) settle(k *control.Knock, state string) {
	if k.State != control.KnockAsks {
		return
	}
	k.State = state
	b.Notices.Mended("knock " + k.ID)
	if asks, ok := b.asking[k.ID]; ok {
		asks <- state == control.KnockAllowed // it has room for this one answer
		delete(b.asking, k.ID)
	}
}

// Answer answers control.AnswerKnock. A no burns the line.
func (b *Book) Answer(_ context.Context, r control.KnockAnswer) (control.Knock, error) {
	taken := b.Names()
	b.mu.Lock()
	defer b.mu.Unlock()
	l, k := b.knock(r.ID)
	switch {
	case k == nil:
		return control.Knock{}, control.Errorf(control.KindNotFound, "parley fleet invite list", "cannot let a host in: nobody asks as %q", r.ID)
	case k.State != control.KnockAsks:
		return *k, control.Errorf(control.KindConflict, "parley fleet invite list", "cannot answer %s: it does not ask any more (%s)", k.Alias, k.State)
	case r.Yes:
		return b.allow(l, k, taken)
	}
	b.end(l, control.LineBurnt, "a person here said no to "+k.Fingerprint)
	return *k, b.save()
}

// allow lets a newcomer in, under a name that the fleet does not have. The caller holds mu.
func (b *Book) allow(l *line, k *control.Knock, taken map[protocol.Name]bool) (control.Knock, error) {
	wish := k.Alias
	for n := 2; taken[k.Alias] || b.promised(k.Alias, k.Key); n++ {
		number := fmt.Sprintf("-%d", n)
		k.Alias = wish[:min(len(wish), 64-len(number))] + protocol.Name(number)
	}
	k.State = control.KnockAllowed
	if l.LetIn == nil {
		l.LetIn = map[string]time.Time{}
	}
	l.LetIn[k.ID] = b.Now().UTC()
	if err := b.save(); err != nil {
		k.State, k.Alias = control.KnockAsks, wish
		return *k, err
	}
	k.State = control.KnockAsks
	b.settle(k, control.KnockAllowed)
	return *k, nil
}

// promised reports whether another newcomer was let in under a name. The caller holds mu.
func (b *Book) promised(alias protocol.Name, key string) bool {
	return slices.ContainsFunc(b.lines, func(l *line) bool {
		return slices.ContainsFunc(l.Knocks, func(k control.Knock) bool {
			return k.Alias == alias && k.Key != key && l.allows(k, b.Now())
		})
	})
}

// knock finds a knock; nil for none. The caller holds mu.
func (b *Book) knock(id string) (*line, *control.Knock) {
	for _, l := range b.lines {
		for i := range l.Knocks {
			if l.Knocks[i].ID == id {
				return l, &l.Knocks[i]
			}
		}
	}
	return nil, nil
}

// Guest reports whether the holder of a key was let in a short time ago. It may be given the record
// until it stands there itself.
func (b *Book) Guest(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.lines, func(l *line) bool { return l.guest(key, b.Now()) != nil })
}

// guest is the knock of a newcomer that was let in by a line; nil for none.
func (l *line) guest(key string, now time.Time) *control.Knock {
	for i, k := range l.Knocks {
		if k.Key == key && l.State != control.LineRevoked && l.allows(k, now) {
			return &l.Knocks[i]
		}
	}
	return nil
}

// allows reports whether a newcomer was let in, a short time ago.
func (l *line) allows(k control.Knock, now time.Time) bool {
	return k.State == control.KnockAllowed && now.Before(l.LetIn[k.ID].Add(guestTime))
}

// Admit reports whether strangers may knock: there is a line, or was one a short time ago.
func (b *Book) Admit(string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.lines) > 0
}

func newKnock(h hello, key, fingerprint, address string, at time.Time) control.Knock {
	return control.Knock{
		ID: random.Hex(4), State: control.KnockAsks, Alias: h.About.Alias, Human: h.About.Human, Key: key, Fingerprint: fingerprint,
		Address: address, Version: h.About.Version, Takes: h.About.Takes, At: at.UTC(),
	}
}
