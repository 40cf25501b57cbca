package topics

import (
	"time"

	"github.com/parleyfleet/parley/fleet/topics/topic"
)

// Sidecar is what a topic's state file says about its agreements (contract of the state sidecar).
// It is a view of the fold for other programs, written anew and never read back.
type Sidecar struct {
	Topic string                 `json:"topic"`
	Items map[string]SidecarItem `json:"items"`
}

// SidecarItem is one agreement, with the less settled of its two stands (R60).
type SidecarItem struct {
	Text          string      `json:"text"`
	Phase         topic.Phase `json:"phase"`
	DecidedAt     string      `json:"decidedAt,omitempty"`
	DecidedBy     string      `json:"decidedBy,omitempty"`
	Reason        string      `json:"reason,omitempty"`
	DeferredUntil string      `json:"deferredUntil,omitempty"`
	TimeoutAt     string      `json:"timeoutAt,omitempty"`
	PreviousPhase topic.Phase `json:"previousPhase,omitempty"`
}

// Sidecar is the state file of the topic.
func (t Topic) Sidecar() Sidecar {
	s := Sidecar{Topic: t.Slug.String(), Items: map[string]SidecarItem{}}
	for _, it := range t.agreements(nil) {
		stand := it.Shown()
		item := SidecarItem{
			Text: it.Text(), Phase: stand.Phase, DecidedAt: iso(stand.Decided), Reason: stand.Reason,
			TimeoutAt: iso(stand.TimeoutAt), PreviousPhase: stand.Previous,
		}
		if !stand.Decided.IsZero() {
			item.DecidedBy = stand.Who
		}
		if stand.Phase == topic.Deferred || stand.Previous == topic.Deferred && stand.Phase == topic.TimedOut {
			item.DeferredUntil = iso(stand.Until)
		}
		s.Items[it.Label.String()] = item
	}
	return s
}

func iso(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
