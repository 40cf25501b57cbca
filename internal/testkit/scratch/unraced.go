//go:build !race

package scratch

// Raced says that the race detector is on.
const Raced = false
