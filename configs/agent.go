package configs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	Session    string        // the agent program whose sessions in Dir speak as this agent, such as "claude"; "": none
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

// parseTakeover reads for how long a host must be gone before its work is taken over: a duration
// such as 10m, or "never".
func parseTakeover(s string) (time.Duration, error) {
	if s == "never" {
		return protocol.NoTakeover, nil
	}
	return span.Parse(s)
}

// ShowTakeover is the text that parseTakeover reads.
func ShowTakeover(after time.Duration) string {
	if after == protocol.NoTakeover {
		return "never"
	}
	return span.Exact(after)
}

// maxTierCount is less than protocol.MaxTierCount, the most that a reader takes.
const maxTierCount = 1000

// DefaultTier is the tier of an agent that was given one command.
const DefaultTier = "default"

// AgentSettings are all settings of an agent, in the order of its file.
func AgentSettings(a *Agent) []Setting {
	const noCommand = "an agent behind the inbox door runs no command"
	exec := func() bool { return a.Door != DoorInbox } // also if its door is wrong: then nothing else is said
	inbox := func() bool { return a.Door != DoorExec }
	command := func() bool { return exec() || a.Wake != "" }
	return []Setting{
		nameSetting("name", &a.Name).checked(needed(&a.Name, "the agent")),
		matchSetting("door", &a.Door, "", "exec|inbox", "is not a door: use exec or inbox").shown("door"),
		inboxSetting(a),
		pathSetting("dir", &a.Dir).flag("dir", "the folder it works in (default of agent add: this one)").or("where the node runs"),
		wordSetting("preset", &a.Preset).shown("preset"),
		matchSetting("session", &a.Session, "", "(claude|codex)?", "is no agent program whose sessions parley knows: use claude or codex").
			flag("session", "the agent `PROGRAM` whose sessions in --dir speak as this agent: claude or codex; implies --inbox").or("none").
			counts(inbox, "an agent behind the exec door is run for each message: no session speaks as it"),
		choiceSetting("input", &a.Input, "is not what a command can be given", InputText, InputPrompt).
			flag("input", "what the command is given: text or prompt (default text, or as the preset says)").counts(exec, "an agent behind the inbox door is given nothing: it asks"),
		nameSetting("profile", &a.Profile).flag("profile", "the actor profile that its prompts begin with (default: the one of its name, if any)").or("the one with its name, if there is one"),
		execSetting(a),
		tiersSetting(a).counts(exec, noCommand+" and has no tiers"),
		wordSetting("open", &a.Open).flag("open", "the command of its interactive program, for parley agent open"),
		durationSetting("timeout", &a.Timeout, 0, 0, maxTimeout).
			flag("timeout", "how long an answer may take, a `DURATION` (default: as the preset or config.yaml says)").or("as config.yaml says").counts(command, ""),
		numberSetting("attempts", &a.Attempts, 0, 1, maxAttempts).
			flag("attempts", "how often a command that fails is started for a message, `N` times (default 3)").or(strconv.Itoa(DefaultAttempts)).counts(exec, noCommand+": there is nothing to try again"),
		choiceSetting("rerun", &a.Rerun, "does not say what becomes of a run that was cut short", RerunAgain, RerunAsk).
			flag("rerun", "what becomes of a message whose run ended with its node: `again` or ask (a dead letter)").counts(exec, noCommand+": there is nothing to run again"),
		boolSetting("paused", &a.Paused).shown("paused").counts(exec, ""),
		boolSetting("answers", &a.RunReplies).flag("answers", "run it on answers to its own messages too (--answers=false: no more)").counts(exec, ""),
		choiceSetting("accepts", &a.Accepts, "is not whose mail an agent can accept", AcceptAnyone, AcceptVerified).
			flag("accepts", "whose mail its command is run for: anyone (the default), or verified, what a host\nsigned that serves its author").
			counts(exec, noCommand+": it decides itself what it works on"),
		listSetting("wakes_on", &a.WakesOn, asIs[protocol.Act], toText[protocol.Act]).commas().checked(a.checkWakesOn).
			flag("wakes-on", "the `ACTS` that its command is run for, such as hey,tell; see docs/reference/acts.md").or("the usual acts").counts(exec, noCommand+": nothing wakes it"),
		matchSetting("examiner", &a.Examiner, "", "(mechanical)?", "does not say who answers sync-checks: use mechanical, or leave it out for the agent itself").
			flag("examiner", "who answers sync-checks: mechanical, the node by what the agent wrote (default: the agent itself)").or("the agent itself"),
		nameSetting("soul", &a.Soul).flag("soul", "whose it is, a `NAME`: scores between agents of one soul fade more slowly (default: the human of its host)"),
		matchSetting("run_as", &a.RunAs, "", `([A-Za-z0-9._][A-Za-z0-9._-]{0,31})?`, "is not the name of a user, nor a number of one").
			flagIn(true, false, "run-as", "the `USER` of this machine as whom its command runs; only where the node runs as root, on Linux").
			or("the user of the node").counts(exec, noCommand+": there is nothing to run as somebody"),
		variablesSetting("env", &a.Env).flag("env", "a `VARIABLE` of the environment that its command gets, NAME, PREFIX* or NAME=VALUE; without any it gets\nthose of its preset, else all that belong to no session").
			or("all").counts(command, noCommand+", unless it has one at wake: there is nothing to give variables to"),
		limitsSetting("limits", &a.Limits).flag("limit", "what a run may use, as `NAME=VALUE`, such as memory=2GB").
			or("none").counts(command, noCommand+", unless it has one at wake: there is nothing to limit"),
		wordSetting("wake", &a.Wake).flag("wake", "with --inbox, the command that wakes its program where mail has come").
			or("nobody").counts(inbox, "an agent behind the exec door is run for each message: there is nothing to wake"),
		quietSetting("quiet", &a.Quiet).
			flag("quiet", "a span of quiet `HOURS`, such as 22:00-07:00, in which it is not woken, and not run for what agents cause").or("none"),
		takeoverSetting("takeover_after", &a.TakeoverAfter).
			flag("takeover-after", "where several hosts serve the agent: how long this one must be gone before\nanother does its work, a `DURATION` or never (default 10m)").
			or(span.Exact(protocol.DefaultTakeover)),
		matchSetting("dispatch_since", &a.DispatchSince, "", "([0-9a-f]{40})?", "is not a commit: it should be 40 hex digits"),
		timeSetting("added", &a.Added),
	}
}

func (a *Agent) checkWakesOn() error {
	return errors.Join(twice(a.WakesOn), checkEach(a.WakesOn, func(act protocol.Act) error {
		spec, known := protocol.FindAct(act)
		return wrongIf(!known || !act.Mail(), "%q %s: use some of %s", act, whyNoWaking(spec, known), strings.Join(wakingActs(), ", "))
	}))
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

// inboxSetting puts the agent behind the inbox door. The file says that by its door.
func inboxSetting(a *Agent) Setting {
	return Setting{IsBool: true, take: func([]string) error {
		a.Door = DoorInbox
		return nil
	}}.flagIn(false, true, "inbox", "no command: the agent asks for its mail")
}

// execSetting is the command of an agent that has only one. The file has it as a tier. People see it
// if the agent works on one message at a time.
func execSetting(a *Agent) Setting {
	return Setting{
		take: func(texts []string) error {
			if len(a.Tiers) == 0 {
				a.Tiers = []Tier{{Name: DefaultTier, Count: 1}}
			}
			a.Door, a.Tiers = DoorExec, []Tier{{Name: a.Tiers[0].Name, Count: a.Tiers[0].Count, Exec: strings.Join(texts, "")}}
			return nil
		},
		text: func() string {
			if !a.isPlain() {
				return ""
			}
			return a.Tiers[0].Exec
		},
	}.flagIn(false, true, "exec", "the command that answers each message")
}

// isPlain reports whether the agent has one command and works on one message at a time.
func (a *Agent) isPlain() bool { return len(a.Tiers) == 1 && a.Tiers[0].Count == 1 }

// tiersSetting is the tiers of the agent. People see them if it is not plain.
func tiersSetting(a *Agent) Setting {
	s := mappingsSetting("tiers", &a.Tiers, tierSettings)
	s.List = true
	s.take = func(texts []string) error {
		var tiers []Tier
		for _, text := range texts {
			head, exec, ok := strings.Cut(text, "=")
			name, count, counted := strings.Cut(head, "*")
			t := Tier{Name: strings.TrimSpace(name), Count: 1, Exec: strings.TrimSpace(exec)}
			var err error
			if counted {
				t.Count, err = strconv.Atoi(strings.TrimSpace(count))
			}
			if !ok || err != nil {
				return fmt.Errorf("%q is not of the form NAME*COUNT=CMD", text)
			}
			tiers = append(tiers, t)
		}
		a.Door, a.Tiers = DoorExec, tiers
		return nil
	}
	s.yaml = func() string {
		var lines strings.Builder
		for i := range a.Tiers {
			lines.WriteString("\n  - " + strings.Join(keyed(tierSettings(&a.Tiers[i]), true), "\n    "))
		}
		return lines.String()
	}
	s.text = func() string {
		var texts []string
		for _, t := range a.Tiers {
			if !a.isPlain() {
				texts = append(texts, t.Name+"*"+strconv.Itoa(t.Count)+"="+t.Exec)
			}
		}
		return strings.Join(texts, ", ")
	}
	return s.checked(func() error {
		var problems []Problem
		for i, tier := range a.Tiers {
			at := fmt.Sprintf("tiers[%d].", i)
			if a.Input != InputPrompt && strings.Contains(tier.Exec, PlaceholderPrompt) {
				problems = append(problems, Problem{Key: at + "exec", Text: "the command asks for " + PlaceholderPrompt + ", but the agent's input is text: set  input: prompt"})
			}
			if slices.ContainsFunc(a.Tiers[:i], func(other Tier) bool { return other.Name == tier.Name }) {
				problems = append(problems, Problem{Key: at + "name", Text: fmt.Sprintf("%q stands twice", tier.Name)})
			}
		}
		if a.Door == DoorExec && len(a.Tiers) == 0 {
			problems = append(problems, Problem{Key: "tiers", Text: "an agent behind the exec door needs at least one tier with a command"})
		}
		return asError("", problems)
	}).flagIn(false, true, "tier", "a tier, as `'NAME*COUNT=CMD'`; *COUNT is 1 where it is left out")
}

func tierSettings(t *Tier) []Setting {
	return []Setting{
		wordSetting("name", &t.Name).checked(func() error { return protocol.CheckTierName(t.Name) }),
		numberSetting("count", &t.Count, 1, 1, maxTierCount),
		wordSetting("exec", &t.Exec).checked(func() error { return wrongIf(strings.TrimSpace(t.Exec) == "", "the command is missing") }),
	}
}

func takeoverSetting(key string, at *time.Duration) Setting {
	return valueSetting(key, at, 0, parseTakeover, ShowTakeover, plainOrQuoted).checked(func() error {
		return wrongIf(*at != 0 && *at != protocol.NoTakeover && (*at < minTakeover || *at > maxTakeover),
			"%s is not from %s to %s", span.Exact(*at), span.Exact(minTakeover), span.Exact(maxTakeover))
	})
}

// Validate returns everything that is wrong with the agent, as one *Error.
func (a Agent) Validate() error { return asError("", a.problems()) }

func (a Agent) problems() []Problem { return wrongIn("", AgentSettings(&a)) }
