package homes

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Where programs of the format before 5.0 keep what parley keeps elsewhere.
const (
	olderDir      = "manifest/"
	olderActors   = "manifest/custom/actors/"
	olderHosts    = "manifest/hosts/"
	olderIdentity = "manifest/custom/CROSSTALK.md"
	olderVersion  = "CROSSTALK-VERSION"
	olderChannels = "channels/"
)

// Adoption is what it means to take over a record that other programs of the format have begun:
// what parley reads of it, what it adds, and what it leaves alone because it cannot read it.
// Nothing that is there is changed or removed.
type Adoption struct {
	Fleet    protocol.Name
	Version  string // what the record says about its form; "" for nothing
	Messages int    // messages that are read
	Channels int    // channels that have messages
	Memories int
	Hosts    []string // host files that are read
	Add      []AdoptedFile
	Unread   []AdoptedFile
}

// AdoptedFile is a file that is added, or one that cannot be read, and the reason.
type AdoptedFile struct{ Path, Why string }

// survey looks at a record file by file.
type survey struct {
	Adoption
	cfg      configs.Config
	tree     gitsync.Tree
	there    map[string]bool // the files, and the folders above them
	channels map[protocol.ChannelID]bool
	profiles map[string]map[string]string // by folder and name: the paths
	older    []string                     // profiles at their older place
	add      map[string][]byte
	taken    string // a host file of another name that has the alias of this host
}

// survey finds out what it means to take over the record of a remote, and which files to add.
func (o Options) survey(cfg configs.Config, tree gitsync.Tree) (*survey, error) {
	s := &survey{
		Adoption: Adoption{Fleet: cfg.Fleet}, cfg: cfg, tree: tree, there: map[string]bool{}, channels: map[protocol.ChannelID]bool{},
		profiles: map[string]map[string]string{}, add: map[string][]byte{},
	}
	if err := tree.Each(s.look); err != nil {
		return nil, err
	}
	s.Channels = len(s.channels)
	if !s.there[books.VersionFile] && !s.there[books.IdentityFile] && !s.there[olderVersion] && !s.there[protocol.ChannelsDir] && !s.there[path.Clean(olderDir)] {
		return nil, control.Errorf(control.KindRefused, "name a repository that holds a record of the Crosstalk format",
			"cannot adopt %s: it has neither %s nor %s nor %s", redact.Remote(o.Remote), books.VersionFile, protocol.ChannelsDir, path.Clean(olderDir))
	}
	if s.taken != "" {
		return nil, o.taken(fmt.Sprintf("has a host called %s already, in %s", cfg.Alias, s.taken))
	}
	if err := s.takeProfiles(); err != nil {
		return nil, err
	}
	if err := s.addMissing(); err != nil {
		return nil, err
	}
	byPath := func(a, b AdoptedFile) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(s.Add, byPath)
	slices.SortFunc(s.Unread, byPath)
	return s, nil
}

func (s *survey) look(f gitsync.TreeFile) error {
	for at := f.Path; at != "." && !s.there[at]; at = path.Dir(at) {
		s.there[at] = true
	}
	if !f.Plain {
		return nil
	}
	if !f.Message.IsZero() {
		return s.lookAtMessage(f)
	}
	if parse := books.Parser(f.Path); parse != nil {
		return s.lookAtBook(f, parse)
	}
	isFile := strings.HasSuffix(f.Path, ".md")
	switch {
	case path.Base(f.Path) == olderVersion:
		data, err := f.Read()
		if err != nil {
			return err
		}
		if said := strings.TrimSpace(string(data)); s.Version == "" || f.Path == books.VersionFile {
			s.Version = fmt.Sprintf("%.20q in %s", said, f.Path)
		}
	case !isFile:
	case strings.HasPrefix(f.Path, olderActors):
		s.older = append(s.older, f.Path)
	case strings.HasPrefix(f.Path, olderHosts):
		return s.lookAtOlderHost(f)
	case strings.HasPrefix(f.Path, olderChannels):
		s.leave(f.Path, "messages lie below "+protocol.ChannelsDir)
	case strings.HasPrefix(f.Path, protocol.ChannelsDir+"/"):
		s.leave(f.Path, "a message lies in a channel whose name is a UUID, as UUID/YYYY/MM/DD/NAME.md")
	case strings.HasPrefix(f.Path, protocol.MemoriesDir+"/"):
		s.leave(f.Path, "a memory is called YYYYMMDDTHHMMSSsssZ-HEX.md")
	}
	return nil
}

func (s *survey) leave(path, why string) {
	s.Unread = append(s.Unread, AdoptedFile{path, why})
}

func (s *survey) lookAtMessage(f gitsync.TreeFile) error {
	data, err := f.Read()
	if err != nil {
		return err
	}
	if _, err := protocol.Decode(f.Message, data); err != nil {
		s.leave(f.Path, err.Error())
		return nil
	}
	s.Messages++
	s.channels[f.Message.Channel()] = true
	return nil
}

func (s *survey) lookAtBook(f gitsync.TreeFile, parse func([]byte) error) error {
	data, err := f.Read()
	if err != nil {
		return err
	}
	if err := errors.Join(books.TooLarge(data), parse(data)); err != nil {
		s.leave(f.Path, err.Error())
		return nil
	}
	switch {
	case books.IsHostFile(f.Path):
		s.Hosts = append(s.Hosts, f.Path)
		if h, err := protocol.ParseHostFile(data); err == nil {
			s.noteAlias(f.Path, h)
		}
	case strings.HasPrefix(f.Path, protocol.MemoriesDir+"/"):
		s.Memories++
	}
	if _, is := protocol.IsActorPath(f.Path); is {
		return s.noteProfile(f.Path, data)
	}
	return nil
}

// lookAtOlderHost notes whom a host file at its older place names. parley knows them only after
// they have written.
func (s *survey) lookAtOlderHost(f gitsync.TreeFile) error {
	data, err := f.Read()
	if err != nil {
		return err
	}
	h, err := protocol.ParseHostFile(data)
	if err != nil {
		s.leave(f.Path, err.Error())
		return nil
	}
	s.noteAlias(f.Path, h)
	why := "parley looks for hosts in " + protocol.HostsDir + "/"
	if len(h.Agents) > 0 {
		names := each.Of(h.Agents, func(a protocol.HostedAgent) string { return a.Name.String() })
		why += "; until they have written, parley send --anyway writes to " + strings.Join(names, ", ")
	}
	s.leave(f.Path, why)
	return nil
}

// noteAlias notes a host file that has the alias of this host, and is not called after it.
func (s *survey) noteAlias(file string, h protocol.HostState) {
	if h.Host == s.cfg.Alias && path.Base(file) != h.Host.String()+".md" {
		s.taken = file
	}
}

// noteProfile notes the name of a profile. Two profiles with the same name in a folder are
// both left out.
func (s *survey) noteProfile(file string, data []byte) error {
	a, err := protocol.ParseActor(data)
	if err != nil {
		return err
	}
	dir := path.Dir(file)
	if s.profiles[dir] == nil {
		s.profiles[dir] = map[string]string{}
	}
	if other, taken := s.profiles[dir][a.Name]; taken {
		s.leave(file, fmt.Sprintf("it is called %q, as is %s: an agent is given neither until one of them has another name, or was accepted", a.Name, other))
		return nil
	}
	s.profiles[dir][a.Name] = file
	return nil
}

// takeProfiles copies profiles from their older place to the one where parley looks.
func (s *survey) takeProfiles() error {
	for _, file := range s.older {
		data, _, err := s.tree.Read(file)
		if err != nil {
			return err
		}
		to := protocol.LocalActorsDir + "/" + path.Base(file)
		a, err := protocol.ParseActor(data)
		other := s.profiles[protocol.LocalActorsDir][a.Name]
		switch {
		case err != nil:
			s.leave(file, err.Error())
		case path.Dir(file)+"/" != olderActors:
			s.leave(file, "a profile lies directly in "+olderActors)
		case other != "":
			s.leave(file, fmt.Sprintf("%s is called %q too, and stays", other, a.Name))
		case s.there[to]:
			s.leave(file, to+" is there already, and stays")
		default:
			s.put(to, data, "the profile in "+file)
			if err := s.noteProfile(to, data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *survey) put(file string, data []byte, why string) {
	s.add[file] = data
	s.Add = append(s.Add, AdoptedFile{file, why})
	for at := file; at != "."; at = path.Dir(at) {
		s.there[at] = true
	}
}

func (s *survey) addMissing() error {
	if err := s.addIdentity(); err != nil {
		return err
	}
	files := books.FirstCommit(s.cfg)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		keep := path.Base(file) == ".gitkeep"
		switch {
		case s.there[file], keep && s.there[path.Dir(file)]:
		case keep:
			s.put(file, files[file], "a folder for what comes")
		case file == books.VersionFile:
			s.put(file, files[file], "the form of what parley writes, which others can read")
		case file == ".gitattributes":
			s.put(file, files[file], "git leaves the lines below data/ as they are")
		default:
			if a, err := protocol.ParseActor(files[file]); err == nil && s.profiles[path.Dir(file)][a.Name] != "" {
				continue
			}
			s.put(file, files[file], "comes with parley")
		}
	}
	return nil
}

// addIdentity makes sure that the record says whose it is, and which fleet's.
func (s *survey) addIdentity() error {
	id, there, err := books.ReadIdentity(s.tree.Read)
	if err != nil {
		return err
	}
	if !there {
		id := books.Identity{Name: s.Fleet.String(), Email: s.Fleet.String() + "@parley.local"}
		if older, ok, err := s.tree.Read(olderIdentity); err == nil && ok {
			if said, err := books.ParseIdentity(older); err == nil && said.Configured() {
				id = said
			}
		}
		s.put(books.IdentityFile, fmt.Appendf(nil, "---\nname: %s\nemail: %s\nfleet: %s\n---\n\nThis record belongs to the fleet %[3]s.\n",
			protocol.Quote(id.Name), protocol.Quote(id.Email), s.Fleet), "whose record this is: the fleet "+s.Fleet.String())
		return nil
	}
	switch {
	case !id.Configured():
		return control.Errorf(control.KindRefused, "edit it in a clone, push, and try again",
			"cannot adopt the record: name or email in its %s is still to be configured", books.IdentityFile)
	case id.Fleet != "":
		s.Fleet = protocol.Name(id.Fleet) // the name is checked together with the rest
	case !s.there[books.FleetFile]:
		s.put(books.FleetFile, fmt.Appendf(nil, "---\nfleet: %s\n---\n\nThe hosts of parley that share this record are the fleet %[1]s.\n", s.Fleet),
			"the name of the fleet, "+s.Fleet.String()+", which "+books.IdentityFile+" does not say")
	}
	return nil
}
