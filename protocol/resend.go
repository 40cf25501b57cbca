package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// AskResend is the question by which a node asks another one for messages that it
// missed (DESIGN section 7).
const AskResend Name = "resend"

// MaxResent is the most messages that one answer to AskResend brings.
const MaxResent = 1000

// ResendRequest asks for messages of the chain of Host: for the messages that lead to the one whose
// hash is Want.
type ResendRequest struct {
	Host Name   `json:"host"`
	Want string `json:"want"`
	// After is the last message before Want that the asker has, as far as it knows. AfterHash is
	// the hash of that message.
	After     Path   `json:"after"`
	AfterHash string `json:"after_hash,omitempty"`
}

// Resent is one message of the answer to a ResendRequest: its path and the exact bytes of its file.
type Resent struct {
	Path Path
	Data []byte
}

// EncodeResendRequest writes a request.
func EncodeResendRequest(r ResendRequest) ([]byte, error) { return json.Marshal(r) }

// DecodeResendRequest reads what EncodeResendRequest writes.
func DecodeResendRequest(data []byte) (r ResendRequest, err error) {
	if err = json.Unmarshal(data, &r); err == nil {
		_, err = ParseName(r.Host.String())
	}
	switch {
	case err != nil:
	case !IsHash(r.Want):
		err = fmt.Errorf("%q is no hash", r.Want)
	case r.AfterHash != "" && !IsHash(r.AfterHash):
		err = fmt.Errorf("%q is no hash", r.AfterHash)
	}
	if err != nil {
		return ResendRequest{}, fmt.Errorf("cannot read what is to be sent again: %w", err)
	}
	return r, nil
}

// resentFile describes one message in the first line of an answer. The bytes of the messages follow
// that line in the same order.
type resentFile struct {
	Path Path `json:"path"`
	Size int  `json:"size"`
}

// EncodeResent writes an answer.
func EncodeResent(messages []Resent) ([]byte, error) {
	files, size := make([]resentFile, len(messages)), 0
	for i, m := range messages {
		files[i] = resentFile{m.Path, len(m.Data)}
		size += len(m.Data)
	}
	head, err := json.Marshal(files)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, len(head)+1+size)
	data = append(append(data, head...), '\n')
	for _, m := range messages {
		data = append(data, m.Data...)
	}
	return data, nil
}

// DecodeResent reads what EncodeResent writes. The messages share the memory of `data`.
func DecodeResent(data []byte) ([]Resent, error) {
	head, rest, ok := bytes.Cut(data, []byte("\n"))
	var files []resentFile
	err := json.Unmarshal(head, &files)
	switch {
	case err != nil:
	case !ok:
		err = errors.New("its first line has no end")
	case len(files) > MaxResent:
		err = fmt.Errorf("%d messages are more than %d", len(files), MaxResent)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read what was sent again: %w", err)
	}
	messages := make([]Resent, len(files))
	for i, f := range files {
		if f.Path.IsZero() || f.Size < 0 || f.Size > len(rest) {
			return nil, fmt.Errorf("cannot read what was sent again: message %d does not fit", i+1)
		}
		messages[i] = Resent{f.Path, rest[:f.Size:f.Size]}
		rest = rest[f.Size:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("cannot read what was sent again: %d bytes are left over", len(rest))
	}
	return messages, nil
}
