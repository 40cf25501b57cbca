package demo

import (
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewAgentCommand is the program behind the demo's agents. As any agent's program, it gets a text
// on standard input, and gives an answer on standard output.
func NewAgentCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:    "demo-agent words|calc|partner|lens",
		Short:  "The program behind the demo's agents",
		Hidden: true,
		Args:   cli.Exactly(1, "words, calc, partner or lens"),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := io.ReadAll(p.Stdin)
			if err != nil {
				return err
			}
			answer, err := demoAnswer(args[0], string(text))
			if err == nil {
				p.Out.Printf("%s\n", answer)
			}
			return err
		},
	}
}

func demoAnswer(agent, text string) (string, error) {
	switch agent {
	case "words":
		return fmt.Sprintf("That was %s.", cli.Count(len(strings.Fields(text)), "word")), nil
	case "calc":
		return addUp(text), nil
	case "partner":
		return scored(text), nil
	case "lens":
		return lens(text), nil
	}
	return "", control.Errorf(control.KindUsage, "", "there is no demo agent %q", agent)
}

// scored answers as an agent does that remembers agreements well and open questions half. It
// answers a sync-check with scores, and anything else with a sentence.
func scored(text string) string {
	_, asked, _ := strings.Cut(text, "SYNC-CHECK |")
	check, err := protocol.CheckSync.Parse("SYNC-CHECK |" + asked)
	if err != nil {
		return "The build is through. I start on it."
	}
	result := protocol.SyncResult{FormHead: protocol.FormHead{From: "mawjs", At: time.Now().UTC()}}
	for _, claim := range check.Claims {
		row := protocol.SyncRow{Claim: claim.ItemRef, Score: protocol.NewScore(0.6), Decision: protocol.DecisionPartial, Evidence: "notes/restart.md, half of it"}
		if strings.HasPrefix(string(claim.Label), "A") {
			row.Score, row.Decision, row.Evidence = protocol.NewScore(1), protocol.DecisionAccept, "notes/panes.md, line 3"
		}
		result.Rows = append(result.Rows, row)
	}
	return protocol.AnswerSync.Format(result)
}

func addUp(text string) string {
	numbers := regexp.MustCompile(`[0-9]+`).FindAllString(text, -1)
	if len(numbers) == 0 {
		return "I see no numbers to add."
	}
	sum := new(big.Int)
	for _, n := range numbers {
		term, _ := new(big.Int).SetString(n, 10)
		sum.Add(sum, term)
	}
	return strings.Join(numbers, " + ") + " = " + sum.String()
}
