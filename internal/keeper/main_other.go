//go:build !linux

package keeper

// Main does nothing: only Linux gives a process the orphans among its descendants.
func Main() int { return 2 }
