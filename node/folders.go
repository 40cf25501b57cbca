package node

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/protocol"
)

// mostFolders is how many folders that are no channels are warned of.
const mostFolders = 8

// checkFolders warns once of each folder below data/channels that is no channel, and of
// channels whose ids differ in case alone. The caller holds mu.
func (n *Node) checkFolders(names []string) {
	spelled := map[string]string{}
	for _, name := range names {
		if _, err := protocol.ParseChannelID(name); err != nil {
			n.warnOfFolder(name)
			continue
		}
		low := strings.ToLower(name)
		if other, twice := spelled[low]; twice && !n.warned["folders "+low] {
			n.warned["folders "+low] = true
			n.notice("%s/%s and %s/%s differ in case alone: they are two channels here, and one folder in a clone on macOS or Windows; move the messages of one to a new id",
				protocol.ChannelsDir, other, protocol.ChannelsDir, name)
		}
		spelled[low] = name
	}
}

// warnOfFolder says what to do with a folder of which nobody reads anything. The id is
// the same wherever it is said. The caller holds mu.
func (n *Node) warnOfFolder(name string) {
	about := "folder " + name
	if n.warned[about] || n.strays == mostFolders {
		return
	}
	n.warned[about] = true
	if n.strays++; n.strays == mostFolders {
		n.notice("more folders below %s are no channels: parley record verify lists what is in them", protocol.ChannelsDir)
		return
	}
	id := protocol.DeriveChannel(n.record.ID(), "@folder", name)
	quoted := strings.ReplaceAll(name, "'", `'\''`) // whoever may push has chosen it, and it will be put into a shell
	n.notice("%[1]s/%[2]s is no channel, so nobody reads what is in it: a channel's folder is called by a UUID; in a clone: git mv '%[1]s/%[3]s' %[1]s/%[4]s, "+
		"write the name into its CHANNEL.md, and push", protocol.ChannelsDir, name, quoted, id)
}

// checkFoldersOf does that for the folders of files that have changed.
func (n *Node) checkFoldersOf(paths []string) {
	var names []string
	for _, path := range paths {
		below, ok := strings.CutPrefix(path, protocol.ChannelsDir+"/")
		if name, _, folder := strings.Cut(below, "/"); ok && folder && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.checkFolders(names)
}
