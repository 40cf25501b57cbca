package bench

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// framing answers what agents of an inquiry are asked, at once: a shell script, and the answers
// as files beside it.
//
//go:embed framing.sh
var framing []byte

// framingSteps are the calls of an inquiry that wait for each other, up to its synthesis: brief,
// context, proposals, members, preview, detection, three messages, reports, questions, answers to
// them, outcomes, synthesis. Calls that run at the same time count as one.
const framingSteps = 14

func lensName(i int) string { return fmt.Sprintf("Lens%d", i+1) }

// writeFraming writes the script and its answers, in which that many perspectives are proposed and
// the first two are in tension. It returns the command line of the agents.
func writeFraming(dir string, perspectives int) (command string, err error) {
	type object map[string]any
	var proposed, previews []object
	words := func(i int) string { return "Keep " + lensName(i) + "; see stores/2.md." }
	for i := range perspectives {
		other := (i + 1) % perspectives
		proposed = append(proposed, object{"name": lensName(i), "contribution": "what only " + lensName(i) + " shows", "tension_with": lensName(other), "referent": "the second store"})
		previews = append(previews, object{"perspective": lensName(i), "title": "t", "summary": "s", "limits": "l"})
	}
	peers := []string{lensName(0), lensName(1)}
	quote := func(i int) object {
		return object{"perspective": lensName(i), "section": "Assessment", "words": words(i)}
	}
	blocks := map[string]object{
		"brief":     {"intent": "which to keep", "deliverable": "a recommendation", "scope": "stores/ only", "mode": "inquire", "why": "two sides", "abstract": false},
		"context":   {"context": "There are two.", "sources": []string{}},
		"proposals": {"perspectives": proposed, "reasons": ""},
		"preview":   {"results": previews},
		"detection": {"triggers": []object{{"kind": "contradiction", "peers": peers, "topic": "which to keep", "why": "", "quotes": []object{quote(0), quote(1)}}}, "none": ""},
		"outcomes":  {"outcomes": []object{{"tension": "1.1", "resolution": "partial", "strength": "moderate", "basis": "both count nights"}}},
		"synthesis": {
			"agreements": []object{{"point": "Both count nights.", "perspectives": peers, "strength": "moderate"}},
			"basis":      []object{{"claim": "Lens1 says: " + words(0), "kind": "result", "sources": []object{{"perspective": lensName(0), "words": words(0)}}}},
		},
		"route": {"extend": "Deepen Lens1 further", "add_input": "What Lens2 could not see", "wrap_up": "With Lens1, decide"},
	}
	before := map[string]string{"synthesis": "## Convergence\nBoth count nights.\n\n## Divergence\nWhat a night is worth.\n\n" +
		"## Integrated Assessment\nLens1 says: " + words(0) + "\n\n## Synthesis Basis\nIts result.\n\n"}
	for name, block := range blocks {
		data, err := json.Marshal(block)
		if err != nil {
			return "", fmt.Errorf("cannot write an answer: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(before[name]+"```json\n"+string(data)+"\n```\n"), 0o600); err != nil {
			return "", fmt.Errorf("cannot write an answer: %w", err)
		}
	}
	script := filepath.Join(dir, "framing.sh")
	if err := os.WriteFile(script, framing, 0o600); err != nil {
		return "", fmt.Errorf("cannot write the agents' command: %w", err)
	}
	quoted := func(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
	return "sh " + quoted(script) + " " + quoted(dir), nil
}
