//go:build unix

package notebook

import "syscall"

func fifo(file string) error { return syscall.Mkfifo(file, 0o644) }
