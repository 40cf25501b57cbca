package inquiry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/protocol"
)

// spool keeps what members of this host have found until it may be told. Nobody else sees it before
// all members have ended (R53). It survives a crash of the node.
type spool struct {
	dir string

	mu    sync.Mutex
	ended map[string]kept // guarded by mu, by file: results of runs that ended and could not be written
}

// kept is what the spool knows of one attempt of a member.
type kept struct {
	Outcome  string `json:"outcome,omitempty"` // as in protocol.InquirySignal; "" while it runs
	Exit     int    `json:"exit,omitempty"`
	Errors   string `json:"errors,omitempty"` // the last lines of what a run that failed wrote to stderr
	Result   string `json:"result,omitempty"`
	Grade    string `json:"grade"`
	Degraded string `json:"degraded,omitempty"`
}

func (s *spool) of(inquiry protocol.ChannelID) string { return filepath.Join(s.dir, inquiry.String()) }

// file is the path where an attempt is kept. The name of a perspective cannot be used as the name
// of a file.
func (s *spool) file(inquiry protocol.ChannelID, perspective string, attempt int) string {
	sum := sha256.Sum256([]byte(perspective))
	return filepath.Join(s.of(inquiry), fmt.Sprintf("%s-%d.json", hex.EncodeToString(sum[:8]), attempt))
}

func (s *spool) read(inquiry protocol.ChannelID, perspective string, attempt int) (k kept, ok bool, err error) {
	file := s.file(inquiry, perspective, attempt)
	s.mu.Lock()
	k, ok = s.ended[file]
	s.mu.Unlock()
	if ok {
		return k, true, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return k, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		return k, false, fmt.Errorf("cannot read what is kept of %q: %w", perspective, err)
	}
	return k, true, nil
}

// write keeps `k` so that it survives a power cut. If that fails, as on a full disk, the result of
// a run that has ended is kept in memory as long as the node runs. A member is run only once, and
// its work would be lost.
func (s *spool) write(inquiry protocol.ChannelID, perspective string, attempt int, k kept) error {
	file := s.file(inquiry, perspective, attempt)
	data, err := json.Marshal(k)
	if err == nil {
		err = durable.FoldersIn(filepath.Dir(filepath.Dir(s.of(inquiry))), s.of(inquiry), 0o700)
	}
	if err == nil {
		err = durable.WriteFile(file, data, 0o600)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ended, file)
	if err != nil {
		if k.Outcome != "" { // an attempt that has not begun may begin another time
			s.ended[file] = k
		}
		return fmt.Errorf("cannot keep what %q has found: %w", perspective, err)
	}
	return nil
}

func (s *spool) drop(inquiry protocol.ChannelID) error {
	s.mu.Lock()
	maps.DeleteFunc(s.ended, func(file string, _ kept) bool { return filepath.Dir(file) == s.of(inquiry) })
	s.mu.Unlock()
	return os.RemoveAll(s.of(inquiry))
}
