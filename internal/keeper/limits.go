package keeper

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Limits are what a command and all that it starts may use. Zero means no limit.
//
// Files counts for each process. The other limits count for all processes of the command together,
// if it runs in a control group that can be limited. If it does not, Memory bounds the data of each
// process, CPU the time of each process, and Processes all processes and threads of the user.
type Limits struct {
	Nice      int           // how much it gives way to other programs: 1 to 19
	Memory    int           // bytes
	CPU       time.Duration // processor time
	Files     int           // open files
	Processes int           // processes and threads at once
	NoNetwork bool          // it has no network, not even the machine's connection with itself
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
