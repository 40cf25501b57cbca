package protocol

// How large a message may be, in bytes. Other limits follow from these numbers: which values
// message_limit may have (configs), what the bus carries in one piece, how long a request to a node
// may be (node/control), and how much of standard input is read (cmd/parley).
const (
	// MaxFile bounds a message file: no bus carries more. It is the same for everybody, because
	// whether a file is a message must not depend on who reads the record.
	MaxFile = 1 << 20
	// MaxFrontmatter bounds the frontmatter of a file.
	MaxFrontmatter = 16 << 10

	// MessageLimit bounds the files that a host writes and takes from the bus, unless its setting
	// message_limit says otherwise.
	MessageLimit = 512 << 10
	// MinMessageLimit is the least that a host may set: a frontmatter and some text.
	MinMessageLimit = MaxFrontmatter + 4<<10
	// MaxMessageLimit is the most that a host may set: NATS systems count the headers too.
	MaxMessageLimit = MaxFile - 64<<10
)
