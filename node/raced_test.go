//go:build race

package node

// raced says that the race detector looks on.
const raced = true
