package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
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
	s.PID, s.ended = pid, fields[state] == "Z" || fields[state] == "X"
	if s.terminal, err = strconv.Atoi(fields[terminal]); err != nil {
		return s, ErrGone
	}
	return s, nil
}

// file reads a file of a process. For a file without a size os.ReadFile begins with little room, and
// asks the system again and again, which looks into the memory of the process each time. A node looks
// at all processes when it starts.
func file(pid int, name string) ([]byte, error) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	room := bytes.NewBuffer(make([]byte, 0, 8<<10))
	_, err = room.ReadFrom(f)
	return room.Bytes(), err
}

// Arguments are the words with which a process was started; nil if they cannot be seen.
func Arguments(pid int) []string {
	data, err := file(pid, "cmdline")
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// Executable is the file of the program that runs in a process; "" if that cannot be seen.
func Executable(pid int) string {
	file, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	return file
}

// Folder is the folder in which a process works; "" if that cannot be seen.
func Folder(pid int) string {
	dir, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	return dir
}

// Feeds reports whether a process writes what another one reads as its standard input, by a pipe.
func Feeds(from, to ID) bool {
	pipe, err := os.Readlink("/proc/" + strconv.Itoa(to.PID) + "/fd/0")
	if err != nil || !strings.HasPrefix(pipe, "pipe:") {
		return false
	}
	dir := "/proc/" + strconv.Itoa(from.PID) + "/fd/"
	open, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, fd := range open {
		if link, err := os.Readlink(dir + fd.Name()); err != nil || link != pipe {
			continue
		}
		if info, err := os.Lstat(dir + fd.Name()); err == nil && info.Mode().Perm()&0o200 != 0 { // else it reads there itself
			return from.Alive() && to.Alive()
		}
	}
	return false
}

// Own reports whether a process belongs to the user of this one.
func Own(pid int) bool {
	info, err := os.Stat("/proc/" + strconv.Itoa(pid))
	if err != nil {
		return false
	}
	about, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(about.Uid) == os.Getuid()
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

// Now is the moment at which a process begins that is started now, as ID has it.
func Now() uint64 {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &at); err != nil {
		return 0
	}
	const ticks = 100 // of the system in a second, to programs
	return uint64(at.Sec)*ticks + uint64(at.Nsec)*ticks/1e9
}

// Listening is the process that listens at a TCP port of this machine, as far as this user may see it;
// 0 if it is not known.
func Listening(port uint16) int {
	var sockets []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		lines, _ := os.ReadFile(table)
		for line := range strings.Lines(string(lines)) {
			const local, state, inode, listens = 1, 3, 9, "0A"
			f := strings.Fields(line)
			if len(f) > inode && f[state] == listens && strings.HasSuffix(f[local], fmt.Sprintf(":%04X", port)) {
				sockets = append(sockets, "socket:["+f[inode]+"]")
			}
		}
	}
	for _, pid := range All() {
		dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
		open, _ := os.ReadDir(dir)
		for _, fd := range open {
			if link, err := os.Readlink(dir + fd.Name()); err == nil && slices.Contains(sockets, link) {
				return pid
			}
		}
	}
	return 0
}
