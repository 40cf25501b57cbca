package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// It prevents: lines that are wider than the terminal, which run over into the next line and tear
// tables apart. What a person copies, such as a path, may be wider.
func TestScreensFit(t *testing.T) {
	for _, width := range []int{60, 80, 100, 120, 149, 150, 200} {
		for _, line := range []string{
			"thread x", "replies x", "search long", "channel list", "channel show x", "memory list --all", "memory show x", "agent list",
			"agent presets", "log", "inbox", "record upgrade --check", "wake", "agent profile x", "status", "host list", "host show x", "ls", "status --fleet",
		} {
			r := newRun(t)
			r.SomeBooks(t)
			clitest.On(r, control.Thread, clitest.SomeThread())
			mail := clitest.MailOfStrangers()
			for _, m := range clitest.SomeThread() {
				mail = append(mail, m.Message)
			}
			r.HasMail(mail)
			clitest.On(r, control.Agents.Verb, clitest.ServedHere())
			clitest.On(r, control.Search, clitest.SomeFinds(mail...))
			clitest.On(r, control.Wake, control.Woken{Agents: clitest.ServedHere()})
			clitest.On(r, control.Hosts, clitest.SomeHosts())
			clitest.On(r, control.AskFleet, clitest.SomeFleet())
			clitest.On(r, control.ShowHost, clitest.SomeHosts()[2])
			clitest.On(r, control.List, []control.Participant{{
				Name: "a-name-that-is-rather-long", Kind: "agent", Host: "a-host-with-a-long-name", State: control.HostGit,
				Since: clitest.Message("").Timestamp, Address: "[2001:db8::7]:4223", RTT: 1234567,
			}})
			r.AtTerminal(width)
			if code := r.Do(strings.Fields(line)...); code != cli.ExitDone {
				t.Fatalf("%s: exit %d, %s", line, code, r.Err.String())
			}
			for shown := range strings.SplitSeq(r.Out.String(), "\n") {
				if got := term.Width(shown); got > width && !strings.HasPrefix(shown, "next: ") && !strings.HasPrefix(shown, "fingerprint: ") {
					t.Errorf("%s: %d columns in %d: %q", line, got, width, shown)
				}
			}
		}
	}
}

// It prevents: sentences about parties, gates, agents and the node that run over the edge of a usual
// terminal. What a person copies, such as a command or a path, may be wider.
func TestSentencesFit(t *testing.T) {
	party := exampleParty()
	party.Void[0].Why, party.Proposals[0].Text = strings.Repeat("because ", 12), strings.Repeat("Panes have names. ", 6)
	party.Tasks[0].Text, party.Leases[0].Things = strings.Repeat("Write a test. ", 8), []string{"src/panes", "src/windows", "src/sessions", "docs/panes"}
	gates := []control.Gate{exampleGate(), exampleGate(), exampleGate()}
	gates[0].Title, gates[0].Reason, gates[0].Outcome = strings.Repeat("invite of mawui ", 6), strings.Repeat("after standup ", 6), "pending"
	gates[1].Outcome, gates[2].Outcome = "contested", "declined"
	party.Gates = gates
	for _, line := range []string{"who", "work-with who", "party list", "party recap", "party rules", "gates --all", "agent show x", "status", "inbox"} {
		r := newRun(t)
		clitest.On(r, control.ShowParty, party)
		clitest.On(r, control.Parties, control.PartyList{Me: "skills", Chosen: "only", Parties: []control.Party{party}})
		clitest.On(r, control.Gates, control.GateList{Human: "nat", Gates: gates})
		clitest.On(r, control.ShowAgent, control.AgentSettings{Agent: exampleAgent(), Settings: []control.Setting{{Name: "exec", Value: strings.Repeat("claude --print ", 8)}}})
		clitest.On(r, control.ShowStatus.Verb, exampleStatus())
		clitest.On(r, control.List, []control.Participant{{Name: "mawjs", Kind: "agent", Host: "white"}})
		r.HasMail(clitest.MailOfStrangers())
		r.AtTerminal(80)
		if code := r.Do(strings.Fields(line)...); code != cli.ExitDone {
			t.Fatalf("%s: exit %d, %s", line, code, r.Err.String())
		}
		for shown := range strings.SplitSeq(r.Out.String(), "\n") {
			if got := term.Width(shown); got > 80 && !strings.Contains(shown, "parley ") && strings.Contains(strings.TrimSpace(shown), " ") {
				t.Errorf("%s: %d columns: %q", line, got, shown)
			}
		}
	}
}

// It prevents: help that is wider than the usual terminal, which runs over and tears its columns
// apart.
func TestHelpFits(t *testing.T) {
	var lines []string
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		lines = append(lines, strings.TrimPrefix(cmd.CommandPath(), "parley"))
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(root.New(newRun(t).Program))
	for _, line := range lines {
		r := newRun(t)
		r.AtTerminal(80)
		if code := r.Do(append(strings.Fields(line), "--help")...); code != cli.ExitDone {
			t.Errorf("parley%s --help: exit %d", line, code)
		}
		for shown := range strings.SplitSeq(r.Out.String(), "\n") {
			if got := term.Width(shown); got > 80 {
				t.Errorf("parley%s --help: %d columns: %q", line, got, shown)
			}
		}
	}
}

// Tab offers channels after --channel, --parent and --scope. After the other flags it offers those
// who can be reached.
func TestFlagsComplete(t *testing.T) {
	for line, want := range map[string]string{
		"send --channel":         "sprint",
		"log --channel":          "sprint",
		"search --channel":       "sprint",
		"channel new x --parent": "sprint",
		"memory add --scope":     "sprint",
		"memory list --scope":    "sprint",
		"search --from":          "mawjs",
		"send --to":              "mawjs",
		"wait --from":            "mawjs",
		"agent test":             "claude",
		"agent add x --preset":   "aider",
		"channel show":           "sprint",
		"agent pause":            "claude",
		"wake":                   "claude",
		"host show":              "white",
		"host ping":              "white",
		"party join":             "tmux-design",
		"party tell --party":     "tmux-design",
		"party invite":           "mawjs",
		"party organize --with":  "mawjs",
		"party tell --via":       "mawjs",
		"frame --agent":          "mawjs",
		"work-with":              "mawjs",
		"gates reject":           "1f2e3d4c",
		"dlq list":               "mawjs",
	} {
		r := newRun(t)
		r.SomeBooks(t)
		clitest.On(r, control.Agents.Verb, clitest.ServedHere())
		clitest.On(r, control.List, []control.Participant{{Name: "mawjs", Kind: "agent", Host: "white"}, {Name: "nat", Kind: "human", Host: "white"}})
		clitest.On(r, control.Hosts, clitest.SomeHosts())
		clitest.On(r, control.Parties, control.PartyList{Parties: []control.Party{{Short: "tmux-design", State: "on"}}})
		clitest.On(r, control.Gates, control.GateList{Gates: []control.Gate{{ID: "1f2e3d4c", Title: "invite of mawui"}}})
		r.Do(append(append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Fields(line)...), "")...)
		words := strings.Split(strings.TrimSpace(r.Out.String()), "\n")
		if !slices.Contains(words, want) || !strings.HasPrefix(words[len(words)-1], ":") {
			t.Errorf("parley %s <Tab> offers %q, want %s among it", line, words, want)
		}
		takesAgents := strings.HasPrefix(line, "party") || strings.HasPrefix(line, "frame") || strings.HasPrefix(line, "dlq")
		if takesAgents && slices.Contains(words, "nat") {
			t.Errorf("parley %s <Tab> offers a human, whom it refuses", line)
		}
	}
}

// What a command names as the next one leads on, and not back to where it began: memory add named
// list, list show, show supersede, and that list again. PARLEY_NO_HINTS leaves all of it out.
func TestNextCommandsLeadNowhereRound(t *testing.T) {
	for _, begin := range []string{
		"stop", "memory add --subject x text", "memory list", "channel new x", "channel list", "agent presets", "agent remove calc",
		"inbox", "read --all", "dlq list", "replies b2c3d4e5", "thread b2c3d4e5", "search words", "party list", "gates",
	} {
		line, been := begin, []string{}
		for line != "" {
			cmd, _, err := root.New(newRun(t).Program).Find(cli.Today(root.New(newRun(t).Program), strings.Fields(line)))
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(been, cmd.CommandPath()) && cmd.Name() != "presets" { // with a name it shows one of them
				t.Errorf("parley %s leads round: %q, %s", begin, been, cmd.CommandPath())
				break
			}
			been = append(been, cmd.CommandPath())
			if cmd.Name() == "reply" || cmd.Name() == "hey" || cmd.Name() == "send" {
				break // an answer comes, or none
			}
			next := nextOf(t, line, "")
			if quiet := nextOf(t, line, "1"); quiet != "" {
				t.Errorf("parley %s names %q with PARLEY_NO_HINTS", line, quiet)
			}
			line = next
		}
	}
}

// nextOf is the command that another one names as the next.
func nextOf(t *testing.T, line, noHints string) string {
	r := newRun(t)
	r.Env["PARLEY_NO_HINTS"] = noHints
	r.SomeBooks(t)
	r.HasMail([]control.Message{clitest.Message("hello")})
	r.AtTerminal(200)
	r.Do(strings.Fields(line)...)
	_, next, _ := strings.Cut(r.Out.String(), "next: parley ")
	next, _, _ = strings.Cut(next, "   ")
	return strings.NewReplacer("NAME", "x", "LINE", "x").Replace(next)
}
