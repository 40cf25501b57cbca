package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// AskTrace is the question by which a node asks another one what only that node knows of some
// messages: when they came there, and what its agents did with them. A host whose version does not
// know the question says so.
const AskTrace Name = "trace"

// The bounds of a question and of an answer, so that neither costs much.
const (
	// MaxTraced is the number of messages that one question may be about.
	MaxTraced = 16
	// MaxTraceSteps is the number of steps that an answer tells of one message. If there are more,
	// it tells the last ones.
	MaxTraceSteps = 64
	maxTraceWord  = 64 // bytes of one word: no name is longer
)

// The steps of a message of which hosts tell each other.
const (
	TraceStored   = "stored"   // it is on the disk of the host that wrote it
	TraceCame     = "came"     // it is on the disk of another host; By is the way by which it came
	TraceHeard    = "heard"    // another host says that it has it; By is that host
	TraceRecorded = "recorded" // it is committed on the host that answers
	TracePushed   = "pushed"   // the remote has it
	TraceQueued   = "queued"   // it is to be handled for an agent
	TraceStarted  = "started"  // the agent's command is about to start
	TraceEnded    = "ended"    // the command has ended, or could not be started
	TraceAgain    = "again"    // it is to be tried again
	TraceStopped  = "stopped"  // the agent is not run, because agents have answered each other too often
	TraceWaits    = "waits"    // it waits for the agent at the time of asking; By says for what
	TraceWoken    = "woken"    // the program of a session of the agent took the bell for it
	TraceHides    = "hides"    // the message is a redaction, and the host hides the text
	TraceAtWork   = "at-work"  // the agent works on it at the time of asking
	TraceHinders  = "hinders"  // something else is in the way there at the time of asking; By is a word for it. Earlier versions tell none
)

// TraceStep is one step of a message on a host. Fields that do not fit the step are empty.
type TraceStep struct {
	Time    time.Time     `json:"time,omitzero"` // by the clock of that host
	Step    string        `json:"step"`
	Agent   Name          `json:"agent,omitempty"`
	By      string        `json:"by,omitempty"` // which host, or which way
	Retry   int           `json:"retry,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Tier    string        `json:"tier,omitempty"`
	Failure string        `json:"failure,omitempty"`
	Exit    int           `json:"exit,omitempty"`
	Ran     time.Duration `json:"ran,omitempty"` // nanoseconds
	Bytes   int           `json:"bytes,omitempty"`
	Next    time.Time     `json:"next,omitzero"`
	Text    string        `json:"text,omitempty"` // of waits, at-work and hinders: what else there is to say; at most 512 bytes
}

// Waits is why a session of an agent program does not take up its mail, or does not go on with it.
// Hosts tell it each other as they tell that they are there, and keep it nowhere.
type Waits struct {
	For string `json:"for"` // "human": its program asks its human something; "turns": mail has begun as many turns of it as it may within an hour; "turn": it is idle, and nothing wakes it
	// Time is since when it waits for its human, or is idle; of turns, until when mail begins none.
	Time time.Time `json:"time"`
}

// What a session can wait for.
const (
	WaitsForHuman = "human"
	WaitsForTurns = "turns"
	WaitsForTurn  = "turn"
)

// Trace is the steps of one message.
type Trace struct {
	Path  Path        `json:"path"`
	Steps []TraceStep `json:"steps"`
}

type traceQuestion struct {
	Paths []Path `json:"paths"`
}

// EncodeTraceQuestion writes a question about the first MaxTraced of the messages.
func EncodeTraceQuestion(of []Path) ([]byte, error) {
	return json.Marshal(traceQuestion{of[:min(len(of), MaxTraced)]})
}

// DecodeTraceQuestion reads what EncodeTraceQuestion writes.
func DecodeTraceQuestion(data []byte) ([]Path, error) {
	var q traceQuestion
	err := json.Unmarshal(data, &q)
	switch {
	case err != nil:
	case len(q.Paths) > MaxTraced:
		err = fmt.Errorf("%d messages are more than %d", len(q.Paths), MaxTraced)
	default:
		err = checkTraced(q.Paths)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read which messages are to be traced: %w", err)
	}
	return q.Paths, nil
}

func checkTraced(paths []Path) error {
	if slices.ContainsFunc(paths, Path.IsZero) {
		return errors.New("one has no path")
	}
	return nil
}

// EncodeTraces writes an answer, cut to its bounds.
func EncodeTraces(traces []Trace) ([]byte, error) { return json.Marshal(boundedTraces(traces)) }

// DecodeTraces reads what EncodeTraces writes. It leaves out what is above the bounds.
func DecodeTraces(data []byte) ([]Trace, error) {
	var traces []Trace
	err := json.Unmarshal(data, &traces)
	if err == nil {
		traces = boundedTraces(traces)
		for _, t := range traces {
			err = errors.Join(err, checkTraced([]Path{t.Path}))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read what a host knows of messages: %w", err)
	}
	return traces, nil
}

func boundedTraces(traces []Trace) []Trace {
	bounded := make([]Trace, min(len(traces), MaxTraced))
	for i := range bounded {
		t := traces[i]
		steps := make([]TraceStep, min(len(t.Steps), MaxTraceSteps))
		copy(steps, t.Steps[len(t.Steps)-len(steps):])
		for k := range steps {
			s := &steps[k]
			for _, word := range []*string{&s.Step, &s.By, &s.Tier, &s.Failure, (*string)(&s.Agent)} {
				*word = shortText((*word)[:min(len(*word), maxTraceWord)])
			}
			s.Text = shortText(s.Text)
		}
		bounded[i] = Trace{t.Path, steps}
	}
	return bounded
}

// Stage says how far a message has come, as one node knows it. A message's stage is the last one
// that holds. Earlier stages need not hold.
type Stage int

// The six stages, in order.
const (
	StageNone     Stage = iota
	StageStored         // fsynced on this host
	StageHeard          // other hosts have fsynced it
	StageRecorded       // in a commit of this host's record
	StagePushed         // on the shared remote
	StageRead           // the addressee's receipt is in
	StageAnswered       // a reply refers to it
)

// stageNames are the words for stages, the same wherever they are shown.
func stageNames() [7]string {
	return [7]string{"", "stored", "heard", "recorded", "pushed", "read", "answered"}
}

// String returns the stage's word, "" for StageNone.
func (s Stage) String() string {
	if s < StageNone || s > StageAnswered {
		return fmt.Sprintf("stage(%d)", int(s))
	}
	return stageNames()[s]
}

// MarshalText returns the stage's word.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a stage's word.
func (s *Stage) UnmarshalText(text []byte) error {
	for i, name := range stageNames() {
		if name == string(text) {
			*s = Stage(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not a stage", text)
}
