//go:build !linux

package keeper

// Pool would be the keepers of one process.
type Pool struct{}

// Close has nothing to end.
func (*Pool) Close() {}
