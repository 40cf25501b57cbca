package node

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

// readBooks takes in the files of the record that are no messages and that the
// fleet's rules know: host files, what channels are for, memories and actor
// profiles.
func (n *Node) readBooks() error {
	var paths []string
	for _, dir := range []string{protocol.HostsDir, protocol.MemoriesDir, protocol.LocalActorsDir, protocol.UpstreamActorsDir} {
		files, err := n.record.ListFiles(dir)
		if err != nil {
			return err
		}
		paths = append(paths, files...)
	}
	channels, err := n.record.ListFolders(protocol.ChannelsDir)
	if err != nil {
		return err
	}
	n.folders.check(channels)
	for _, id := range channels {
		if c, err := protocol.ParseChannelID(id); err == nil {
			paths = append(paths, protocol.ChannelFilePath(c))
		}
	}
	for _, path := range paths {
		if err := n.readBook(path); err != nil {
			return err
		}
	}
	n.checkScopes(paths)
	n.checkProfiles()
	return nil
}

// readBook takes in one file of the record as it stands in main, or that it is
// gone. A file that cannot be read counts as not there, and is warned about until it
// is mended.
func (n *Node) readBook(path string) error {
	take := n.taker(path)
	if take == nil {
		return nil
	}
	data, ok, err := n.record.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read %s of the record: %w", path, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := take(data, ok); err != nil {
		n.notices.wrong(path, "%s cannot be read: %v", path, err)
	} else {
		n.notices.mended(path)
	}
	return nil
}

// checkScopes warns once of memories whose scope is no channel.
func (n *Node) checkScopes(paths []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, path := range paths {
		file, is := protocol.ParseMemoryPath(path)
		if !is {
			continue
		}
		if problem := n.state.ScopeProblem(file); problem != "" {
			n.notices.once(path+problem, "%s: %s", path, problem)
		}
	}
}

func isHostFile(path string) bool {
	return strings.HasPrefix(path, protocol.HostsDir+"/") && strings.HasSuffix(path, ".md")
}

// taker is what takes in the file at path, nil where the rules know nothing of
// such a file. It is called with mu held; ok is false for a file that is gone.
func (n *Node) taker(path string) func(data []byte, ok bool) error {
	if isHostFile(path) {
		return n.takeHostFile(path)
	}
	if c, is := protocol.ParseChannelFilePath(path); is {
		return func(data []byte, ok bool) error {
			n.state.DropChannelFile(c)
			return taken(data, ok, protocol.ParseChannelFile, func(f protocol.ChannelFile) { n.state.SetChannelFile(c, f) })
		}
	}
	if file, is := protocol.ParseMemoryPath(path); is {
		parse := func(data []byte) (protocol.Memory, error) { return protocol.ParseMemory(file, data) }
		return func(data []byte, ok bool) error {
			n.state.DropMemory(file)
			return taken(data, ok, parse, n.state.SetMemory)
		}
	}
	if _, is := protocol.IsActorPath(path); is {
		return func(data []byte, ok bool) error {
			n.state.DropActor(path)
			return taken(data, ok, protocol.ParseActor, func(a protocol.Actor) { n.state.SetActor(path, a) })
		}
	}
	return nil
}

// bookParser is what reads the file at path, nil where the rules know nothing of
// such a file.
func bookParser(path string) func(data []byte) error {
	if isHostFile(path) {
		return func(data []byte) error { return second(protocol.ParseHostFile(data)) }
	}
	if _, is := protocol.ParseChannelFilePath(path); is {
		return func(data []byte) error { return second(protocol.ParseChannelFile(data)) }
	}
	if file, is := protocol.ParseMemoryPath(path); is {
		return func(data []byte) error { return second(protocol.ParseMemory(file, data)) }
	}
	if _, is := protocol.IsActorPath(path); is {
		return func(data []byte) error { return second(protocol.ParseActor(data)) }
	}
	return nil
}

func second[T any](_ T, err error) error { return err }

// taken parses a file that is there and hands on what it says.
func taken[T any](data []byte, ok bool, parse func([]byte) (T, error), set func(T)) error {
	if !ok {
		return nil
	}
	if err := tooLarge(data); err != nil {
		return err
	}
	said, err := parse(data)
	if err == nil {
		set(said)
	}
	return err
}

// tooLarge says that a file is larger than those that the rules know ever are.
func tooLarge(data []byte) error {
	if len(data) > protocol.MaxFile {
		return fmt.Errorf("it has more than %d bytes", protocol.MaxFile)
	}
	return nil
}

// takeHostFile takes in a host file. A key in one counts for nothing, nor does a command;
// where the file of a host that has joined states either, which its node never writes,
// the operator is warned.
func (n *Node) takeHostFile(path string) func(data []byte, ok bool) error {
	return func(data []byte, ok bool) error {
		n.state.DropHostFile(path)
		var key, commands, parts string // what is wrong with it
		err := taken(data, ok, protocol.ParseHostFile, func(says protocol.HostState) {
			n.state.SetHostFile(path, says)
			if len(says.Unread) > 0 {
				parts = "cannot be read in part: that is left out, and the rest counts: " + unreadText(says.Unread)
			}
			h, joined := n.state.Host(says.Host)
			if !joined {
				return
			}
			// A key that the host had before is what its file says until the host renders it.
			if says.Key != "" && !n.state.KnowsKey(says.Host, says.Key) {
				key = fmt.Sprintf("holds another key than the record gives to %s: %s is ignored, %s counts", says.Host, says.Key, h.Key)
			}
			if agents := protocol.HostFileCommands(data); len(agents) > 0 {
				commands = fmt.Sprintf("states a command for %s: the node of %s has not written it, and no host runs it", strings.Join(agents, ", "), says.Host)
			}
		})
		n.notices.ofFile(path, "key", key)
		n.notices.ofFile(path, "commands", commands)
		n.notices.ofFile(path, "parts", parts)
		return err
	}
}

// filesChanged is the record's news of files that are no messages.
func (n *Node) filesChanged(paths []string) {
	own := protocol.HostFilePath(n.cfg.Alias)
	for _, path := range paths {
		n.noteConflict(path)
		if err := n.readBook(path); err != nil {
			n.log.Error().Err(err).Msg("cannot take in a file that changed")
		}
		switch path {
		case own:
			if err := n.renderHostFile(); err != nil {
				n.log.Warn().Err(err).Msg("cannot render this host's file")
			}
		case identityFile:
			n.warnOfIdentity()
		}
	}
	n.folders.checkOf(paths)
	n.checkScopes(paths)
	n.checkProfiles()
}

// warnOfIdentity says while the node runs what it would say at its next start, which
// would be the last.
func (n *Node) warnOfIdentity() {
	err := checkIdentity(n.record, n.cfg)
	if err != nil {
		n.notices.wrong(identityFile, "this node will not start again: %v", err)
	} else {
		n.notices.mended(identityFile)
	}
}

// noteConflict tells of a file that two sides changed in the same place, where
// another host kept both versions, until the version that lost is taken away.
func (n *Node) noteConflict(path string) {
	file, is := gitsync.ConflictOf(path)
	if !is {
		return
	}
	_, there, err := n.record.ReadFile(path)
	switch {
	case err != nil: // it is told of when it is looked at again
	case !there:
		n.notices.forget(path)
	default:
		n.notices.unless(path, "%s was changed in two places at once: one version stays, the other is kept as %s", file, path)
	}
}

const aboutProfiles = "actor profiles"

// checkProfiles halts the exec doors while two actor profiles have one name, and
// lets them go on when that is over (Crosstalk, "Managing actors").
func (n *Node) checkProfiles() {
	n.mu.Lock()
	defer n.mu.Unlock()
	halted := ""
	if err := n.state.ProfileClash(); err != nil {
		halted = err.Error()
	}
	was := n.halts.clashes(halted)
	switch {
	case halted != "" && halted != was:
		n.notices.wrong(aboutProfiles, "no agent is run: %s; rename or remove one in a clone and push", halted)
	case halted == "" && was != "":
		n.notices.mended(aboutProfiles)
		for _, w := range n.workers {
			w.nudge()
		}
	}
}
