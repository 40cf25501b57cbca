package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/parleyfleet/parley/internal/each"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// PartyRules are the eight rules of a party (seed, "Party Schemas"). A rule makes nodes do
// something, or is shown to the people whom it concerns. None removes a member.
type PartyRules struct {
	// SyncCadence is when the leader is reminded that members should check how far they are
	// in sync: daily, on-trigger or manual.
	SyncCadence string `json:"sync_cadence"`
	// DecayLambda is how fast an old score loses its worth: the λ of the decay, for each hour
	// (R21).
	DecayLambda float64 `json:"decay_lambda"`
	// AcceptThreshold is the decayed score, 0 to 1, below which a member is out of sync.
	AcceptThreshold float64 `json:"accept_threshold"`
	// KickThreshold is the decayed score, 0 to 1, below which a member is stale.
	KickThreshold float64 `json:"kick_threshold"`
	// ConsensusMode is who has to accept what the party agrees on: all, majority or
	// leader-only.
	ConsensusMode string `json:"consensus_mode"`
	// BroadcastScope is how far automatic notices of the party go: party, team, fleet or none.
	BroadcastScope string `json:"broadcast_scope"`
	// DivergenceTolerance is what follows from a low score: it is shown (high), a sync is suggested
	// (medium) or a sync is asked for (low).
	DivergenceTolerance string `json:"divergence_tolerance"`
	// PresenceNotifications says which changes of presence members are told: off, summary or
	// verbose.
	PresenceNotifications string `json:"presence_notifications"`
}

// DefaultPartyRules are the rules of a party that sets none (seed, "Create party in registry").
func DefaultPartyRules() PartyRules {
	return PartyRules{
		SyncCadence: "manual", DecayLambda: 0.01, AcceptThreshold: 0.7, KickThreshold: 0.3, ConsensusMode: ConsensusAll,
		BroadcastScope: ScopeParty, DivergenceTolerance: "high", PresenceNotifications: NotifySummary,
	}
}

// Values of the rules of a party. By these rules nodes do something; all other rules are only shown.
const (
	ConsensusAll      = "all"
	ConsensusMajority = "majority"
	ConsensusLeader   = "leader-only"

	ScopeNone  = "none"
	ScopeParty = "party"
	ScopeTeam  = "team"
	ScopeFleet = "fleet"

	NotifyOff     = "off"
	NotifySummary = "summary"
	NotifyVerbose = "verbose"
)

// partyRule is one rule: which values it may have, and how it is read and shown as text.
type partyRule struct {
	name   string
	values []string // the values that it may have; nil: it is a number
	most   float64  // the greatest number that it may be
	text   func(*PartyRules) *string
	number func(*PartyRules) *float64
}

func partyRules() []partyRule {
	return []partyRule{
		{"accept_threshold", nil, 1, nil, func(r *PartyRules) *float64 { return &r.AcceptThreshold }},
		{"broadcast_scope", []string{ScopeParty, ScopeTeam, ScopeFleet, ScopeNone}, 0, func(r *PartyRules) *string { return &r.BroadcastScope }, nil},
		{"consensus_mode", []string{ConsensusAll, ConsensusMajority, ConsensusLeader}, 0, func(r *PartyRules) *string { return &r.ConsensusMode }, nil},
		{"decay_lambda", nil, math.MaxFloat64, nil, func(r *PartyRules) *float64 { return &r.DecayLambda }},
		{"divergence_tolerance", []string{"high", "medium", "low"}, 0, func(r *PartyRules) *string { return &r.DivergenceTolerance }, nil},
		{"kick_threshold", nil, 1, nil, func(r *PartyRules) *float64 { return &r.KickThreshold }},
		{"presence_notifications", []string{NotifyOff, NotifySummary, NotifyVerbose}, 0, func(r *PartyRules) *string { return &r.PresenceNotifications }, nil},
		{"sync_cadence", []string{"daily", "on-trigger", "manual"}, 0, func(r *PartyRules) *string { return &r.SyncCadence }, nil},
	}
}

// Set sets one rule by its name, as text.
func (r *PartyRules) Set(name, value string) error {
	var names []string
	for _, rule := range partyRules() {
		if rule.name == name {
			return rule.set(r, value)
		}
		names = append(names, rule.name)
	}
	return fmt.Errorf("a party has no rule %.80q; it has %s", name, strings.Join(names, ", "))
}

func (rule partyRule) set(r *PartyRules, value string) error {
	if rule.values != nil {
		if !slices.Contains(rule.values, value) {
			return fmt.Errorf("%s is %s, not %.80q", rule.name, strings.Join(rule.values, ", "), value)
		}
		*rule.text(r) = value
		return nil
	}
	x, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || math.IsNaN(x) || x < 0 || math.IsInf(x, 0):
		return fmt.Errorf("%s is a number from 0, not %.80q", rule.name, value)
	case x > rule.most:
		return fmt.Errorf("%s is at most %g, not %.80q", rule.name, rule.most, value)
	}
	*rule.number(r) = x
	return nil
}

// Get is the value of a rule as text. It is "" if there is no rule with that name.
func (r PartyRules) Get(name string) string {
	for _, rule := range partyRules() {
		switch {
		case rule.name != name:
		case rule.values != nil:
			return *rule.text(&r)
		default:
			return strconv.FormatFloat(*rule.number(&r), 'g', -1, 64)
		}
	}
	return ""
}

// PartyRuleNames are the names of the rules, sorted.
func PartyRuleNames() []string {
	return each.Of(partyRules(), func(rule partyRule) string { return rule.name })
}

// Override sets the rules that a JSON object names. If one of them is wrong, it sets none (seed,
// "--rules").
func (r *PartyRules) Override(object string) error {
	next := *r
	d := json.NewDecoder(bytes.NewReader([]byte(object)))
	d.UseNumber()
	var values map[string]any
	if err := d.Decode(&values); err != nil || values == nil {
		return errors.New(`rules are an object of JSON, such as {"consensus_mode": "majority"}`)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more behind the rules")
	}
	for _, name := range PartyRuleNames() { // in a fixed order, so that the same object gives the same error
		value, named := values[name]
		delete(values, name)
		if !named {
			continue
		}
		text := fmt.Sprint(value)
		switch value.(type) {
		case string, json.Number:
		default: // as the object has it, for the error
			b, err := json.Marshal(value)
			if err != nil {
				return fmt.Errorf("%s is neither a number nor a text", name)
			}
			text = string(b)
		}
		if err := next.Set(name, text); err != nil {
			return err
		}
	}
	for name := range values {
		return next.Set(name, "")
	}
	*r = next
	return nil
}

// String is the rules as a JSON object on one line.
func (r PartyRules) String() string {
	b, err := json.Marshal(r)
	if err != nil { // no rule is anything else than a text or a finite number
		return "{}"
	}
	return string(b)
}

// Short is the rules as an invite names them (seed, "Compose INVITE").
func (r PartyRules) Short() string {
	return fmt.Sprintf("sync≥%g · consensus=%s · diverge=%s", r.AcceptThreshold, r.ConsensusMode, r.DivergenceTolerance)
}

// TellsPresence reports whether members are told that another member is in that state now
// ("Presence Integration"). If the rule is verbose, they are told all states. If it is summary,
// they are told those of the seed: coming, going and a context that was compressed.
func (r PartyRules) TellsPresence(state Presence) bool {
	switch r.PresenceNotifications {
	case NotifyVerbose:
		return true
	case NotifySummary:
		return state == PresenceActive || state == PresenceCompacted || state == PresenceAway
	}
	return false
}
