package notebook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/protocol"
	"github.com/rs/zerolog"
)

// burst is how long other changes are waited for after a change. If a file were written for each
// change of a burst, nobody would read the versions in between.
const burst = 100 * time.Millisecond

// Options is what this part needs of its node.
type Options struct {
	Agents func() []configs.Agent // returns the agents that this host serves
	// Book returns what an agent works on. If `changed` names channels, only what has happened in
	// them has to be complete.
	Book func(me string, changed []protocol.ChannelID) Book
	// Concerned returns the names of the agents whose files change with what happens in a channel:
	// the two of a topic, or the members of a party.
	Concerned func(protocol.ChannelID) []string
	Messages  *feed.Feeds[protocol.Path] // as they enter the state
	// Wrong tells the operator what is wrong with the files of an agent; "" means that nothing is.
	Wrong func(about, text string)
	Log   zerolog.Logger
}

// Keeper keeps the files of the agents of a host.
type Keeper struct {
	Options

	mu        sync.Mutex      // held while files are written; guards what follows
	recovered map[string]bool // folders in which the leftovers of an earlier process were dealt with
	last      map[string]attempt
}

// New makes this part of a node. An agent whose command runs as another user has no files: its
// folder belongs to that user, and the node would follow that user's links with its own rights.
func New(o Options) *Keeper {
	all := o.Agents
	o.Agents = func() []configs.Agent {
		return slices.DeleteFunc(slices.Clone(all()), func(a configs.Agent) bool { return a.RunAs != "" })
	}
	return &Keeper{Options: o, recovered: map[string]bool{}, last: map[string]attempt{}}
}

// Start writes all files. Then, whenever something happens in a topic or party, it writes the files
// of the agents concerned, until `stop` is called. What has happened until then is written too.
func (k *Keeper) Start() (stop func()) {
	came := k.Messages.Follow(1024, func(p protocol.Path) bool { return true })
	return wait.Background(func(ctx context.Context) {
		defer came.End()
		k.after(nil, true)
		for {
			select {
			case <-came.Wake():
				wait.Sleep(ctx, burst)
			case <-ctx.Done():
			}
			paths, missed := came.Drain()
			k.after(paths, missed > 0)
			if ctx.Err() != nil {
				return
			}
		}
	})
}

// WriteAll writes all files of all agents of the host.
func (k *Keeper) WriteAll() { k.after(nil, true) }

// after writes what messages change, for the agents of this host that are concerned: the topics and
// parties in which the messages are. An agent whose files were never written gets all its files.
func (k *Keeper) after(paths []protocol.Path, all bool) {
	// Each channel is asked about once. Reading the outcome of a topic takes a tenth of the time of
	// all else that a message costs, and in a burst hundreds of messages come together.
	concerned := map[protocol.ChannelID][]string{}
	for _, p := range paths {
		channel := p.Channel()
		if _, asked := concerned[channel]; !asked {
			concerned[channel] = k.Concerned(channel)
		}
	}
	for _, a := range k.Agents() {
		var changed []protocol.ChannelID
		for channel, names := range concerned {
			if slices.Contains(names, a.Name.String()) {
				changed = append(changed, channel)
			}
		}
		if all || k.isNew(a) {
			changed = nil
		} else if len(changed) == 0 {
			continue
		}
		_, _ = k.write(a.Name.String(), changed) // write has told what is wrong
	}
}

// attempt is the outcome of the last writing of an agent's files.
type attempt struct {
	dir   string // of the agent
	whole bool   // all of its files agree with the record
	wrong string // "" for nothing
}

// isNew reports whether nobody has tried yet to write an agent's files in its present folder.
func (k *Keeper) isNew(a configs.Agent) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	last, known := k.last[a.Name.String()]
	return !known || last.dir != a.Dir
}

// tell notes the outcome of writing an agent's files, and tells once what is wrong with them. The
// caller holds mu.
func (k *Keeper) tell(a configs.Agent, w Written, err error) {
	about := "files of collaborations of " + a.Name.String()
	now := attempt{dir: a.Dir, whole: err == nil && w.Folder != ""}
	if err != nil {
		now.wrong = fmt.Sprintf("the %s: %v", about, err)
	}
	last, known := k.last[a.Name.String()]
	k.last[a.Name.String()] = now
	if known && last.wrong == now.wrong {
		return
	}
	if err != nil {
		k.Log.Warn().Err(err).Stringer("agent", a.Name).Msg("files of collaborations were not written")
	}
	k.Wrong(about, now.wrong)
}

// Written is the outcome of writing an agent's files.
type Written struct {
	Folder   string   // "" if the agent has none
	Files    []string // files that were changed, below Folder
	TimedOut []string // items that have timed out since the files were last written: SLUG/LABEL
}

// Write writes the files of one agent that differ from what the record says. An agent without a
// folder has no files. If the folder has no ψ, one is made when the agent itself opens a topic or
// takes part in a party. Topics that others open make no folder among anybody's work.
func (k *Keeper) Write(agent string) (Written, error) { return k.write(agent, nil) }

// write is Write after something happened in channels. It writes all files if no channel is named.
// It writes all files also if the agent had no folder before, or a file could not be written.
func (k *Keeper) write(agent string, changed []protocol.ChannelID) (w Written, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	agents := k.Agents()
	i := slices.IndexFunc(agents, func(a configs.Agent) bool { return a.Name.String() == agent })
	if i < 0 {
		return w, nil
	}
	if !k.last[agent].whole {
		changed = nil
	}
	defer func() { k.tell(agents[i], w, err) }()
	if agents[i].Dir == "" {
		return w, nil
	}
	book := k.Book(agent, changed)
	if len(book.Partners) == 0 && len(book.Parties) == 0 {
		return w, nil
	}
	root, err := openFolder(agents[i].Dir, book, func(name string) bool {
		return slices.ContainsFunc(agents, func(a configs.Agent) bool { return a.Name.String() == name })
	})
	if err != nil || root == nil {
		return w, err
	}
	defer root.Close()
	w.Folder = root.Name()
	write := writer{root: root, w: &w}
	err = write.book(book)
	if !k.recovered[w.Folder] {
		kept, wrong := write.recoverHalves()
		for _, file := range kept {
			k.Log.Warn().Str("agent", agent).Str("file", path.Join(w.Folder, file)).Msg("somebody saved this while parley was killed: kept beside its file")
		}
		w.Files, err = append(w.Files, kept...), errors.Join(err, wrong)
		k.recovered[w.Folder] = true
	}
	return w, err
}

// owner is the name of the file that says to which agent the files in a folder belong. Agents that
// share one ψ do not share their files (R30).
const owner = ".parley-agent"

// openFolder opens the folder of an agent's files, and makes it if it is missing. It returns nil if
// there is no ψ and the agent has opened no topic and was in no party.
func openFolder(dir string, book Book, known func(agent string) bool) (*os.Root, error) {
	at := psi(dir)
	if !isFolder(at) && !book.opened() {
		return nil, nil
	}
	if !isFolder(dir) {
		return nil, fmt.Errorf("cannot write to %s: there is no such folder", dir)
	}
	for _, name := range []string{folder, folder + "@" + folderOf(book.Me)} {
		files := filepath.Join(at, filepath.FromSlash(name))
		if err := os.MkdirAll(files, 0o755); err != nil {
			return nil, fmt.Errorf("cannot make the folder of collaborations: %w", err)
		}
		root, err := os.OpenRoot(files)
		if err != nil {
			return nil, fmt.Errorf("cannot open the folder of collaborations: %w", err)
		}
		mine, err := own(root, book.Me)
		if err != nil || mine {
			return root, err
		}
		if err := root.Close(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("cannot write to %s: its folders of collaborations are other agents'", at)
}

// own reports whether a folder belongs to an agent. A folder that belongs to nobody becomes the
// agent's.
func own(root *os.Root, agent string) (bool, error) {
	_, err := edit(root, owner, func(existing []byte) []byte {
		if existing != nil {
			return existing
		}
		return []byte(agent + "\n")
	})
	if err != nil {
		return false, err
	}
	name, err := read(root, owner)
	return strings.TrimSpace(string(name)) == agent, err
}

// opened reports whether the agent itself has opened a topic or takes part in a party. Its human
// has agreed to the latter.
func (b Book) opened() bool {
	return len(b.Parties) > 0 || slices.ContainsFunc(b.Partners, func(p Partner) bool {
		return slices.ContainsFunc(p.Topics, func(t Topic) bool { return t.OpenedBy == b.Me })
	})
}

type writer struct {
	root *os.Root
	w    *Written
}

func (w writer) book(b Book) error {
	var wrong []error
	for _, p := range b.Partners {
		if p.Stays {
			continue
		}
		dir := folderOf(p.With)
		if err := w.root.MkdirAll(path.Join(dir, "topics"), 0o755); err != nil {
			wrong = append(wrong, fmt.Errorf("cannot make the folder of %s: %w", p.With, err))
			continue
		}
		wrong = append(wrong, w.edit(path.Join(dir, "context.md"), p.Context().Render), w.history(path.Join(dir, "sync.history.jsonl"), p))
		for _, t := range p.Topics {
			if !t.Stays {
				wrong = append(wrong, w.topic(dir, t))
			}
		}
	}
	if len(b.Partners) > 0 {
		wrong = append(wrong, w.edit("registry.md", b.Registry().Render))
	}
	return errors.Join(append(wrong, w.parties(b.Parties))...)
}

func (w writer) edit(name string, change func(existing []byte) []byte) error {
	changed, err := edit(w.root, name, change)
	if changed {
		w.w.Files = append(w.w.Files, name)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

func (w writer) history(name string, p Partner) error {
	more, err := w.missing(name, p)
	if len(more) > 0 && err == nil {
		if err = add(w.root, name, more); err == nil {
			w.w.Files = append(w.w.Files, name)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot add to %s: %w", name, err)
	}
	return nil
}

// missing returns the lines that a history file lacks.
func (w writer) missing(name string, p Partner) ([]byte, error) {
	f, err := open(w.root, name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return p.History(strings.NewReader(""))
	}
	defer f.Close()
	return p.History(f)
}

// recorded is the line of a sheet's head that says to which term of a topic the sheet belongs.
var recorded = pattern.New(`^\*\*Record\*\*: (\S+)\s*$`)

// termOf returns the message that opened the term to which a topic's file belongs; "" if the file
// does not say. Only a line that parley wrote, in its place, counts. Otherwise, if a person wrote a
// line with the same words, that person's file would be put away as one of another term.
func (t Topic) termOf(file []byte) string {
	for _, line := range t.Sheet().own(file, "head") {
		if m := recorded.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

// topic writes the files of a topic. It puts away files that belong to a term which is over.
func (w writer) topic(dir string, t Topic) error {
	stem := path.Join(dir, "topics", t.Slug.String())
	existing, err := read(w.root, stem+".md")
	if err != nil {
		return err
	}
	if opened := t.termOf(existing); opened != "" && opened != t.Opened.String() {
		over := t.Since
		for _, term := range t.Past {
			if term.Opened == opened && !term.Over.IsZero() {
				over = term.Over
			}
		}
		if err := w.putAway(stem, t.Slug.String(), over); err != nil {
			return err
		}
		existing = nil
	}
	if !t.Over.IsZero() && existing == nil && w.away(t) {
		return nil
	}
	if !bytes.Contains(existing, []byte("<!-- parley:begin ")) {
		if err := w.keepByHand(stem, dir+"."+t.Slug.String(), ".state.json"); err != nil {
			return err
		}
	}
	if err := w.state(stem+".state.json", t); err != nil {
		return err
	}
	if err := w.edit(stem+".md", t.Sheet().Render); err != nil || t.Over.IsZero() {
		return err
	}
	return w.putAway(stem, t.Slug.String(), t.Over)
}

// state writes the state file, and notes which items have timed out since it was last written.
func (w writer) state(name string, t Topic) error {
	var before topics.Sidecar
	err := w.edit(name, func(existing []byte) []byte {
		before = topics.Sidecar{}
		if json.Unmarshal(existing, &before) != nil {
			before = topics.Sidecar{} // somebody's text: it is written anew
		}
		return t.StateFile()
	})
	for label, item := range t.State.Items {
		if item.Phase == topic.TimedOut && before.Items[label].Phase != topic.TimedOut {
			w.w.TimedOut = append(w.w.TimedOut, t.Slug.String()+"/"+label)
		}
	}
	slices.Sort(w.w.TimedOut)
	return err
}

// keepByHand copies a file that somebody kept before parley wrote one of that name: it may say what
// the record does not say.
func (w writer) keepByHand(stem, as, suffix string) error {
	data, err := read(w.root, stem+suffix)
	if data == nil || err != nil {
		return err
	}
	if err := w.root.MkdirAll(archive, 0o755); err != nil {
		return err
	}
	for n := 1; n < maxSameDay; n++ {
		kept := fmt.Sprintf("%s/%s.by-hand-%d%s", archive, as, n, suffix)
		there, err := read(w.root, kept)
		switch {
		case err != nil:
			return err
		case there == nil:
			return create(w.root, kept, data)
		case bytes.Equal(there, data):
			return nil
		}
	}
	return fmt.Errorf("cannot keep %s: the archive has %d such files", stem+suffix, maxSameDay)
}

// away reports whether the sheet of a topic's last term is in the archive.
func (w writer) away(t Topic) bool {
	for n := 1; n < maxSameDay; n++ {
		data, err := read(w.root, archived(t.Slug.String(), t.Over, n)+".md")
		if data == nil || err != nil {
			return false
		}
		if t.termOf(data) == t.Opened.String() {
			return true
		}
	}
	return false
}

// maxSameDay bounds how many topics with the same short form are put away on one day.
const maxSameDay = 1000

func archived(slug string, over time.Time, n int) string {
	name := archive + "/" + slug + "_" + over.UTC().Format("20060102")
	if n > 1 {
		name += fmt.Sprintf("-%d", n)
	}
	return name
}

// putAway moves the files of a topic to the archive, where nothing is ever overwritten (R30). What
// somebody saves afterwards is a file of its own, and the next write puts it away too.
func (w writer) putAway(stem, slug string, over time.Time) error {
	if err := w.root.MkdirAll(archive, 0o755); err != nil {
		return err
	}
	for n := 1; n < maxSameDay; n++ {
		name := archived(slug, over, n)
		sheet, err := read(w.root, name+".md")
		if err != nil {
			return err
		}
		state, err := read(w.root, name+".state.json")
		if err != nil {
			return err
		}
		mine, err := read(w.root, stem+".state.json")
		if err != nil {
			return err
		}
		// An earlier try that was cut short has put the same state there.
		if sheet != nil || state != nil && !bytes.Equal(state, mine) {
			continue
		}
		if state != nil {
			err = w.root.Remove(stem + ".state.json")
		} else if mine != nil {
			err = w.move(stem+".state.json", name+".state.json")
		}
		if err != nil {
			return err
		}
		// The sheet goes last: while it is there, the next write continues this move.
		if err = w.move(stem+".md", name+".md"); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("cannot put %s away: the archive has %d of that day", slug, maxSameDay)
}

// move gives a file another name, if the file exists. It returns fs.ErrExist if another file has
// that name.
func (w writer) move(from, to string) error {
	switch err := renameNew(w.root, from, to); {
	case missing(err):
		return nil
	case err != nil:
		return fmt.Errorf("cannot put %s away: %w", from, err)
	}
	w.w.Files = append(w.w.Files, to)
	return nil
}

// Sorted sorts partners by their names.
func Sorted(all []Partner) []Partner {
	slices.SortFunc(all, func(a, b Partner) int { return cmp.Compare(a.With, b.With) })
	return all
}
