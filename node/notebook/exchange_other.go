//go:build !linux

package notebook

import "os"

func exchange(root *os.Root, half, name string) (displaced []byte, err error) {
	return renamed(root, half, name)
}

func renameNew(root *os.Root, from, to string) error { return unlessThere(root, from, to) }
