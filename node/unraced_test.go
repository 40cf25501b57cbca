//go:build !race

package node

// raced says that the race detector is on.
const raced = false
