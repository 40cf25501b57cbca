//go:build !race

package fleet

// raced says that the race detector looks on.
const raced = false
