//go:build unix

package service

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// ownerID is the number of the user to whom a folder belongs.
func ownerID(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("the system does not say it")
	}
	return strconv.Itoa(int(stat.Uid)), nil
}
