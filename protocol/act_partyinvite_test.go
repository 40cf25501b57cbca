package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// Work-with W91: an invite says what the seed's payload does, and that no oracle pretends to be
// human. Work-with W100: its lines for people.
func TestAnInviteSaysWhatTheSeedSays(t *testing.T) {
	rules := protocol.DefaultPartyRules()
	body := protocol.Invite.Format(protocol.Invitation{
		FormHead: protocol.FormHead{From: "skills", Topic: "tmux design"}, Human: "Nat", Whom: protocol.Address{Name: "mawui", Host: "white"}, Anchor: "maw-js#332", Rules: rules,
	})
	for _, want := range []string{
		"PARTY INVITE | topic: tmux design\n", "\nFrom: Nat (via skills)\n", "\nAnchor: maw-js#332\n", "\nRules: sync≥0.7 · consensus=all · diverge=high\n",
		"\nJoin this collaboration? Accept, reject, or defer.\n", "Rule 6: Sent by skills on behalf of Nat — Oracle Never Pretends to Be Human.",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("it lacks %q:\n%s", want, body)
		}
	}
	_, line, _ := strings.Cut(body, "PAYLOAD: ")
	line, _, _ = strings.Cut(line, "\n")
	var payload map[string]any
	if err := json.Unmarshal([]byte(line), &payload); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"type": "work-with-invite", "topic": "tmux design", "anchor": "maw-js#332", "invitedBy": "Nat (via skills)", "replyTo": "skills"} {
		if payload[key] != want {
			t.Errorf("%s is %v", key, payload[key])
		}
	}
	if got := payload["rules"].(map[string]any); len(got) != 8 || got["consensus_mode"] != "all" {
		t.Errorf("the rules are %v", got)
	}
}

// Work-with W87: the rules where nobody says otherwise. Work-with W88: single ones are set by JSON, and what
// is no rule or no value of it is refused, all or none.
func TestRulesOfParties(t *testing.T) {
	r := protocol.DefaultPartyRules()
	if got, want := r.String(), `{"sync_cadence":"manual","decay_lambda":0.01,"accept_threshold":0.7,"kick_threshold":0.3,"consensus_mode":"all","broadcast_scope":"party","divergence_tolerance":"high","presence_notifications":"summary"}`; got != want {
		t.Errorf("the rules are %s", got)
	}
	if err := r.Override(`{"decay_lambda": 0, "consensus_mode": "majority"}`); err != nil || r.DecayLambda != 0 || r.ConsensusMode != "majority" || r.KickThreshold != 0.3 {
		t.Errorf("%v, %s", err, r)
	}
	was := r
	for _, bad := range []string{
		``, `[]`, `{`, `{} {}`, `null x`, `{"kick": 1}`, `{"accept_threshold": 2}`, `{"accept_threshold": -1}`, `{"decay_lambda": "NaN"}`, `{"decay_lambda": 1e999}`, `{"decay_lambda": "fast"}`,
		`{"consensus_mode": "some"}`, `{"consensus_mode": null}`, `{"kick_threshold": 0.5, "sync_cadence": "hourly"}`, `{"broadcast_scope": ["party"]}`,
	} {
		if err := r.Override(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if r != was {
		t.Errorf("what was refused has set %s", r)
	}
}
