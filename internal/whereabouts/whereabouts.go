// Package whereabouts tells a folder on one machine from its copies. A copy has the same files, but
// it is another folder, or is on another machine.
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

// Place says where a folder is. It stays the same if the folder, or one above it, is renamed.
type Place struct {
	// Machine tells the machine from others: a hash of the id that the system was given when it was
	// installed. It is "" if the system has no id, as in many containers.
	Machine string
	// Folder is the number of the folder on its disk.
	Folder uint64
	// Born is when the folder was made, as the disk says; zero if it does not say that.
	Born time.Time
}

// Of returns the place of a folder. The number of the disk is no part of it: the system gives new
// numbers to disks at each start, so the folder would seem to be another one.
func Of(dir string) (Place, error) {
	folder, born, err := folderOf(dir)
	if err != nil {
		return Place{}, fmt.Errorf("cannot tell where %s is: %w", dir, err)
	}
	return Place{Machine: hashed(machineID()), Folder: folder, Born: born.UTC()}, nil
}

// SameMachine reports whether both places may be on one machine.
func (p Place) SameMachine(q Place) bool {
	return p.Machine == q.Machine || p.Machine == "" || q.Machine == ""
}

// Same reports whether both places may be those of one folder: nothing that is known of both
// differs.
func (p Place) Same(q Place) bool {
	return p.SameMachine(q) && p.Folder == q.Folder && (p.Born.Equal(q.Born) || p.Born.IsZero() || q.Born.IsZero())
}

// hashed is what is kept of a machine's id. The id itself is meant to stay on the machine. The hash
// is the same for the same machine, and says nothing else about it.
func hashed(id string) string {
	id = strings.TrimSpace(id)
	if id == "" || id == "uninitialized" { // an image of a system that has not been started yet
		return ""
	}
	mac := hmac.New(sha256.New, []byte(id))
	mac.Write([]byte("parley home"))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Hostname is the name that this machine gives itself; "" if it has none.
func Hostname() string {
	name, _ := os.Hostname() // without a name, the error does not matter
	return name
}
