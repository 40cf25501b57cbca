package node

import (
	"context"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
)

// books takes in the files of the record that are no messages and that the fleet's rules
// know: host files, what channels are for, memories and actor profiles.
type books struct {
	cfg     configs.Config
	record  *gitsync.Record
	folded  folded.State
	log     zerolog.Logger
	notices *notices.Notices
	folders *folders
	halts   *halts

	renderOwn func() error // puts into this host's file what it says of itself
	nudge     func()       // has agents look whether they may be run
}

// read takes in all of them.
func (b *books) read() error {
	var paths []string
	for _, dir := range []string{protocol.HostsDir, protocol.MemoriesDir, protocol.LocalActorsDir, protocol.UpstreamActorsDir} {
		files, err := b.record.ListFiles(dir)
		if err != nil {
			return err
		}
		paths = append(paths, files...)
	}
	channels, err := b.record.ListFolders(protocol.ChannelsDir)
	if err != nil {
		return err
	}
	b.folders.check(channels)
	for _, id := range channels {
		if c, err := protocol.ParseChannelID(id); err == nil {
			paths = append(paths, protocol.ChannelFilePath(c))
		}
	}
	for _, path := range paths {
		if err := b.take(path); err != nil {
			return err
		}
	}
	b.checkScopes(paths)
	b.checkProfiles()
	return nil
}

// take takes in one file of the record as it stands in main, or that it is
// gone. A file that cannot be read counts as not there, and is warned about until it
// is mended.
func (b *books) take(path string) error {
	take := b.taker(path)
	if take == nil {
		return nil
	}
	data, ok, err := b.record.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read %s of the record: %w", path, err)
	}
	b.folded(func(s *fleet.State) {
		if err := take(s, data, ok); err != nil {
			b.notices.Wrong(path, "%s cannot be read: %v", path, err)
		} else {
			b.notices.Mended(path)
		}
	})
	return nil
}

// checkScopes warns once of memories whose scope is no channel.
func (b *books) checkScopes(paths []string) {
	for _, path := range paths {
		file, is := protocol.ParseMemoryPath(path)
		if !is {
			continue
		}
		problem := ""
		b.folded(func(s *fleet.State) { problem = s.ScopeProblem(file) })
		if problem != "" {
			b.notices.Once(path+problem, "%s: %s", path, problem)
		}
	}
}

func isHostFile(path string) bool {
	return strings.HasPrefix(path, protocol.HostsDir+"/") && strings.HasSuffix(path, ".md")
}

// taker is what takes in the file at path, nil where the rules know nothing of
// such a file. ok is false for a file that is gone.
func (b *books) taker(path string) func(s *fleet.State, data []byte, ok bool) error {
	if isHostFile(path) {
		return b.hostFile(path)
	}
	if c, is := protocol.ParseChannelFilePath(path); is {
		return func(s *fleet.State, data []byte, ok bool) error {
			s.DropChannelFile(c)
			return taken(data, ok, protocol.ParseChannelFile, func(f protocol.ChannelFile) { s.SetChannelFile(c, f) })
		}
	}
	if file, is := protocol.ParseMemoryPath(path); is {
		parse := func(data []byte) (protocol.Memory, error) { return protocol.ParseMemory(file, data) }
		return func(s *fleet.State, data []byte, ok bool) error {
			s.DropMemory(file)
			return taken(data, ok, parse, s.SetMemory)
		}
	}
	if _, is := protocol.IsActorPath(path); is {
		return func(s *fleet.State, data []byte, ok bool) error {
			s.DropActor(path)
			return taken(data, ok, protocol.ParseActor, func(a protocol.Actor) { s.SetActor(path, a) })
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

// hostFile takes in a host file. A key in one counts for nothing, nor does a command;
// where the file of a host that has joined states either, which its node never writes,
// the operator is warned.
func (b *books) hostFile(path string) func(s *fleet.State, data []byte, ok bool) error {
	return func(s *fleet.State, data []byte, ok bool) error {
		s.DropHostFile(path)
		var key, commands, parts string // what is wrong with it
		err := taken(data, ok, protocol.ParseHostFile, func(says protocol.HostState) {
			s.SetHostFile(path, says)
			if len(says.Unread) > 0 {
				parts = "cannot be read in part: that is left out, and the rest counts: " + unreadText(says.Unread)
			}
			h, joined := s.Host(says.Host)
			if !joined {
				return
			}
			// A key that the host had before is what its file says until the host renders it.
			if says.Key != "" && !s.KnowsKey(says.Host, says.Key) {
				key = fmt.Sprintf("holds another key than the record gives to %s: %s is ignored, %s counts", says.Host, says.Key, h.Key)
			}
			if agents := protocol.HostFileCommands(data); len(agents) > 0 {
				commands = fmt.Sprintf("states a command for %s: the node of %s has not written it, and no host runs it", strings.Join(agents, ", "), says.Host)
			}
		})
		b.notices.OfFile(path, "key", key)
		b.notices.OfFile(path, "commands", commands)
		b.notices.OfFile(path, "parts", parts)
		return err
	}
}

// changed is the record's news of files that are no messages.
func (b *books) changed(paths []string) {
	own := protocol.HostFilePath(b.cfg.Alias)
	for _, path := range paths {
		b.noteConflict(path)
		if err := b.take(path); err != nil {
			b.log.Error().Err(err).Msg("cannot take in a file that changed")
		}
		switch path {
		case own:
			if err := b.renderOwn(); err != nil {
				b.log.Warn().Err(err).Msg("cannot render this host's file")
			}
		case identityFile:
			b.warnOfIdentity()
		}
	}
	b.folders.checkOf(paths)
	b.checkScopes(paths)
	b.checkProfiles()
}

// warnOfIdentity says while the node runs what it would say at its next start, which
// would be the last.
func (b *books) warnOfIdentity() {
	err := checkIdentity(b.record, b.cfg)
	if err != nil {
		b.notices.Wrong(identityFile, "this node will not start again: %v", err)
	} else {
		b.notices.Mended(identityFile)
	}
}

// noteConflict tells of a file that two sides changed in the same place, where
// another host kept both versions, until the version that lost is taken away.
func (b *books) noteConflict(path string) {
	file, is := gitsync.ConflictOf(path)
	if !is {
		return
	}
	_, there, err := b.record.ReadFile(path)
	switch {
	case err != nil: // it is told of when it is looked at again
	case !there:
		b.notices.Forget(path)
	default:
		b.notices.Unless(path, "%s was changed in two places at once: one version stays, the other is kept as %s", file, path)
	}
}

const aboutProfiles = "actor profiles"

// checkProfiles halts the exec doors while two actor profiles have one name, and
// lets them go on when that is over (Crosstalk, "Managing actors").
func (b *books) checkProfiles() {
	var halted, was string
	b.folded(func(s *fleet.State) {
		if err := s.ProfileClash(); err != nil {
			halted = err.Error()
		}
		was = b.halts.clashes(halted)
	})
	switch {
	case halted != "" && halted != was:
		b.notices.Wrong(aboutProfiles, "no agent is run: %s; rename or remove one in a clone and push", halted)
	case halted == "" && was != "":
		b.notices.Mended(aboutProfiles)
		b.nudge()
	}
}

// write brings a file that is no message into a durable commit and takes it
// in.
func (b *books) write(ctx context.Context, path string, data []byte) error {
	if err := b.fits(path, data); err != nil {
		return err
	}
	if err := b.record.WriteFile(ctx, path, data); err != nil {
		return err
	}
	return b.take(path)
}

func (b *books) fits(path string, data []byte) error {
	if len(data) > b.cfg.MessageLimit {
		return control.Errorf(control.KindUsage, "write a shorter text, or raise message_limit in config.yaml on every host",
			"cannot write %s: it has %d bytes; the limit is %d", path, len(data), b.cfg.MessageLimit)
	}
	return nil
}
