package process

import "os"

// peerOf tells nothing. The socket lies below the user's profile, which is closed to others, and
// the system does not say which process has opened it.
func peerOf(int) (*Peer, error) { return &Peer{UID: os.Getuid(), Hidden: true}, nil }

func (p *Peer) running() bool { return false }
