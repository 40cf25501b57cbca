package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

func look(pid int) (s seen, err error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ESRCH):
		return s, ErrGone
	case err != nil: // such as too many open files
		return s, fmt.Errorf("cannot look at process %d: %w", pid, err)
	}
	// The second field is the name of the program, in parentheses. It may contain anything.
	end := bytes.LastIndexByte(data, ')')
	fields := strings.Fields(string(data[end+1:]))
	const state, ppid, terminal, start = 0, 1, 4, 19
	if end < 0 || len(fields) <= start {
		return s, ErrGone
	}
	if s.parent, err = strconv.Atoi(fields[ppid]); err != nil {
		return s, ErrGone
	}
	if s.Start, err = strconv.ParseUint(fields[start], 10, 64); err != nil {
		return s, ErrGone
	}
	s.PID, s.ended, s.terminal = pid, fields[state] == "Z" || fields[state] == "X", fields[terminal] != "0"
	return s, nil
}

// Arguments are the words with which a process was started; nil if they cannot be seen.
func Arguments(pid int) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// All returns the numbers of all processes that can be seen.
func All() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []int
	for _, entry := range entries {
		if number, err := strconv.Atoi(entry.Name()); err == nil {
			all = append(all, number)
		}
	}
	return all
}

// Children returns the numbers of the processes whose parent is `pid`, including those that have
// ended and were not waited for.
func Children(pid int) []int {
	var all []int
	for _, number := range All() {
		if s, err := look(number); err == nil && s.parent == pid {
			all = append(all, number)
		}
	}
	return all
}
