package protocol

import (
	"errors"
	"fmt"
)

// FounderPath is the path of the file in the first commit of a record that says who began the
// record.
const FounderPath = "local/FOUNDER.md"

const founderText = `This host began the record. The file counts as it stands in the record's first
commit, whose hash is the record's id; what later commits make of it counts for
nothing. The humans may have keys of hosts revoked through this host.`

// FormatFounder writes the file at FounderPath: the host that begins a record, its
// key, and the humans who may have keys revoked.
func FormatFounder(h HostState) ([]byte, error) {
	root, _ := hostFileParts(nil)
	set(root, "alias", scalar(h.Host.String()))
	set(root, "key", scalar(h.Key))
	set(root, "humans", names(h.Humans))
	return encodeFile(root, founderText)
}

// ParseFounder reads a file that FormatFounder wrote. Fields that it does not know
// are passed over.
func ParseFounder(data []byte) (HostState, error) {
	h, err := ParseHostFile(data)
	if err != nil {
		return HostState{}, fmt.Errorf("%s: %w", FounderPath, err)
	}
	if err := CheckKey(h.Key); err != nil {
		return HostState{}, fmt.Errorf("%s: %w", FounderPath, err)
	}
	if len(h.Humans) == 0 {
		return HostState{}, errors.New(FounderPath + ": it names no human")
	}
	return HostState{Host: h.Host, Key: h.Key, Humans: h.Humans}, nil
}
