// Package redactions is the affair of one file of the record whose text is hidden (R75): which hosts
// and humans have said so. Whether one of them may is not decided here: that depends on who wrote
// the file, which may come later than the deed.
package redactions

import (
	"errors"
	"fmt"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/protocol"
)

// KindName is the name of the kind.
const KindName = "redactions"

// Redaction is one human's word that a text is hidden. The human is one of the host.
type Redaction struct {
	By     string
	Host   protocol.Name
	Own    bool // the human's own key signed it
	Reason string
	At     time.Time
	Path   protocol.Path // of the deed
}

// String is what stands in place of the text.
func (r Redaction) String() string {
	return fmt.Sprintf("[redacted by %s@%s on %s: %s]", r.By, r.Host, r.At.UTC().Format(time.DateOnly), r.Reason)
}

// All are the redactions of a file, in the order of the record.
type All []Redaction

// Kind is the kind of affair in the record with that id. The affair is called as the file.
func Kind(recordID string) *affair.Kind[All] {
	channel := protocol.SystemChannel(recordID)
	return &affair.Kind[All]{
		Name: KindName,
		Acts: []protocol.ActSpec{protocol.Redact.ActSpec},
		Of: func(m *protocol.Message) (string, bool) {
			r, err := protocol.Redact.Parse(m.Body)
			return r.File, err == nil && m.Path.Channel() == channel
		},
		Hands: true,
		Begin: func(string) All { return nil },
		Step:  All.step,
	}
}

func (all All) step(d affair.Deed) (All, error) {
	return affair.Said(protocol.Redact, func(all All, d affair.Deed, r protocol.Redaction) (All, error) {
		if d.Standing != affair.Signed || !d.Human || d.Message.Human != d.From {
			return all, errors.New("it is not signed as the word of a human of its host")
		}
		if err := d.Decided(protocol.Path{}, "", r.Decides(), time.Time{}, ""); err != nil {
			return all, err
		}
		return affair.Added(all, Redaction{By: d.From, Host: d.Host, Own: d.Hand.Had, Reason: r.Reason, At: d.Timestamp, Path: d.Message.Path}), nil
	})(all, d)
}

// Redact has a human of a host hide the text of a file. `hsig` is the signature of the human's own
// key, for protocol.Redaction.Decides; it is empty if they have none.
func Redact(recordID, human string, host protocol.Name, file, reason, hsig string) affair.Command {
	return Kind(recordID).Command(file, func(_ All, now time.Time) ([]affair.Draft, error) {
		head := protocol.FormHead{From: human, At: now.UTC().Truncate(time.Millisecond)}
		return []affair.Draft{{Channel: protocol.SystemChannel(recordID), Message: protocol.Message{
			From: human, To: []protocol.Address{{Name: human, Host: host.String()}}, Type: protocol.TypeText, Act: protocol.ActRedact, Human: human, Hsig: hsig,
			Body: protocol.NormalBody(protocol.Redact.Format(protocol.Redaction{FormHead: head, File: file, Reason: reason})),
		}}}, nil
	})
}
