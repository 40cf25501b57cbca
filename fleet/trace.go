package fleet

import "github.com/parleyfleet/parley/protocol"

// Receipts are the receipts for the message at p, whether they count or not, in the order
// of the record.
func (t *Talk) Receipts(p protocol.Path) []*Item {
	var all sequence
	for _, it := range receipts.find(t.ledger, p) {
		if t.ring().Signature(&it.File) != protocol.SignatureRefused {
			all.insert(it)
		}
	}
	return all.items
}

// Sent are the messages that agents sent because of the one at `p` and that answer none, in the
// order of the record (R13).
func (t *Talk) Sent(p protocol.Path) []*Item {
	var all sequence
	for _, it := range asideOf.find(t.ledger, p) {
		if t.ring().Signature(&it.File) != protocol.SignatureRefused {
			all.insert(it)
		}
	}
	return all.items
}
