package fleet

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/protocol"
)

// What stories say of dead letters, beside what story_test.go lists:
//
//	ID: fail WHO@HOST ID2 [attempts=N]: PROBLEM     an agent gives a message up
//	ID: retry WHO@HOST ID2 AGENT: REASON            also: drop
//	run ID AGENT = dead N|dropped BY|claimed HOST EPOCH|again BY|-     N times tried
//	dead = ID:AGENT…                                also: dead! with those that were dropped
//	ID: claim AGENT@HOST ID2 EPOCH FROM             its host has claimed the message
//	acting ID AGENT = HOST                          whose instance is to act on it
//	due AGENT@HOST ID = yes|no                      whether it must be claimed before
//	elsewhere AGENT@HOST = ID:HOST…                 what it could take over, of whom
//	void ID = why
func (s *story) runCommand(who Who, words []string) Command {
	switch p := s.path(words[2]); words[0] {
	case "retry":
		return Do{runs.Retry(who.Name, p, words[3], s.text)}
	case "claim":
		var epoch int
		fmt.Sscan(words[3], &epoch)
		return Do{runs.Take(who.Host, p, who.Name, epoch, protocol.Name(words[4]))}
	case "drop":
		return Do{runs.Drop(who.Name, p, words[3], s.text)}
	default:
		f := protocol.Failure{Problem: s.text}
		if len(words) > 3 {
			fmt.Sscanf(words[3], "attempts=%d", &f.Attempts)
		}
		return Answer{As: who, To: p, Body: protocol.Failed.Format(f), Act: protocol.ActFailed, ByAgent: true}
	}
}

// deadAnew is how many dead letters there are where nothing is kept of earlier looks.
func (s *story) deadAnew() int {
	var none deadRuns
	none.look(s.state)
	return len(none.dead)
}

func (s *story) runsNow(words []string) (got string, ok bool) {
	switch words[0] {
	case "run":
		r := s.state.Run(s.path(words[1]), words[2])
		switch {
		case r.Dropped != nil:
			return "dropped " + r.Dropped.By, true
		case r.Dead != nil:
			return fmt.Sprintf("dead %d", r.Attempts), true
		case r.Claim != nil:
			return fmt.Sprintf("claimed %s %d", r.Claim.Host, r.Claim.Epoch), true
		case r.Again != nil:
			return "again " + r.Again.By, true
		}
		return "-", true
	case "acting":
		it, _ := s.state.Ledger.Item(s.path(words[1]))
		return s.state.Talk.ActingHost(it, words[2]).String(), true
	case "due":
		it, _ := s.state.Ledger.Item(s.path(words[2]))
		if s.state.Talk.ClaimDue(it, s.who(words[1])) {
			return "yes", true
		}
		return "no", true
	case "elsewhere":
		var list []string
		for it, host := range s.state.Talk.Elsewhere(s.who(words[1]), Limits{MaxHops: 8}) {
			list = append(list, s.names([]*Item{it})+":"+host.String())
		}
		return strings.Join(list, " "), true
	case "dead", "dead!":
		var list []string
		if kept, anew := len(s.state.DeadLetters(true)), s.deadAnew(); kept != anew {
			return fmt.Sprintf("%d dead letters are kept, and there are %d", kept, anew), true
		}
		for _, r := range s.state.DeadLetters(words[0] == "dead!") {
			it, _ := s.state.Ledger.Item(r.Message)
			list = append(list, s.names([]*Item{it})+":"+r.Agent)
		}
		return strings.Join(list, " "), true
	case "void":
		if err := s.state.Void(s.state.Ledger.at(s.path(words[1]))); err != nil {
			return err.Error(), true
		}
		return "", true
	}
	return "", false
}
