package configs

import (
	"runtime"
	"testing"
)

// How many commands run at once follows the memory. It prevents: a machine with two processors and
// much memory has agents wait for each other although their commands only wait for a network.
func TestCommandsFollowMemory(t *testing.T) {
	for memory, want := range map[uint64]int{0: 8, 1 << 30: 8, 8 << 30: 16, 16 << 30: 32, 1 << 50: maxCommands} {
		if got := commandsIn(memory); got != want {
			t.Errorf("%d commands in %d bytes, want %d", got, memory, want)
		}
	}
	if got := machineMemory(); got < 64<<20 || got > 1<<50 {
		t.Errorf("%s tells %d bytes of memory", runtime.GOOS, got)
	}
	if got := (Config{MaxCommands: 3}).Commands(); got != 3 {
		t.Errorf("%d commands, and 3 are set", got)
	}
}
