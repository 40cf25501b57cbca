package protocol

// How large a message may be, in bytes. Other limits follow from these.
// They say which values message_limit may have (configs), and what the bus carries in
// one piece. They say how long a request to a node may be (node/control), and what is
// read of standard input (cmd/parley).
const (
	// MaxFile bounds a message file: no bus carries more. It is the same for everybody,
	// because what is a message must not depend on who reads the record.
	MaxFile = 1 << 20
	// MaxFrontmatter bounds the frontmatter of a file.
	MaxFrontmatter = 16 << 10

	// MessageLimit bounds the files that a host writes and takes from the bus, where its
	// setting message_limit says nothing else.
	MessageLimit = 512 << 10
	// MinMessageLimit is the least that a host may set: a frontmatter and some text.
	MinMessageLimit = MaxFrontmatter + 4<<10
	// MaxMessageLimit is the most: systems of NATS count the headers beside the file.
	MaxMessageLimit = MaxFile - 64<<10
)
