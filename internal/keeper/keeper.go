// Package keeper runs one command beneath a small process, its keeper. The keeper knows everything
// that the command starts.
//
// A process can clear its environment, begin a session of its own, and let its parent end. Then
// nothing of that tells where it comes from. But on Linux, the orphans among all that a command
// starts become children of its keeper. So if somebody asks whether a process belongs to a command,
// they find the keeper among its ancestors. And at the end of the command, the keeper ends whatever
// is left of it.
//
// The keeper is the running program itself, started again with Verb as its first argument. A keeper
// ends everything when its starter dies, even by kill -9. A keeper for which nothing of a command
// is left can run the next one.
//
// If something ends the keeper itself, its orphans become free. Release reports that.
package keeper

import (
	"os"
	"strconv"
	"strings"
)

// Verb is the first argument of a keeper.
const Verb = "keep-run"

// Asked reports whether a program with these words (the first is its name) is to be a keeper.
func Asked(args []string) bool { return len(args) > 1 && args[1] == Verb }

// A process becomes a keeper before the rest of the program is initialized: that takes longer than
// most of what a small command does. Go initializes packages in the order of their paths, each
// after those that it imports. So this package imports the standard library and little else.
func init() {
	if Asked(os.Args) {
		os.Exit(play())
	}
}

// User is the user as whom a command runs.
type User struct {
	UID, GID uint32
	Groups   []uint32
}

// Ending is how a command ended.
type Ending struct {
	ExitCode int    // -1 if the command did not end by itself
	Signal   string // the signal that ended it; "" if none did
	Limit    string // the limit that ended it, such as LimitMemory; "" if no such limit is known
}

// asSelf stands for the user of the keeper.
const asSelf = "-"

// String is the form that parseUser reads.
func (u *User) String() string {
	if u == nil {
		return asSelf
	}
	parts := []string{strconv.FormatUint(uint64(u.UID), 10), strconv.FormatUint(uint64(u.GID), 10)}
	for _, g := range u.Groups {
		parts = append(parts, strconv.FormatUint(uint64(g), 10))
	}
	return strings.Join(parts, ":")
}

// parseUser reads what String wrote; ok is false for anything else.
func parseUser(text string) (u *User, ok bool) {
	if text == asSelf {
		return nil, true
	}
	var numbers []uint32
	for _, part := range strings.Split(text, ":") {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, uint32(n))
	}
	if len(numbers) < 2 {
		return nil, false
	}
	return &User{UID: numbers[0], GID: numbers[1], Groups: numbers[2:]}, true
}
