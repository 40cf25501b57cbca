package protocol

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// RunClaimed says that the host which signs it has claimed an agent's work on a message,
// and does it from now on (R7).
type RunClaimed struct {
	Of    Path
	Agent string
	Epoch int  // how often somebody had the message tried again before
	From  Name // the host that was to do the work: the signing host itself, unless the work was another host's
}

// ActRunClaim is the act of a RunClaimed.
const ActRunClaim Act = "run-claim"

// RunClaim is the act by which a host takes the work on a message, if several hosts serve its agent.
var RunClaim = NewAct(ActSpec{
	Act: ActRunClaim, Heading: "RUN-CLAIM", Class: ClassNotice,
	Doc: "Says which host has claimed an agent's work on a message.",
}, parseRunClaimed, formatRunClaimed, RunClaimed{Of: exampleRun, Agent: "mawjs", From: "white"})

// ClaimName is the name at the remote of the claim of an agent's work on a message. `epoch` is how
// often somebody has had the message tried again: each time, it is another claim (R7).
func ClaimName(p Path, agent string, epoch int) string {
	sum := sha256.Sum256([]byte(p.String() + "\n" + agent))
	return fmt.Sprintf("%x-%d", sum[:20], epoch)
}

func formatRunClaimed(c RunClaimed) string {
	return NormalBody(fmt.Sprintf("%s\nepoch: %d\nhost: %s\n", formatRunWord("RUN-CLAIM", RunWord{Of: c.Of, Agent: c.Agent}), c.Epoch, c.From))
}

func parseRunClaimed(body string) (c RunClaimed, err error) {
	w, err := parseRunWord(body)
	if err != nil {
		return RunClaimed{}, err
	}
	c.Of, c.Agent = w.Of, w.Agent
	_, fields, _ := strings.Cut(body, "\n")
	said := false
	for line := range strings.SplitSeq(strings.ReplaceAll(fields, "\r\n", "\n"), "\n") {
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "epoch":
			if c.Epoch, err = strconv.Atoi(value); err != nil || c.Epoch < 0 {
				return RunClaimed{}, fmt.Errorf("%q is no epoch", value)
			}
			said = true
		case "host":
			if c.From, err = ParseName(value); err != nil {
				return RunClaimed{}, err
			}
		}
	}
	if !said || c.From == "" {
		return RunClaimed{}, errors.New("it does not say which epoch of which host's work is claimed")
	}
	return c, nil
}
