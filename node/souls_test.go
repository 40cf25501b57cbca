package node

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
)

// Work-with W12: without contacts.json everything works. R21: a score between two agents of one
// soul fades five times more slowly. An agent's file says whose it is, else the contacts.json of
// the one who looks, else the record. If another host may know it otherwise, that is said. A file
// that nobody can read is one warning and nothing else.
func TestWhoseAnAgentIs(t *testing.T) {
	var days atomic.Int64
	noon := time.Now().UTC().Truncate(24 * time.Hour).Add(36 * time.Hour) // of tomorrow: the home is made today
	n, _ := runNodeAt(t, initHome(t, nil), func() time.Time { return noon.AddDate(0, 0, int(days.Load())) })
	dir := t.TempDir()
	contacts := filepath.Join(dir, "ψ", "contacts.json")
	if err := os.MkdirAll(filepath.Dir(contacts), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"skills": dir, "mawjs": ""} {
		if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: name, Inbox: true, Settings: control.Given{"dir": {dir}}}); err != nil {
			t.Fatal(err)
		}
	}
	do(t, n, working(n, "skills", "mawjs").Open(""))
	tier := func(me, with string) topic.Tier {
		t.Helper()
		v, err := control.ShowTopic.Ask(t.Context(), n, control.TopicRequest{Viewing: control.Viewing{For: me}, With: with, Topic: "tmux design"})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]float64{"new": 0.1, "int": 0.01, "cro": 0.05}[string(v.Tier[:3])]; v.Lambda.Value != want {
			t.Errorf("λ is %g where it is %q", v.Lambda.Value, v.Tier)
		}
		return v.Tier
	}
	expect := func(when, me, with string, want topic.Tier) {
		t.Helper()
		if got := tier(me, with); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(contacts, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	warned := func() (lines []string) {
		t.Helper()
		status, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range status.Warned {
			if strings.Contains(w, "contacts.json") {
				lines = append(lines, w)
			}
		}
		return lines
	}
	for range 5 {
		expect("before five days on which both wrote", "skills", "mawjs", "new relationship")
		as(t, n, "skills", "mawjs", "hello")
		as(t, n, "mawjs", "skills", "hello")
		days.Add(1)
	}
	expect("one human", "skills", "mawjs", "intra-soul")
	write(`{"contacts": {"mawjs": {"soul": "bo"}}}`)
	expect("contacts name another soul", "skills", "mawjs", "cross-soul, by contacts.json")
	expect("they are the other one's", "mawjs", "skills", "intra-soul")
	soul := "bo"
	if _, err := control.SetAgent.Ask(t.Context(), n, control.SetAgentRequest{Name: "skills", Settings: control.Given{"soul": {soul}}}); err != nil {
		t.Fatal(err)
	}
	expect("the agent's file and contacts agree", "skills", "mawjs", "intra-soul, by agent file and contacts.json")
	expect("as the other one sees it", "mawjs", "skills", "cross-soul, by agent file")
	write("{")
	expect("contacts that nobody can read", "skills", "mawjs", "cross-soul, by agent file")
	expect("again", "skills", "mawjs", "cross-soul, by agent file")
	if lines := warned(); len(lines) != 1 || !strings.HasPrefix(lines[0], "the contacts.json of skills counts for nothing: cannot read the contacts: ") {
		t.Errorf("warned %q", lines)
	}
	write(`{"contacts": {"mawjs-oracle": {"soul": "Bo"}}}`)
	expect("put right", "skills", "mawjs", "intra-soul, by agent file and contacts.json")
	if lines := warned(); len(lines) != 0 {
		t.Errorf("still warned %q", lines)
	}
	if err := os.Remove(contacts); err != nil {
		t.Fatal(err)
	}
	expect("without", "skills", "mawjs", "cross-soul, by agent file")
	soul = "not a name"
	if _, err := control.SetAgent.Ask(t.Context(), n, control.SetAgentRequest{Name: "skills", Settings: control.Given{"soul": {soul}}}); err == nil || !strings.Contains(err.Error(), "soul") {
		t.Errorf("a soul that is no name: %v", err)
	}
}
