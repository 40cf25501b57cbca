package books

import (
	"slices"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
)

// mostFolders is about how many folders that are no channels there are warnings.
const mostFolders = 8

// folders warns about what lies below data/channels and is no channel.
type folders struct {
	notices  *notices.Notices
	recordID string

	mu     sync.Mutex      // guards what follows
	strays map[string]bool // folders that are no channels, and about which there was a warning
}

// check warns once about each folder below data/channels that is no channel, and about channels
// whose ids differ only in case.
func (fs *folders) check(names []string) {
	spelled := map[string]string{}
	for _, name := range names {
		if _, err := protocol.ParseChannelID(name); err != nil {
			fs.warnOf(name)
			continue
		}
		low := strings.ToLower(name)
		if other, twice := spelled[low]; twice {
			fs.notices.Once("folders "+low, "%s/%s and %s/%s differ in case alone: they are two channels here, and one folder in a clone on macOS or Windows; move the messages of one to a new id",
				protocol.ChannelsDir, other, protocol.ChannelsDir, name)
		}
		spelled[low] = name
	}
}

// warnOf says what to do with a folder that nobody reads. The id that it proposes is always the
// same.
func (fs *folders) warnOf(name string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.strays[name] || len(fs.strays) == mostFolders {
		return
	}
	if fs.strays[name] = true; len(fs.strays) == mostFolders {
		fs.notices.Happened("more folders below %s are no channels: parley record verify lists what is in them", protocol.ChannelsDir)
		return
	}
	id := protocol.DeriveChannel(fs.recordID, "@folder", name)
	quoted := strings.ReplaceAll(name, "'", `'\''`) // anybody who may push has chosen the name, and it will be put into a shell
	fs.notices.Happened("%[1]s/%[2]s is no channel, so nobody reads what is in it: a channel's folder is called by a UUID; in a clone: git mv '%[1]s/%[3]s' %[1]s/%[4]s, "+
		"write the name into its CHANNEL.md, and push", protocol.ChannelsDir, name, quoted, id)
}

// checkOf does the same for the folders of files that have changed.
func (fs *folders) checkOf(paths []string) {
	var names []string
	for _, path := range paths {
		below, ok := strings.CutPrefix(path, protocol.ChannelsDir+"/")
		if name, _, folder := strings.Cut(below, "/"); ok && folder && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	fs.check(names)
}
