package process

// look sees no process. On this system, a socket does not say which process is at its other end, so
// nobody is looked for.
func look(int) (seen, error) { return seen{}, ErrGone }

// exists returns false: it sees no process either.
func exists(int) bool { return false }

// Arguments tells nothing on this system.
func Arguments(int) []string { return nil }

// Executable tells nothing on this system.
func Executable(int) string { return "" }

// Folder tells nothing on this system.
func Folder(int) string { return "" }

// Listening is 0: processes cannot be seen.
func Listening(uint16) int { return 0 }

// Feeds reports nothing: processes cannot be seen.
func Feeds(ID, ID) bool { return false }

// Own is false: this system shows no process.
func Own(int) bool { return false }

// Environment reports false: the environment of another process cannot be seen here.
func Environment(int, string) (value string, ok bool) { return "", false }

// Now is 0: the system tells nothing of processes here.
func Now() uint64 { return 0 }
