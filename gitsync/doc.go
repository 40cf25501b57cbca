// Package gitsync keeps the messages of a fleet: first in a journal, then in a bare git repository
// (the record), then in the repository that the fleet shares. It knows paths and bytes; what a
// message says is others' business.
//
// # What is promised
//
// Durability. When [Record.Append] returns nil, all messages of that call are on disk, fsynced, and
// survive kill -9 and power loss; a crash keeps either all of them or none. When [Record.Append]
// returns an error, none of them is stored, except if the process also dies before its next Append
// succeeds: then a restart may find them.
//
// Order. One caller's messages stand in the journal in the order of its calls. Commits take them in
// that order. [Events.Arrived] reports what one fetch brought in the order of
// [protocol.Path.Compare], in batches.
//
// Loss. Nothing that was stored leaves the journal before its bytes are in a commit of local main
// and, where there is a shared repository, in a tip of it that this node fetched or pushed. Nothing
// is deleted from main: messages that somebody removes, or that a rewritten remote lacks, are put
// back and a warning is logged. Of two different contents of one path, one stays and the other is
// kept below data/conflicts.
//
// Repetition. A message is in main once however often it is appended. Events are about what
// happened since [Open]. They are not repeated, and an event that a crash prevented does not come
// later. After the next start, a node calls [Record.Walk] to learn what it missed. A message may be
// appended while a fetch brings it. Then Append succeeds and Arrived reports the message too: the
// receiver must ignore a second arrival.
//
// Blocking. Append waits for one fsync, which it shares with all concurrent callers. It never waits
// for commits or the network. Commits wait for no network. Callbacks of [Events] run one after the
// other, on a goroutine of [Record.Run] or in a call that waits until everything is told. A slow
// callback delays only later events and such calls.
//
// # How it works inside
//
// The journal is the package journal. Objects, packs and refs of the repository are the package
// objects. Every commit goes into one small rolling pack, and refs move under git's own lock files.
// So the git program can work on the same repository at any time. Fetch and push are the package
// carrier: the git program or, if that is not installed, our own code. After a fetch, main becomes
// the remote's tip plus what that tip lacks (reshape.go); the same code takes in what an operator
// commits to main by hand.
//
// Record is what callers see. It consists of parts. Each part is given what it needs:
//
//   - progress: how far messages have come, from the journal to the remote's main
//   - Reader: what is read of main and the journal
//   - mainline: who moves main, by commits and by taking in what others did to it
//   - sharer, with courier, jitter and contact: fetch and push, what is left to
//     other hosts, the pauses, and what is known of the remote
//   - disk, with surveyor: whether main can be read from this disk
//   - salvor, refiller, mender, lossBook: salvor brings back at the start what the disk has
//     lost, refiller while the node runs, mender single objects; lossBook notes what stays lost
//   - claims (claim.go): refs at the remote, each of which only one host can get. So it is
//     settled which host does what only one is to do
//   - refs: where main and the remote's are, and how they are put right
//   - updates: files that are no messages, on their way into a commit
//   - room: whether the disk takes what is stored; online: whether the network is used
//   - teller: calls the functions of Events
package gitsync
