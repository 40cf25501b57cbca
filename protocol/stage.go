package protocol

import "fmt"

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
