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

// look reads a process and the number of its parent. `ended` says that its first thread has ended,
// which usually means that all of it has.
func look(pid int) (at ID, parent int, ended bool, err error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ESRCH):
		return at, 0, false, ErrGone
	case err != nil: // such as too many open files
		return at, 0, false, fmt.Errorf("cannot look at process %d: %w", pid, err)
	}
	// The second field is the name of the program, in parentheses. It may contain anything.
	end := bytes.LastIndexByte(data, ')')
	fields := strings.Fields(string(data[end+1:]))
	const state, ppid, start = 0, 1, 19
	if end < 0 || len(fields) <= start {
		return at, 0, false, ErrGone
	}
	if parent, err = strconv.Atoi(fields[ppid]); err != nil {
		return at, 0, false, ErrGone
	}
	began, err := strconv.ParseUint(fields[start], 10, 64)
	if err != nil {
		return at, 0, false, ErrGone
	}
	return ID{PID: pid, Start: began}, parent, fields[state] == "Z" || fields[state] == "X", nil
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
		if _, parent, _, err := look(number); err == nil && parent == pid {
			all = append(all, number)
		}
	}
	return all
}
