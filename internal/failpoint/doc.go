// Package failpoint names the moments at which a crash would hurt most, so that tests can make one
// happen exactly there.
//
// Hit does nothing and costs nothing in a normal program. If the program is built with the tag
// failpoint and the environment names the point, the process kills itself at that point, as kill -9
// would.
package failpoint

// Variable is the variable of the environment that names the point: as "point", or as "point:3" to
// die at the third hit.
const Variable = "PARLEY_FAILPOINT"

// Point is one such moment. Its name begins with the room in which it is.
type Point string

// The points of the journal.
const (
	JournalBegun     Point = "journal/begun"     // a new segment has its header, not yet synced
	JournalRolled    Point = "journal/rolled"    // the full segment is closed, the next one not begun
	JournalWritten   Point = "journal/written"   // entries are written, not yet synced
	JournalSynced    Point = "journal/synced"    // entries are synced, and nobody knows it yet
	JournalCompacted Point = "journal/compacted" // entries are stored again, their old segment is still there
	JournalRemoving  Point = "journal/removing"  // a segment without entries is about to go
)

// The points of files, packs and refs.
const (
	FileWritten  Point = "objects/file-written"  // a file is whole and synced beside its place
	FilePlaced   Point = "objects/file-placed"   // the file is in its place, the folder not yet synced
	PackPlacing  Point = "objects/pack-placing"  // one more of a pack's three files is in its place
	PackPlaced   Point = "objects/pack-placed"   // all three files are, the folder not yet synced
	PackSynced   Point = "objects/pack-synced"   // a pack is durable, and no ref names what it holds
	PackRemoving Point = "objects/pack-removing" // one of the three files of a replaced pack is gone
	PackUnkept   Point = "objects/pack-unkept"   // a full pack was given to the operator's gc
	PackJoined   Point = "objects/pack-joined"   // a joined pack is durable, and those that it replaces are still there
	PackReceived Point = "objects/pack-received" // a pack of the remote is whole beside its place
	PackTaken    Point = "objects/pack-taken"    // the pack is in its place without an index
	RefLocked    Point = "objects/ref-locked"    // git's lock of a ref is taken
	RefWritten   Point = "objects/ref-written"   // the lock holds the new value, synced
	RefMoved     Point = "objects/ref-moved"     // the ref has the new value, the folder not yet synced
)

// The points of the record.
const (
	Appended        Point = "gitsync/appended"         // messages are in the journal, and nobody was told
	CommitChosen    Point = "gitsync/commit-chosen"    // messages are about to be committed
	CommitInstalled Point = "gitsync/commit-installed" // a commit is in a pack, and main does not name it
	TipNoted        Point = "gitsync/tip-noted"        // it is noted where main will go, and main has not moved
	MainMoved       Point = "gitsync/main-moved"       // main names the commit, and the journal still holds its messages
	Conflicting     Point = "gitsync/conflicting"      // two contents of one path are being put in order
	United          Point = "gitsync/united"           // two tips are united, and nothing of that is written
	Fetching        Point = "gitsync/fetching"         // a fetch is about to begin
	Fetched         Point = "gitsync/fetched"          // the remote's tip is here, and main does not have it
	Pushing         Point = "gitsync/pushing"          // a push is about to begin
	PushCopied      Point = "gitsync/push-copied"      // the remote on this machine has the objects, and its main has not moved
	Pushed          Point = "gitsync/pushed"           // the remote's main has moved, and our ref of it has not
)

// The points of the node.
const (
	Stored    Point = "node/stored"    // a message is stored, and the bus does not know it
	Published Point = "node/published" // the bus has it, and its sender has no answer

	SeedsKept  Point = "node/seeds-kept"  // the next key of this host is on the disk, and nobody knows it
	KeyRotated Point = "node/key-rotated" // the record says that the key is this host's, and the home does not say so yet

	CacheWritten Point = "node/cache-written" // a new cache of the state is whole beside its place
	CachePlaced  Point = "node/cache-placed"  // the cache is in its place, and the old one is still there
)

// The points of the making of a home.
const (
	HomeAside    Point = "home/aside"    // the configuration that a home had is put aside, and its record is not
	HomeKeyed    Point = "home/keyed"    // the key is on the disk, and nobody else knows it
	Knocking     Point = "home/knocking" // who joins by a line shows the three words, and nobody has said yes
	LetIn        Point = "home/let-in"   // the yes has come, and nothing of the record
	RecordBegun  Point = "home/begun"    // the first commit is made, and about to be pushed
	RecordPushed Point = "home/pushed"   // the remote has the first commit, and the home does not know that
	RecordPlaced Point = "home/placed"   // the home has its record, and no config.yaml
	HomeMade     Point = "home/made"     // the home is one, and its host has not joined
	JoinStored   Point = "home/stored"   // the message by which the host joins is stored, and about to be pushed
	JoinPushed   Point = "home/joined"   // the remote has it
	RemoteUsed   Point = "home/remote"   // a remote has the record, and config.yaml does not name it
)

// All returns the points, in the order in which they stand above.
func All() []Point {
	return []Point{
		JournalBegun, JournalRolled, JournalWritten, JournalSynced, JournalCompacted, JournalRemoving,
		FileWritten, FilePlaced, PackPlacing, PackPlaced, PackSynced, PackRemoving, PackUnkept, PackJoined, PackReceived, PackTaken,
		RefLocked, RefWritten, RefMoved,
		Appended, CommitChosen, CommitInstalled, TipNoted, MainMoved, Conflicting, United,
		Fetching, Fetched, Pushing, PushCopied, Pushed,
		Stored, Published, SeedsKept, KeyRotated, CacheWritten, CachePlaced,
		HomeAside, HomeKeyed, Knocking, LetIn, RecordBegun, RecordPushed, RecordPlaced, HomeMade, JoinStored, JoinPushed, RemoteUsed,
	}
}
