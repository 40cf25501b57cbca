//go:build !linux

package keeper

// play does nothing: only Linux gives a process the orphans among its descendants.
func play() int { return 2 }
