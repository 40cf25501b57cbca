package gitsync

import (
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/protocol"
)

// Anybody who may push can bring a file of any size, in a push that is a thousand times smaller.
// Such a file must not keep a node from starting, taking in the remote or running its agents. It
// must not fill its memory either.

// blobs is where blobs are read: a store, or a reader of many objects.
type blobs interface {
	BlobUpTo(h objects.Hash, most int64) ([]byte, error)
}

// messageData is the content of a blob at the path of a message or of another file that parley
// knows. If it is larger than any of these can be, it is not read: what is returned is as for a blob
// that is too large to be held.
func messageData(store blobs, blob objects.Hash) ([]byte, error) {
	data, _, err := contentUpTo(store, blob, protocol.MaxFile)
	return data, err
}

// content is the content of a blob. If the blob is too large to be held, `large` is true and `data`
// are other bytes: too many for anything that parley reads, and different ones for each such blob.
func content(store blobs, blob objects.Hash) (data []byte, large bool, err error) {
	return contentUpTo(store, blob, pack.MaxObject)
}

func contentUpTo(store blobs, blob objects.Hash, most int64) (data []byte, large bool, err error) {
	data, err = store.BlobUpTo(blob, most)
	if tooLarge := new(objects.LargeError); errors.As(err, &tooLarge) {
		data = make([]byte, protocol.MaxFile+1)
		copy(data, fmt.Sprintf("instead of %d bytes of the git object %s\n", tooLarge.Size, blob))
		return data, true, nil
	}
	return data, false, err
}
