package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Verify looks at every message of the record.
var Verify = NewQuestion[Verification](VerbSpec{
	Name: "verify", Access: Reads, Long: true,
	Doc: "Looks at every message of the record.",
})

// Verification is what was found by looking at every message of the record.
type Verification struct {
	Messages int       `json:"messages"` // messages and receipts that were looked at
	Wrong    int       `json:"wrong"`    // findings that break what the record promises
	Findings []Finding `json:"findings"` // by path, then those of other files
}

// VerifyProgress says how far the latest Verify has come.
var VerifyProgress = NewQuestion[Progress](VerbSpec{
	Name: "verify-progress", Access: Reads,
	Doc: "Says how far the `verify` has come that was asked for last.",
})

// Progress is how far a long task has come: Done of about Total.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"` // 0: nothing is under way
}

// Finding is something about a message, or about another file of the record, that an auditor should
// know.
type Finding struct {
	Path  protocol.Path `json:"path,omitzero"`  // of a message
	File  string        `json:"file,omitempty"` // of another file, from the top of the record
	Kind  FindingKind   `json:"kind"`           // what is wrong
	Wrong bool          `json:"wrong"`          // false: only worth knowing, such as a missing signature
	Text  string        `json:"text"`           // the same for people
}

// FindingKind is a stable word for what is wrong.
type FindingKind string

// What can be found. Unsigned, Future, Conflict, Stray and Mended are only worth knowing.
const (
	FindingUnreadable FindingKind = "unreadable" // it is no message, or not the file that it should be
	FindingRefused    FindingKind = "refused"    // its signature does not hold
	FindingTime       FindingKind = "time"       // its path and its timestamp state different times
	FindingDangling   FindingKind = "dangling"   // the message that it answers, or has read, is missing
	FindingChain      FindingKind = "chain"      // its host's chain has a hole or a fork before it
	FindingDamaged    FindingKind = "damaged"    // the repository holds it but cannot give it
	FindingUnsigned   FindingKind = "unsigned"   // nobody vouches for its author
	FindingFuture     FindingKind = "future"     // it is dated later than any clock can be
	FindingConflict   FindingKind = "conflict"   // it has lost its path to another file
	FindingStray      FindingKind = "stray"      // a file that nobody reads, in a folder for messages or memories
	FindingMended     FindingKind = "mended"     // this disk did not have it whole, and now does
)

// CountRecord counts what is in the record.
var CountRecord = NewQuestion[RecordStats](VerbSpec{
	Name: "record-stats", Access: Reads,
	Doc: "Counts what is in the record.",
})

// RecordStats counts what is in the record.
type RecordStats struct {
	ID         string      `json:"id"`             // hash of its first commit
	Tip        string      `json:"tip"`            // commit of main
	Messages   int         `json:"messages"`       // without receipts and book-keeping
	Receipts   int         `json:"receipts"`       // that messages were read
	HostWords  int         `json:"host_words"`     // book-keeping: what hosts say of themselves
	Unverified int         `json:"unverified"`     // messages without a valid signature
	Channels   int         `json:"channels"`       // channels that have something in them, or a name
	Memories   int         `json:"memories"`       // also those that others supersede
	First      time.Time   `json:"first,omitzero"` // timestamp of the first message in the order of the record, UTC
	Last       time.Time   `json:"last,omitzero"`  // timestamp of the last message, UTC
	Hosts      []HostStats `json:"hosts"`          // what each host wrote, by alias
	Packs      int         `json:"packs"`          // packs of git
	Disk       int64       `json:"disk"`           // bytes of record.git
	Journal    int64       `json:"journal"`        // bytes of the journal
}

// HostStats counts what one host wrote.
type HostStats struct {
	Alias    protocol.Name `json:"alias"`         // the host
	Messages int           `json:"messages"`      // without receipts and book-keeping
	Receipts int           `json:"receipts"`      // receipts that it signed
	Last     time.Time     `json:"last,omitzero"` // timestamp of the last thing that it wrote, of whatever kind, UTC
}

// Export writes all files of the record into a folder.
var Export = NewVerb[ExportRequest, Exported](VerbSpec{
	Name: "export", Access: Operates, Doing: "export the record", Long: true,
	Doc: "Writes all files of the record into a folder.",
})

// ExportRequest asks for all files of the record to be written into a folder, which must be empty
// or missing.
type ExportRequest struct {
	Dir string `json:"dir"` // absolute
}

// Exported is what was written.
type Exported struct {
	Dir     string `json:"dir"`      // the folder, absolute
	Files   int    `json:"files"`    // how many files
	Tip     string `json:"tip"`      // the commit of main from which they are
	LeftOut int    `json:"left_out"` // files that were left out, because their path leads out of the folder or into a .git
	// Lost are the files, and folders, that cannot be read. The others were written.
	Lost []LostFile `json:"lost"`
}

// LostFile is a file, or a folder, of the record that cannot be read.
type LostFile struct {
	Path string `json:"path"` // in the record; a folder ends in a slash
	Why  string `json:"why"`  // why it cannot be read
}

// Withhold keeps messages and files from the remote, which refuses them.
var Withhold = NewVerb[WithholdRequest, Withheld](VerbSpec{
	Name: "withhold", Access: Operates, Doing: "withhold what the remote refuses",
	Doc: "Keeps messages and files from the shared repository, which refuses what they say.",
})

// WithholdRequest asks for messages and files not to be pushed.
type WithholdRequest struct {
	Files []string `json:"files"` // messages, named as everywhere, or files from the top of the record
}

// Withheld is what is pushed no more.
type Withheld struct {
	Files []WithheldFile `json:"files"` // in the order in which they were named
}

// WithheldFile is a message or file that goes into no commit.
type WithheldFile struct {
	Path       protocol.Path `json:"path,omitzero"` // of a message
	File       string        `json:"file"`          // from the top of the record
	Kept       string        `json:"kept"`          // where a file that is no message is kept; "" for a message, which is read as before
	Everywhere bool          `json:"everywhere"`    // this host wrote it, and asks all hosts to withhold it
}

// Redact hides the text of a message or a memory on every host (R75).
var Redact = NewVerb[RedactRequest, Redacted](VerbSpec{
	Name: "redact", Access: Operates, Doing: "redact",
	Doc: "Hides the text of a message or a memory from all who look at it, on every host; git keeps it. For the human of the host that wrote it, or one with whom the record began.",
})

// RedactRequest asks for a text to be hidden. If it is hidden already, nothing is written.
type RedactRequest struct {
	ID     string `json:"id"` // of a message, or of a memory
	Reason string `json:"reason"`
	Hsig   string `json:"hsig,omitempty"` // the signature of the human's own key, base64url; needed if they have one
	Try    bool   `json:"try,omitempty"`  // nothing is done: the answer says what would be
}

// Redacted is a text that is hidden, and which hosts hide it.
type Redacted struct {
	File    string         `json:"file"`           // from the top of the record
	Decides string         `json:"decides"`        // what the human's own key signs
	By      string         `json:"by,omitempty"`   // the human who redacted it; absent: nobody has yet
	Host    protocol.Name  `json:"host,omitempty"` // of that human
	Time    time.Time      `json:"time,omitzero"`  // when
	Reason  string         `json:"reason"`         // which is shown in place of the text
	Path    protocol.Path  `json:"path,omitzero"`  // the message that says so; absent: nothing does yet
	Hosts   []RedactedHost `json:"hosts"`          // of the fleet, without those that are out
}

// RedactedHost is what is known of a host and a text that is redacted.
type RedactedHost struct {
	Host  protocol.Name `json:"host"`          // by its alias
	Hides bool          `json:"hides"`         // its node says that it hides the text
	Why   string        `json:"why,omitempty"` // why that is not known
}

// Admit has the node take in a commit of the remote that brings more than it would take in.
var Admit = NewVerb[AdmitRequest, None](VerbSpec{
	Name: "admit", Access: Operates, Doing: "let in what the remote holds", Long: true,
	Doc: "Takes in a commit of the shared repository that brings more without signatures than a node takes in by itself.",
})

// AdmitRequest names the commit to take in.
type AdmitRequest struct {
	Commit string `json:"commit"` // all of its 40 digits
}
