package gitsync

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/protocol"
)

// Anybody who may push can bring a file of any size, in a push that is a thousand times smaller.
// Such a file must not keep a node from starting, taking in the remote or running its agents. It
// must not fill its memory either.

// blobs is where blobs are read: a store, or a reader of many objects.
type blobs interface {
	Blob(objects.Hash) ([]byte, error)
}

// messageData is the content of a blob at the path of a message. If it is too long for a message,
// only so much is returned that this can be seen.
func messageData(store blobs, blob objects.Hash) ([]byte, error) {
	data, _, err := content(store, blob)
	if len(data) > protocol.MaxFile+1 {
		data = bytes.Clone(data[:protocol.MaxFile+1])
	}
	return data, err
}

// content is the content of a blob. If the blob is too large to be held, `large` is true and `data`
// are other bytes: too many for anything that parley reads, and different ones for each such blob.
func content(store blobs, blob objects.Hash) (data []byte, large bool, err error) {
	data, err = store.Blob(blob)
	if tooLarge := new(objects.LargeError); errors.As(err, &tooLarge) {
		data = make([]byte, protocol.MaxFile+1)
		copy(data, fmt.Sprintf("instead of %d bytes of the git object %s\n", tooLarge.Size, blob))
		return data, true, nil
	}
	return data, false, err
}
