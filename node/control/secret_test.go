package control_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/controltest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// token looks like a secret, and no file has it as a whole.
const token = "ghp_" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"

// A secret is refused by the node whatever verb would say it, masked before the node gets it if its
// sender wants that, and stored only for an operator who says so.
func TestSecretsStayOut(t *testing.T) {
	var got []string
	answers := control.Bind(
		control.Send.By(func(_ context.Context, r control.SendRequest) (control.Message, error) {
			got = append(got, r.Body)
			return control.Message{}, nil
		}),
		control.AddMemory.By(func(_ context.Context, r control.AddMemoryRequest) (control.Memory, error) {
			got = append(got, strings.Join(r.Tags, " "))
			return control.Memory{}, nil
		}),
		control.Search.By(func(_ context.Context, r control.SearchRequest) (control.SearchResult, error) {
			got = append(got, r.Words)
			return control.SearchResult{}, nil
		}),
	)
	agent := func(control.Calling) (control.Caller, error) {
		return control.Caller{Kind: control.ByAgent, Name: "mawjs", How: "token"}, nil
	}
	say := func(c *control.Client) error {
		_, err := control.Send.Ask(t.Context(), c, control.SendRequest{To: []string{protocol.All}, Body: "one\n\ntwo " + token})
		return err
	}
	info := thisVersion()
	info.Judge = controltest.Operator
	human, _, _ := serve(t, answers, info)
	info.Judge = agent
	agents, _, _ := serve(t, answers, info)

	err := control.AsError(say(human))
	if err.Kind != control.KindSecret || err.Message != "cannot send: it looks like a GitHub token in line 3; nothing was stored" || err.Hint != "--mask replaces it, or --secret-ok" {
		t.Errorf("%+v", err)
	}
	if err := control.AsError(say(agents)); err.Kind != control.KindSecret || strings.Contains(err.Hint, "--secret-ok") {
		t.Errorf("an agent is told: %+v", err)
	}
	if err := say(agents.Handling(control.AllowSecrets)); err == nil || control.AsError(err).Kind != control.KindRefused {
		t.Errorf("an agent that wants a secret stored is told: %v", err)
	}
	_, failed := control.AddMemory.Ask(t.Context(), human, control.AddMemoryRequest{Subject: "x", Body: "y", Tags: []string{"a", "b " + token}})
	if failed == nil || got != nil {
		t.Errorf("in a list it is let through: %v, %q", failed, got)
	}
	for _, c := range []*control.Client{agents.Handling(control.MaskSecrets), human.Handling(control.AllowSecrets)} {
		if err := say(c); err != nil {
			t.Error(err)
		}
	}
	if _, err := control.Search.Ask(t.Context(), human, control.SearchRequest{Words: token}); err != nil { // somebody looks whether it was said
		t.Error(err)
	}
	if want := []string{"one\n\ntwo [secret: github token]", "one\n\ntwo " + token, token}; !slices.Equal(got, want) {
		t.Errorf("the node was told %q, want %q", got, want)
	}
}

// It prevents: a verb that says something into the record is taken for one that says nothing.
func TestVerbsThatMaySaySecrets(t *testing.T) {
	var local []string
	for _, v := range control.Verbs() {
		if v.Local {
			local = append(local, v.Name)
		}
	}
	if want := []string{"add-agent", "set-agent", "test-agent", "open", "try-notifications", "change-notifications"}; !slices.Equal(local, want) {
		t.Errorf("these may say secrets: %q, want %q", local, want)
	}
}
