//go:build !linux

package keeper

// play does nothing: only Linux makes a process the parent of the orphans among its descendants.
func play() int { return 2 }
