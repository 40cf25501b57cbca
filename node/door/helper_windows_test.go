package door

import "os/exec"

func playUnix(string) (code int, ok bool) { return 0, false }

func inOwnSession(*exec.Cmd, string) {}
