package control

import (
	"time"

	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// ShowMesh is who is in parties with whom, and how far they are in sync, on all hosts, in a form
// that a program can draw (seed, "Mesh Data Contract").
var ShowMesh = NewStream[MeshRequest, Mesh](VerbSpec{
	Name: "mesh", Access: Reads, Doing: "show the mesh", Long: true,
	Doc: "Shows the parties of all hosts as a graph, and with `follow` goes on with what changes.",
}, func(r MeshRequest) bool { return r.Follow })

// MeshRequest asks for the mesh as it is now. With Follow, changes come after it. Each is a mesh
// with only what is new or different, and what is gone.
type MeshRequest struct {
	Follow bool `json:"follow,omitempty"`
}

// Mesh is a graph of parties: those that have begun and are not over.
type Mesh struct {
	Nodes []MeshNode `json:"nodes"`          // members of parties and the humans who lead them, by id
	Edges []MeshEdge `json:"edges"`          // one for each party and member, and one back where that member has asked too
	Time  time.Time  `json:"ts,omitzero"`    // the time of this state, UTC
	Gone  *MeshGone  `json:"gone,omitempty"` // of a change: what is no longer there
}

// MeshGone are the ids that a mesh no longer has.
type MeshGone struct {
	Nodes []string `json:"nodes"` // of nodes
	Edges []string `json:"edges"` // of edges
}

// MeshNode is one participant. The program that draws it decides where it is.
type MeshNode struct {
	ID    string       `json:"id"`    // the agent's name, or HUMAN@HOST
	Label string       `json:"label"` // its name
	Type  string       `json:"type"`  // agent or human
	Data  MeshNodeData `json:"data"`  // what is known of it
}

// MeshNodeData is what is known of a participant, over all its parties.
type MeshNodeData struct {
	Node     protocol.Name `json:"node"`              // its host
	Status   string        `json:"status"`            // active, idle, compacted, away, dormant, hidden or busy; "" for a human
	Trust    topic.Trust   `json:"trust"`             // by its last sync; "" for a human
	LastSync time.Time     `json:"lastSync,omitzero"` // time of its last score in any party, UTC; if it has none, when it joined; absent for a human
}

// MeshEdge is the relation of two participants of a party.
type MeshEdge struct {
	ID     string       `json:"id"`     // it stays the same as long as there is such an edge
	Source string       `json:"source"` // of a forward edge, the agent through which the party is led; of a back edge, the member
	Target string       `json:"target"` // the one whose score it is
	Data   MeshEdgeData `json:"data"`   // how far they are in sync
}

// MeshEdgeData is how far the target of an edge is in sync. Fields that depend on time
// (decayedScore, colour, opacity, dashed, sparkline) are as of the mesh's time. If only they
// change, there is no change to tell.
type MeshEdgeData struct {
	Direction    string             `json:"direction"`         // forward: the score of the member, whoever asked; back: the score that the member was given when it asked
	Party        string             `json:"party"`             // what identifies the party
	Channel      protocol.ChannelID `json:"channel"`           // the channel of the party
	Leader       string             `json:"leader"`            // the node of the human who leads it
	Topic        string             `json:"topic"`             // the name of the party
	Anchor       string             `json:"anchor"`            // the issue of the party; "" for none
	Team         string             `json:"team"`              // the party's tag; "" for none
	Role         string             `json:"role"`              // of the target: initiator or member
	Trust        topic.Trust        `json:"trust"`             // the trust in the target
	Synced       bool               `json:"synced"`            // there is a score; otherwise the fields below mean nothing
	Raw          float64            `json:"syncRaw"`           // the last score on the topic, 0 to 1
	Decayed      float64            `json:"decayedScore"`      // what that score is worth now
	Lambda       float64            `json:"lambda"`            // how fast it loses its worth: the λ of the decay, for each hour
	LastSync     time.Time          `json:"lastSync,omitzero"` // when it was scored, or when the member joined, UTC
	Observer     string             `json:"source"`            // the one who asked, and so observed the score; "" for nobody
	ObserverNode string             `json:"sourceNode"`        // the host of that one; "" if it is not known
	Colour       topic.Colour       `json:"colour"`            // green from 0.9, amber from 0.7, cyan from 0.5, else gray
	Opacity      float64            `json:"opacity"`           // 0.1 to 1, by the decayed score
	Dashed       bool               `json:"dashed"`            // the score is older than three half-lives
	Sparkline    []float64          `json:"sparkline"`         // the last seven scores of the member, decayed to now; empty on a back edge
}
