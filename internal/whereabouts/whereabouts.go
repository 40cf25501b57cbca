// Package whereabouts tells a folder on one machine from its copies: a copy has the same
// files, but it is another folder, or lies on another machine.
package whereabouts

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"
)

// Place is where a folder is. Renaming the folder, or one above it, changes nothing of it.
type Place struct {
	// Machine tells the machine from others, by a hash of the id that the system was
	// given when it was installed; "" where it has none, as in many containers.
	Machine string
	// Folder is the number that the folder has on its disk.
	Folder uint64
	// Born is when the disk says that the folder was made; zero where it does not say.
	Born time.Time
}

// Of is the place of a folder. The number of the disk itself is no part of it: the
// system gives those anew at each start, so that a folder would seem to be another one.
func Of(dir string) (Place, error) {
	folder, born, err := folderOf(dir)
	if err != nil {
		return Place{}, fmt.Errorf("cannot tell where %s is: %w", dir, err)
	}
	return Place{Machine: hashed(machineID()), Folder: folder, Born: born.UTC()}, nil
}

// SameMachine reports whether both may be on one machine.
func (p Place) SameMachine(q Place) bool {
	return p.Machine == q.Machine || p.Machine == "" || q.Machine == ""
}

// Same reports whether both may be one folder: nothing that is known of both differs.
func (p Place) Same(q Place) bool {
	return p.SameMachine(q) && p.Folder == q.Folder && (p.Born.Equal(q.Born) || p.Born.IsZero() || q.Born.IsZero())
}

// hashed is what is kept of a machine's id, which is meant to stay on the machine: it
// says the same of the same machine and nothing else of it.
func hashed(id string) string {
	id = strings.TrimSpace(id)
	if id == "" || id == "uninitialized" { // an image of a system that has not been started yet
		return ""
	}
	mac := hmac.New(sha256.New, []byte(id))
	mac.Write([]byte("parley home"))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Hostname is what this machine calls itself, "" where it has no name.
func Hostname() string {
	name, _ := os.Hostname() // only what it says when it says something matters
	return name
}
