//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// hits counts how often the point of the environment was reached.
var hits atomic.Int64

// Hit says that the program is at a point. It does not return if the environment wants the process
// to die there.
func Hit(p Point) {
	name, nth, _ := strings.Cut(os.Getenv(Variable), ":")
	if name != string(p) {
		return
	}
	if n, err := strconv.ParseInt(nth, 10, 64); err == nil && hits.Add(1) < n {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic("cannot die at " + name + ": " + err.Error())
	}
	select {} // waits until the system ends the process
}
