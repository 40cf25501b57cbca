package talk

import (
	"sync"
	"time"
)

// shelves are what the record holds in addition to messages and what this host may write: channels,
// memories, and the files that come with the program. They answer the verbs about
// these.
type shelves struct {
	*tools
	writing  sync.Mutex // held from the decision about a file until it is written; guards memoryAt
	memoryAt time.Time  // time of the last memory that was written here
}
