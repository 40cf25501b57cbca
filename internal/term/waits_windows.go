package term

import "golang.org/x/sys/windows"

// waits reports whether something can be read at a terminal at once.
func waits(fd int) bool {
	var n uint32
	return windows.GetNumberOfConsoleInputEvents(windows.Handle(fd), &n) == nil && n > 0
}
