// Package books takes in the files of the record that are no messages: to whom the record belongs,
// what hosts and actors say of themselves, what channels are for, and memories.
package books

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/shortage"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
)

// Books takes in those files of the record that are no messages and that the fleet's rules know:
// host files, what channels are for, memories and actor profiles.
type Books struct {
	o       Options
	folders *folders
}

// Options say from what the books are taken in, and for whom. All are required.
type Options struct {
	Config  configs.Config
	Record  *gitsync.Record
	Folded  folded.State
	Log     zerolog.Logger
	Notices *notices.Notices

	// RenderOwn writes into this host's file what it says of itself.
	RenderOwn func() error
	// Lost is told of files that the disk has lost, and of which there is no copy.
	Lost func(paths []string)
}

// New makes Books that have taken in nothing yet.
func New(o Options) *Books {
	return &Books{o: o, folders: &folders{notices: o.Notices, recordID: o.Record.ID(), strays: map[string]bool{}}}
}

// Read takes in all the files of the record that the rules know.
func (b *Books) Read() error {
	var paths []string
	for _, dir := range []string{protocol.HostsDir, protocol.MemoriesDir, protocol.LocalActorsDir, protocol.UpstreamActorsDir} {
		files, err := b.o.Record.ListFiles(dir)
		if err != nil {
			return err
		}
		paths = append(paths, files...)
	}
	channels, err := b.o.Record.ListFolders(protocol.ChannelsDir)
	if err != nil {
		return err
	}
	b.folders.check(channels)
	for _, id := range channels {
		if c, err := protocol.ParseChannelID(id); err == nil {
			paths = append(paths, protocol.ChannelFilePath(c))
		}
	}
	var lost []string
	defer func() { b.lose(lost) }()
	for _, path := range paths {
		gone, err := b.take(path)
		if err != nil {
			return err
		}
		if gone {
			lost = append(lost, path)
		}
	}
	b.checkScopes(paths)
	return nil
}

// Take takes in one file of the record, as it stands in main or because it is gone. A file that
// cannot be read counts as not there. There is a warning about it until it is mended.
func (b *Books) Take(path string) error {
	lost, err := b.take(path)
	if lost {
		b.lose([]string{path})
	}
	return err
}

// lose tells of all files at once that were found lost, because each time all losses are noted.
func (b *Books) lose(paths []string) {
	if len(paths) > 0 {
		b.o.Lost(paths)
	}
}

// take is Take, but leaves it to its caller to tell of a file that is lost.
func (b *Books) take(path string) (lost bool, err error) {
	take := b.taker(path)
	if take == nil {
		return false, nil
	}
	data, ok, err := b.o.Record.ReadFile(path)
	if errors.Is(err, gitsync.ErrDamaged) { // status names it among what is lost
		b.o.Log.Error().Err(err).Msg("a file of the record is lost")
		lost, data, ok, err = true, nil, false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot read %s of the record: %w", path, err)
	}
	b.o.Folded(func(s *fleet.State) {
		if err := take(s, data, ok); err != nil {
			b.o.Notices.Wrong(path, "%s cannot be read: %v", path, err)
		} else {
			b.o.Notices.Mended(path)
		}
	})
	return lost, nil
}

// checkScopes warns once about memories whose scope is no channel.
func (b *Books) checkScopes(paths []string) {
	for _, path := range paths {
		file, is := protocol.ParseMemoryPath(path)
		if !is {
			continue
		}
		problem := ""
		b.o.Folded(func(s *fleet.State) { problem = s.Memories.ScopeProblem(file) })
		if problem != "" {
			b.o.Notices.Once(path+problem, "%s: %s", path, problem)
		}
	}
}

// IsHostFile reports whether a host may describe itself in the file at `path`.
func IsHostFile(path string) bool {
	return strings.HasPrefix(path, protocol.HostsDir+"/") && strings.HasSuffix(path, ".md")
}

// taker is the function that takes in the file at `path`. It is nil if the rules know no such file.
// `ok` is false for a file that is gone.
func (b *Books) taker(path string) func(s *fleet.State, data []byte, ok bool) error {
	if IsHostFile(path) {
		return b.hostFile(path)
	}
	if c, is := protocol.ParseChannelFilePath(path); is {
		return func(s *fleet.State, data []byte, ok bool) error {
			s.Channels.Drop(c)
			return taken(data, ok, protocol.ParseChannelFile, func(f protocol.ChannelFile) { s.Channels.Set(c, f) })
		}
	}
	if file, is := protocol.ParseMemoryPath(path); is {
		parse := func(data []byte) (protocol.Memory, error) { return protocol.ParseMemory(file, data) }
		return func(s *fleet.State, data []byte, ok bool) error {
			s.Memories.Drop(file)
			return taken(data, ok, parse, s.Memories.Set)
		}
	}
	if _, is := protocol.IsActorPath(path); is {
		return func(s *fleet.State, data []byte, ok bool) error {
			s.Profiles.Drop(path)
			return taken(data, ok, protocol.ParseActor, func(a protocol.Actor) { s.Profiles.Set(path, a) })
		}
	}
	return nil
}

// Parser is the function that reads the file at `path`. It is nil if the rules know no such file.
func Parser(path string) func(data []byte) error {
	if IsHostFile(path) {
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

// taken parses a file that is there, and calls `set` with what it says.
func taken[T any](data []byte, ok bool, parse func([]byte) (T, error), set func(T)) error {
	if !ok {
		return nil
	}
	if err := TooLarge(data); err != nil {
		return err
	}
	said, err := parse(data)
	if err == nil {
		set(said)
	}
	return err
}

// TooLarge returns an error if a file is larger than a file that the rules know can ever be.
func TooLarge(data []byte) error {
	if len(data) > protocol.MaxFile {
		return fmt.Errorf("it has more than %d bytes", protocol.MaxFile)
	}
	return nil
}

// hostFile takes in a host file. A key or a command in it counts for nothing. The node of a host
// that has joined never writes a wrong key or a command. So if there is one, the operator is
// warned.
func (b *Books) hostFile(path string) func(s *fleet.State, data []byte, ok bool) error {
	return func(s *fleet.State, data []byte, ok bool) error {
		s.People.DropHostFile(path)
		var key, commands, parts string // what is wrong with it
		err := taken(data, ok, protocol.ParseHostFile, func(says protocol.HostState) {
			s.People.SetHostFile(path, says)
			if len(says.Unread) > 0 {
				parts = "cannot be read in part: that is left out, and the rest counts: " + UnreadText(says.Unread)
			}
			h, joined := s.Keys().Host(says.Host)
			if !joined {
				return
			}
			// The file has a key that the host had before, until the host writes the file anew.
			if says.Key != "" && !s.Keys().KnowsKey(says.Host, says.Key) {
				key = fmt.Sprintf("holds another key than the record gives to %s: %s is ignored, %s counts", says.Host, says.Key, h.Key)
			}
			if agents := protocol.HostFileCommands(data); len(agents) > 0 {
				commands = fmt.Sprintf("states a command for %s: the node of %s has not written it, and no host runs it", strings.Join(agents, ", "), says.Host)
			}
		})
		b.o.Notices.OfFile(path, "key", key)
		b.o.Notices.OfFile(path, "commands", commands)
		b.o.Notices.OfFile(path, "parts", parts)
		return err
	}
}

// MakeAnew writes what the disk has lost and this host can make: the files with which a record
// begins. What a host says of itself is written at each start.
func (b *Books) MakeAnew() error {
	for path, data := range FirstCommit(b.o.Config) {
		if !b.o.Record.IsLost(path) {
			continue
		}
		b.o.Log.Warn().Str("file", path).Msg("a file of the record was lost and is made anew")
		if err := b.o.Record.PutFile(path, data); err != nil {
			return err
		}
	}
	return nil
}

// shortPause is after how long a file is taken in that could not be read because the system was
// short of something.
const shortPause = 2 * time.Second

// Changed is called with the files of the record that are no messages and that have changed.
func (b *Books) Changed(paths []string) {
	own := protocol.HostFilePath(b.o.Config.Alias)
	var lost []string
	for _, path := range paths {
		b.noteConflict(path)
		gone, err := b.take(path)
		if gone {
			lost = append(lost, path)
		}
		if err != nil {
			b.o.Log.Error().Err(err).Msg("cannot take in a file that changed")
		}
		if shortage.Is(err) {
			time.AfterFunc(shortPause, func() { b.Changed([]string{path}) })
		}
		if path == own {
			if err := b.o.RenderOwn(); err != nil {
				b.o.Log.Warn().Err(err).Msg("cannot render this host's file")
			}
		}
	}
	b.lose(lost)
	b.folders.checkOf(paths)
	b.checkScopes(paths)
}

// noteConflict tells of a file that two sides have changed in the same place, if another host has
// kept both versions. It does so until the version that lost is removed.
func (b *Books) noteConflict(path string) {
	file, is := gitsync.ConflictOf(path)
	if !is {
		return
	}
	_, there, err := b.o.Record.ReadFile(path)
	switch {
	case err != nil: // it is told when somebody looks at the file again
	case !there:
		b.o.Notices.Forget(path)
	default:
		b.o.Notices.Unless(path, "%s was changed in two places at once: one version stays, the other is kept as %s", file, path)
	}
}

// Write puts a file that is no message into a durable commit, and takes it in.
func (b *Books) Write(ctx context.Context, path string, data []byte) error {
	if err := b.Fits(path, data); err != nil {
		return err
	}
	if err := b.o.Record.WriteFile(ctx, path, data); err != nil {
		return err
	}
	return b.Take(path)
}

// Fits returns an error if a file is larger than a file that is written here may be.
func (b *Books) Fits(path string, data []byte) error {
	if len(data) > b.o.Config.MessageLimit {
		return control.Errorf(control.KindUsage, "write a shorter text, or raise message_limit in config.yaml on every host",
			"cannot write %s: it has %d bytes; the limit is %d", path, len(data), b.o.Config.MessageLimit)
	}
	return nil
}
