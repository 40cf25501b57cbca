package term

import "golang.org/x/sys/windows"

// waits reports whether something can be read at a terminal at once.
func waits(fd int) bool {
	var n uint32
	return windows.GetNumberOfConsoleInputEvents(windows.Handle(fd), &n) == nil && n > 0
}

// forget drops what can be read at a terminal at once.
func forget(fd int) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }

// interrupt would end a wait for a key. Here the wait ends with the next key.
type interrupt struct{}

func newInterrupt() (*interrupt, error) { return nil, nil }

func (*interrupt) raise() bool { return false }

func (*interrupt) wait(int) bool { return true }

func (*interrupt) close() {}
