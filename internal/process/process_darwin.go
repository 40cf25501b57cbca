package process

import (
	"encoding/binary"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// zombie is the state of a process that has ended (SZOMB).
const zombie = 5

// noTerminal is the number of the terminal of a process without one (NODEV).
const noTerminal = -1

func look(pid int) (s seen, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return s, ErrGone
	}
	began, terminal := info.Proc.P_starttime, int(info.Eproc.Tdev)
	if terminal == noTerminal {
		terminal = 0
	}
	return seen{
		ID: ID{PID: pid, Start: uint64(began.Sec)*1e6 + uint64(began.Usec)}, parent: int(info.Eproc.Ppid),
		ended: info.Proc.P_stat == zombie, terminal: terminal,
	}, nil
}

// Arguments are the words with which a process was started; nil if they cannot be seen.
func Arguments(pid int) []string {
	_, argv, _ := started(pid)
	return argv
}

// Executable is the file of the program that runs in a process; "" if that cannot be seen.
func Executable(pid int) string {
	file, _, _ := started(pid)
	return file
}

// Environment returns a variable of the environment with which a process began its program. `ok` is
// false if the process had none of that name, or if that cannot be seen.
func Environment(pid int, name string) (value string, ok bool) {
	_, _, environment := started(pid)
	for _, one := range environment {
		if value, ok := strings.CutPrefix(one, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// Folder is the folder in which a process works. It cannot be seen on this system.
func Folder(int) string { return "" }

// Listening is not known here.
func Listening(uint16) int { return 0 }

// Feeds reports nothing: who writes into a pipe cannot be seen on this system.
func Feeds(ID, ID) bool { return false }

// Own reports whether a process belongs to the user of this one.
func Own(pid int) bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && int(info.Proc.P_pid) == pid && int(info.Eproc.Ucred.Uid) == os.Getuid()
}

// started reads with which program, words and environment a process was started: the number of
// words, the path of the program, zeros, and the texts, each ended by a zero (KERN_PROCARGS2 of
// sysctl).
func started(pid int) (file string, argv, environment []string) {
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	const head = 4
	if err != nil || len(data) < head {
		return "", nil, nil
	}
	count := int(binary.NativeEndian.Uint32(data))
	file, rest, _ := strings.Cut(string(data[head:]), "\x00")
	texts := strings.Split(strings.TrimLeft(rest, "\x00"), "\x00")
	count = min(max(count, 0), len(texts))
	return file, texts[:count], texts[count:]
}

// Now is the moment at which a process begins that is started now, as ID has it.
func Now() uint64 { return uint64(time.Now().UnixMicro()) }
