package service

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Login is a person as the system knows them.
type Login struct {
	Shell, Home, User string
	UID, GID          int // -1: whoever calls
}

// loginTime is how long the profile of a shell may take.
const loginTime = 10 * time.Second

// mark stands before the PATH, behind what profiles print.
const mark = "parley: the PATH is"

// Path is the PATH that a new terminal of the person has, by their login shell and its profile; "" if
// that does not say one.
func (l Login) Path(ctx context.Context) string {
	ctx, done := context.WithTimeout(ctx, loginTime)
	defer done()
	cmd := exec.CommandContext(ctx, l.Shell, "-l", "-i", "-c", "echo '"+mark+"'; printenv PATH")
	cmd.Dir = l.Home
	cmd.Env = []string{"HOME=" + l.Home, "USER=" + l.User, "LOGNAME=" + l.User, "SHELL=" + l.Shell, "TERM=dumb", "PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.SysProcAttr = apart(l)
	cmd.WaitDelay = time.Second // something that a profile left in the background holds the pipe
	said, _ := cmd.Output()     // a profile may fail at its end, and have said the PATH
	_, after, _ := strings.Cut(string(said), mark+"\n")
	path, _, _ := strings.Cut(after, "\n")
	return path
}

// Missing are the folders of a PATH that are there and that another PATH does not have.
func Missing(path, other string) (folders []string) {
	has := filepath.SplitList(other)
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.Contains(has, dir) && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// Supervised reports whether the manager of the system has started this process.
func Supervised(getenv func(string) string) bool {
	return getenv("SYSTEMD_EXEC_PID") == strconv.Itoa(os.Getpid()) || strings.HasPrefix(getenv("XPC_SERVICE_NAME"), Service{}.label())
}
