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

// friends are the contacts.json of agents of this host, as they were at the last look.
type friends struct {
	*Options
	mu    sync.Mutex // guards what follows
	files map[string]contactsFile
}

type contactsFile struct {
	all   map[string]psi.Contact
	wrong string // what the operator has been told about it
}

// look reads what an agent of this host keeps about those whom it knows. Call it without holding
// the state: a disk may take its time. It does not read the files of an agent that runs as another
// user: the node would follow that user's links with its own rights.
func (f *friends) look(agent string) {
	agents := f.Agents()
	i := slices.IndexFunc(agents, func(a configs.Agent) bool { return a.Name.String() == agent })
	var now contactsFile
	about := "contacts.json of " + agent
	if i >= 0 && agents[i].RunAs == "" {
		var err error
		if now.all, err = readContacts(psi.Of(agents[i].Dir)); err != nil {
			now.wrong = fmt.Sprintf("the %s counts for nothing: %v", about, err)
		}
	}
	f.mu.Lock()
	was := f.files[agent]
	if f.files[agent] = now; now.all == nil && now.wrong == "" {
		delete(f.files, agent)
	}
	f.mu.Unlock()
	if now.wrong != was.wrong {
		f.Wrong(about, now.wrong)
	}
}

// readContacts reads the contacts in a ψ; nil if there are none.
func readContacts(at string) (map[string]psi.Contact, error) {
	if at == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(at)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := psi.Read(root, psi.ContactsFile, psi.MaxContacts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return psi.ParseContacts(data)
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
