package configs

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

// The doors through which a message reaches an agent.
const (
	DoorExec  = "exec"  // the node runs the agent's command for each message
	DoorInbox = "inbox" // the agent asks for its messages
)

// What the command of an agent is given for a message.
const (
	InputText   = "text"   // the bare body on standard input
	InputPrompt = "prompt" // profile, what the channel is for, memories, conversation and the message
)

// Whose mail makes an agent work.
const (
	AcceptAnyone   = "anyone"
	AcceptVerified = "verified" // only messages that a host signed which declares the author
)

// Placeholders in command lines.
const (
	PlaceholderPrompt  = "{prompt}"  // of exec, with InputPrompt: the prompt as an argument, not on standard input
	PlaceholderContext = "{context}" // of the setting open: what the program should know
)

// ExaminerMechanical has the node answer sync-checks for an agent (R66).
const ExaminerMechanical = "mechanical"

// What becomes of a message if the end of the node cut its run short (R19).
const (
	RerunAgain = "again" // it is tried again, like after a failed attempt
	RerunAsk   = "ask"   // it is a dead letter: somebody decides
)

// Agent is agents/NAME.yaml: one agent that this host serves.
type Agent struct {
	Name protocol.Name
	Door string // DoorExec or DoorInbox
	// Dir is the absolute working directory of the command; "" is the node's.
	Dir string
	// Tiers are the instances of the agent in the order of the file. Each stands Count times in the
	// group from which R6 chooses. An agent with the inbox door has none.
	Tiers      []Tier
	Timeout    time.Duration // 0: the command_timeout of the configuration
	Attempts   int           // how often a command that fails is started for a message; 0: DefaultAttempts
	Rerun      string        // RerunAgain (also "") or RerunAsk: what becomes of a run that the end of its node cut short (R19)
	Input      string        // InputText (also "") or InputPrompt; of the exec door
	Profile    protocol.Name // actor profile with which prompts begin; "" = the one with the agent's name, if there is one
	Preset     string        // the preset from which it was made; only shown
	Open       string        // command line of its own interactive program
	Paused     bool          // its mail waits
	RunReplies bool          // "answers: true": it is also run for answers to its own messages (R13)
	// Accepts is whose mail makes it work: AcceptAnyone (also "") or AcceptVerified.
	Accepts string
	// WakesOn are the acts for which its command is run. If it is empty, each act says so itself
	// (R63).
	WakesOn []protocol.Act
	// Examiner is who answers sync-checks: ExaminerMechanical means the node itself, by what the
	// agent wrote; "" means the agent.
	Examiner string
	// Soul is the human to whom it belongs (R21). If it is "", the contacts of whoever asks say it,
	// else it is the host's human.
	Soul   protocol.Name
	RunAs  string     // the user of the system under whom the command runs; "": the node's own
	Env    Variables  // which variables of the environment the command gets
	Limits Limits     // what a run of the command may use
	Wake   string     // command line that wakes the program of an agent with an inbox; "": the program asks by itself
	Quiet  QuietHours // when it is not woken, and not run for messages that agents have caused
	// TakeoverAfter is for how long this host must be gone before another host that serves the
	// agent does its work (R7). 0 means protocol.DefaultTakeover. With protocol.NoTakeover no host
	// ever does, and this host does not take over work either.
	TakeoverAfter time.Duration
	// DispatchSince is the commit of main when the agent was added. What that commit contains is
	// shown and never run (R8). It is "" if main had no commit.
	DispatchSince string
	Added         time.Time // kept to the second, in UTC
}

// Tier is one kind of instance of an agent.
type Tier struct {
	Name  string // such as "haiku"
	Count int    // instances of this kind, 1 or more
	Exec  string // the command line, split as a shell would and run without one
}

// DefaultAttempts is how often a command is started for a message before the message is given up
// (R16), if the agent's file does not say it.
const DefaultAttempts = 3

const maxAttempts = 20

// A host is only known to be gone after it was silent for a while: see presence.Lasts.
const (
	minTakeover = time.Minute
	maxTakeover = 30 * 24 * time.Hour
)

// ParseTakeover reads for how long a host must be gone before its work is taken over: a duration
// such as 10m, or "never".
func ParseTakeover(s string) (time.Duration, error) {
	if s == "never" {
		return protocol.NoTakeover, nil
	}
	return parseDuration(s)
}

// ShowTakeover is the text that ParseTakeover reads.
func ShowTakeover(after time.Duration) string {
	if after == protocol.NoTakeover {
		return "never"
	}
	return span.Exact(after)
}

// maxTierCount is less than protocol.MaxTierCount, the most that a reader takes.
const maxTierCount = 1000

// Validate returns everything that is wrong with the agent, as one *Error.
func (a Agent) Validate() error { return asError("", a.problems()) }

func (a Agent) problems() []Problem {
	var ps []Problem
	add := func(key, format string, args ...any) {
		ps = append(ps, Problem{Key: key, Text: fmt.Sprintf(format, args...)})
	}
	if _, err := protocol.ParseName(a.Name.String()); err != nil {
		add("name", "%v", err)
	}
	if a.Dir != "" && !filepath.IsAbs(a.Dir) {
		add("dir", "%q is not an absolute path", a.Dir)
	}
	if a.Timeout < 0 || a.Timeout > maxTimeout {
		add("timeout", "%s is not from 0s (the default of config.yaml) to %s", span.Exact(a.Timeout), span.Exact(maxTimeout))
	}
	if a.Attempts < 0 || a.Attempts > maxAttempts {
		add("attempts", "%d is not from 1 to %d", a.Attempts, maxAttempts)
	}
	if a.Accepts != "" && a.Accepts != AcceptAnyone && a.Accepts != AcceptVerified {
		add("accepts", "%q is not whose mail an agent can accept: use anyone or verified", a.Accepts)
	}
	for i, act := range a.WakesOn {
		if spec, known := protocol.FindAct(act); !known || !act.Mail() {
			add("wakes_on", "%q %s: use some of %s", act, whyNoWaking(spec, known), strings.Join(wakingActs(), ", "))
		} else if slices.Contains(a.WakesOn[:i], act) {
			add("wakes_on", "%q stands twice", act)
		}
	}
	if a.Examiner != "" && a.Examiner != ExaminerMechanical {
		add("examiner", "%q does not say who answers sync-checks: use mechanical, or leave it out for the agent itself", a.Examiner)
	}
	if _, err := optionalName(a.Soul.String()); err != nil {
		add("soul", "%v", err)
	}
	if a.Rerun != "" && a.Rerun != RerunAgain && a.Rerun != RerunAsk {
		add("rerun", "%q does not say what becomes of a run that was cut short: use again or ask", a.Rerun)
	}
	if a.TakeoverAfter != 0 && a.TakeoverAfter != protocol.NoTakeover && (a.TakeoverAfter < minTakeover || a.TakeoverAfter > maxTakeover) {
		add("takeover_after", "%s is not from %s to %s", span.Exact(a.TakeoverAfter), span.Exact(minTakeover), span.Exact(maxTakeover))
	}
	if _, err := optionalName(a.Profile.String()); err != nil {
		add("profile", "%v", err)
	}
	if a.Preset != "" && !isLine(a.Preset) {
		add("preset", "%q contains control characters", a.Preset)
	}
	if a.RunAs != "" && !regexp.MustCompile(`^[A-Za-z0-9._][A-Za-z0-9._-]{0,31}$`).MatchString(a.RunAs) {
		add("run_as", "%q is not the name of a user, nor a number of one", a.RunAs)
	}
	if !isText(a.Wake) {
		add("wake", "the command %q contains control characters or bytes that are not UTF-8", a.Wake)
	}
	if len(a.Quiet) > maxQuiet {
		add("quiet", "%d spans are more than %d", len(a.Quiet), maxQuiet)
	}
	if !isText(a.Open) {
		add("open", "the command %q contains control characters or bytes that are not UTF-8", a.Open)
	}
	if a.DispatchSince != "" && !isCommit(a.DispatchSince) {
		add("dispatch_since", "%q is not a commit: it should be 40 hex digits", a.DispatchSince)
	}
	ps = append(append(ps, a.Env.problems()...), a.Limits.problems()...)
	return append(ps, a.doorProblems()...)
}

// whyNoWaking says why no command can be run for messages of an act.
func whyNoWaking(spec protocol.ActSpec, known bool) string {
	if !known {
		return "is no act"
	}
	return fmt.Sprintf("is a %s, for which nothing is run", spec.Class)
}

// wakingActs are the acts for which an agent's command can be run.
func wakingActs() (names []string) {
	for _, spec := range protocol.Acts() {
		if spec.Act.Mail() {
			names = append(names, string(spec.Act))
		}
	}
	return names
}

func (a Agent) doorProblems() []Problem {
	switch {
	case a.Door != DoorExec && a.Door != DoorInbox:
		return []Problem{{Key: "door", Text: fmt.Sprintf("%q is not a door: use exec or inbox", a.Door)}}
	case a.Door == DoorInbox && len(a.Tiers) > 0:
		return []Problem{{Key: "tiers", Text: "an agent behind the inbox door runs no command and has no tiers"}}
	case a.Door == DoorInbox && a.Attempts != 0:
		return []Problem{{Key: "attempts", Text: "an agent behind the inbox door runs no command: there is nothing to try again"}}
	case a.Door == DoorInbox && a.Accepts != "":
		return []Problem{{Key: "accepts", Text: "an agent behind the inbox door runs no command: it decides itself what it works on"}}
	case a.Door == DoorInbox && len(a.WakesOn) > 0:
		return []Problem{{Key: "wakes_on", Text: "an agent behind the inbox door runs no command: nothing wakes it"}}
	case a.Door == DoorInbox && a.Rerun != "":
		return []Problem{{Key: "rerun", Text: "an agent behind the inbox door runs no command: there is nothing to run again"}}
	case a.Door == DoorInbox && a.RunAs != "":
		return []Problem{{Key: "run_as", Text: "an agent behind the inbox door runs no command: there is nothing to run as somebody"}}
	case a.Door == DoorExec && a.Wake != "":
		return []Problem{{Key: "wake", Text: "an agent behind the exec door is run for each message: there is nothing to wake"}}
	case a.Door == DoorInbox && a.Wake == "" && len(a.Env) > 0:
		return []Problem{{Key: "env", Text: "an agent behind the inbox door runs no command, unless it has one at wake: there is nothing to give variables to"}}
	case a.Door == DoorInbox && a.Wake == "" && a.Limits != (Limits{}):
		return []Problem{{Key: "limits", Text: "an agent behind the inbox door runs no command, unless it has one at wake: there is nothing to limit"}}
	case a.Door == DoorInbox && a.Input == InputPrompt:
		return []Problem{{Key: "input", Text: "an agent behind the inbox door is given nothing: it asks"}}
	case a.Door == DoorInbox:
		return nil
	case len(a.Tiers) == 0:
		return []Problem{{Key: "tiers", Text: "an agent behind the exec door needs at least one tier with a command"}}
	case a.Input != "" && a.Input != InputText && a.Input != InputPrompt:
		return []Problem{{Key: "input", Text: fmt.Sprintf("%q is not what a command can be given: use text or prompt", a.Input)}}
	}
	var ps []Problem
	seen := map[string]bool{}
	for i, tier := range a.Tiers {
		for _, p := range tier.problems() {
			p.Key = fmt.Sprintf("tiers[%d].%s", i, p.Key)
			ps = append(ps, p)
		}
		if a.Input != InputPrompt && strings.Contains(tier.Exec, PlaceholderPrompt) {
			ps = append(ps, Problem{Key: fmt.Sprintf("tiers[%d].exec", i), Text: "the command asks for " + PlaceholderPrompt +
				", but the agent's input is text: set  input: prompt"})
		}
		if seen[tier.Name] {
			ps = append(ps, Problem{Key: fmt.Sprintf("tiers[%d].name", i), Text: fmt.Sprintf("%q stands twice", tier.Name)})
		}
		seen[tier.Name] = true
	}
	return ps
}

func (t Tier) problems() []Problem {
	var ps []Problem
	if err := protocol.CheckTierName(t.Name); err != nil {
		ps = append(ps, Problem{Key: "name", Text: err.Error()})
	}
	if t.Count < 1 || t.Count > maxTierCount {
		ps = append(ps, Problem{Key: "count", Text: fmt.Sprintf("%d is not from 1 to %d", t.Count, maxTierCount)})
	}
	if strings.TrimSpace(t.Exec) == "" {
		ps = append(ps, Problem{Key: "exec", Text: "the command is missing"})
	} else if !isText(t.Exec) {
		ps = append(ps, Problem{Key: "exec", Text: fmt.Sprintf("the command %q contains control characters or bytes that are not UTF-8", t.Exec)})
	}
	return ps
}

func isCommit(s string) bool { return regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(s) }
