package keeper

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Limits are what a command may use with all that comes of it. A zero is no limit.
//
// Files counts for each process. The others count for all of them together where they
// run in a control group that can be limited. Elsewhere Memory is the data of each
// process, CPU the time of each, and Processes are all processes and threads of the user.
type Limits struct {
	Nice      int           // how far it gives way to other programs: 1 to 19
	Memory    int           // bytes
	CPU       time.Duration // time of processors
	Files     int           // open files
	Processes int           // processes and threads at once
	NoNetwork bool          // it has no network, not even that of the machine with itself
}

// The names of limits, as in Ending.Limit.
const (
	LimitMemory = "memory"
	LimitCPU    = "cpu"
)

// String is the form that parseLimits reads.
func (l Limits) String() string {
	return fmt.Sprint(l.Nice, l.Memory, int64(l.CPU), l.Files, l.Processes, l.NoNetwork)
}

// parseLimits reads what String wrote; ok is false for anything else.
func parseLimits(text string) (l Limits, ok bool) {
	words := strings.Fields(text)
	const fields = 6
	if len(words) != fields {
		return l, false
	}
	var numbers [fields - 1]int
	for i := range numbers {
		n, err := strconv.Atoi(words[i])
		if err != nil || n < 0 {
			return l, false
		}
		numbers[i] = n
	}
	network, err := strconv.ParseBool(words[fields-1])
	return Limits{
		Nice: numbers[0], Memory: numbers[1], CPU: time.Duration(numbers[2]), Files: numbers[3], Processes: numbers[4], NoNetwork: network,
	}, err == nil
}
