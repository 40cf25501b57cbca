package collab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/psi"
	"github.com/parleyfleet/parley/protocol"
)

// The sources that say whose an agent is.
const (
	byFile     = "agent file"
	byContacts = "contacts.json"
	byHuman    = "human"
)

// fresh is how old a file must be before its time identifies its content: a file that is saved
// twice within one tick of its file system's clock looks the same.
const fresh = 2 * time.Second

// friends are the contacts.json of agents of this host, as they were at the last look.
type friends struct {
	*Options
	mu    sync.Mutex // guards what follows
	files map[string]contactsFile
}

type contactsFile struct {
	at     string      // the ψ in which it is
	info   fs.FileInfo // as it was read; nil if it is to be read again
	all    map[string]psi.Contact
	broken bool // the operator has been told about it
}

// look reads what an agent of this host keeps about those whom it knows, if that has changed. Call
// it without holding the state: a disk may take its time. It does not read the files of an agent
// that runs as another user: the node would follow that user's links with its own rights.
func (f *friends) look(agent string) {
	agents := f.Agents()
	i := slices.IndexFunc(agents, func(a configs.Agent) bool { return a.Name.String() == agent })
	at := ""
	if i >= 0 && agents[i].RunAs == "" {
		at = psi.Of(agents[i].Dir)
	}
	f.mu.Lock()
	was := f.files[agent]
	f.mu.Unlock()
	about := "contacts.json of " + agent
	now, err := was.read(at)
	if err != nil {
		now.broken = true
		f.Wrong(about, fmt.Sprintf("the %s counts for nothing: %v", about, err))
	} else if was.broken && !now.broken {
		f.Wrong(about, "")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.at == "" && !now.broken {
		delete(f.files, agent)
		return
	}
	f.files[agent] = now
}

// read is the file as it is now. If it is unchanged, nothing is read, and that is no error.
func (f contactsFile) read(at string) (contactsFile, error) {
	now := contactsFile{at: at}
	if at == "" {
		return now, nil
	}
	root, err := os.OpenRoot(at)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return now, nil
	}
	if err != nil {
		return now, err
	}
	defer root.Close()
	info, err := root.Stat(psi.ContactsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return now, nil
	}
	if err != nil {
		return now, err
	}
	if f.at == at && f.info != nil && os.SameFile(f.info, info) && f.info.Size() == info.Size() && f.info.ModTime().Equal(info.ModTime()) {
		return f, nil
	}
	if age := time.Since(info.ModTime()); age > fresh {
		now.info = info
	}
	data, err := psi.Read(root, psi.ContactsFile, psi.MaxContacts)
	if err == nil {
		now.all, err = psi.ParseContacts(data)
	}
	return now, err
}

// contact is what an agent of this host keeps about another one, as of the last look.
func (f *friends) contact(me, other string) psi.Contact {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.files[me].all[other]
}

// soul is whose `name` is in the eyes of `me`, and the source of that: the agent's file, else the
// contacts of `me`, else the human of the host that serves it (R21). A human belongs to themselves.
// It is asked while the state is read.
func (f *friends) soul(s *fleet.State, me, name string) whose {
	file := ""
	agents := f.Agents()
	if i := slices.IndexFunc(agents, func(a configs.Agent) bool { return a.Name.String() == name }); i >= 0 {
		file = agents[i].Soul.String()
	}
	contact, human := f.contact(me, name).Soul, humanOf(s, name)
	switch soul := topic.Soul(file, contact, human); {
	case file != "":
		return whose{soul, byFile}
	case contact != "":
		return whose{soul, byContacts}
	default:
		return whose{soul, byHuman}
	}
}

// whose says to whom somebody belongs, "" if nobody knows, and the source of that.
type whose struct{ soul, from string }

// humanOf is the human of the host that serves somebody.
func humanOf(s *fleet.State, name string) string {
	for _, host := range s.People.ServedOn(name) {
		h, known := s.Keys().Host(host)
		switch {
		case !known || len(h.Humans) == 0:
		case slices.Contains(h.Humans, protocol.Name(name)):
			return name
		default:
			return h.Humans[0].String()
		}
	}
	return ""
}

// lambdaOf is the decay between two that had so many sessions. If it is not from the record to whom
// they belong, the tier names the source: another host may know it differently.
func lambdaOf(sessions int, mine, theirs whose) topic.Lambda {
	l := topic.LambdaFor(sessions, mine.soul, theirs.soul, nil)
	if l.Tier != topic.TierIntra && l.Tier != topic.TierCross {
		return l
	}
	var by []string
	for _, from := range []string{byFile, byContacts} {
		if from == mine.from || from == theirs.from {
			by = append(by, from)
		}
	}
	if len(by) > 0 {
		l.Tier += topic.Tier(", by " + strings.Join(by, " and "))
	}
	return l
}
