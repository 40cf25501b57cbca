package node

import (
	"fmt"
	"slices"
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
	n.checkProfiles()
	return nil
}

// readBook takes in one file of the record as it stands in main, or that it is
// gone. A file that cannot be read is warned about once, and counts as not
// there.
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
	if err := take(data, ok); err != nil && !n.warned[path+protocol.Hash(data)] {
		n.warned[path+protocol.Hash(data)] = true
		n.notice("%s cannot be read: %v", path, err)
	}
	return nil
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
		return taken(data, ok, protocol.ParseHostFile, func(says protocol.HostState) {
			n.state.SetHostFile(says)
			h, joined := n.state.Host(says.Host)
			if !joined {
				return
			}
			// A key that the host had before is what its file says until the host renders it.
			if says.Key != "" && !n.state.KnowsKey(says.Host, says.Key) {
				n.notice("%s holds another key than the record gives to %s: %s is ignored, %s counts", path, says.Host, says.Key, h.Key)
			}
			if agents := protocol.HostFileCommands(data); len(agents) > 0 {
				n.notice("%s states a command for %s: the node of %s has not written it, and no host runs it", path, strings.Join(agents, ", "), says.Host)
			}
		})
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
		if path != own {
			continue
		}
		if err := n.renderHostFile(n.hostState()); err != nil {
			n.log.Warn().Err(err).Msg("cannot render this host's file")
		}
	}
	n.checkProfiles()
}

// noteConflict tells of a file that two sides changed in the same place, where
// another host kept both versions.
func (n *Node) noteConflict(path string) {
	file, is := gitsync.ConflictOf(path)
	n.mu.Lock()
	defer n.mu.Unlock()
	known := slices.ContainsFunc(n.notices, func(told string) bool { return strings.Contains(told, path) })
	if is && !known {
		n.notice("%s was changed in two places at once: one version stays, the other is kept as %s", file, path)
	}
}

// checkProfiles halts the exec doors while two actor profiles have one name, and
// lets them go on when that is over (Crosstalk, "Managing actors").
func (n *Node) checkProfiles() {
	n.mu.Lock()
	defer n.mu.Unlock()
	halted := ""
	if err := n.state.ProfileClash(); err != nil {
		halted = err.Error()
	}
	switch {
	case halted != "" && halted != n.halted:
		n.notice("no agent is run: %s; rename or remove one in a clone and push", halted)
	case halted == "" && n.halted != "":
		n.log.Info().Msg("the actor profiles are in order again: agents are run")
		for _, w := range n.workers {
			w.nudge()
		}
	}
	n.halted = halted
}
