package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// ShowMesh is who is in parties with whom and how far they are in sync, of all hosts, as a
// program draws it (seed, "Mesh Data Contract").
var ShowMesh = NewStream[MeshRequest, Mesh](VerbSpec{
	Name: "mesh", Access: Reads, Doing: "show the mesh", Long: true,
	Doc: "Shows the parties of all hosts as a graph, and with `follow` goes on with what changes.",
}, func(r MeshRequest) bool { return r.Follow })

// MeshRequest asks for the mesh as it is now. With Follow what changes comes after it, each
// time as a mesh that has only what is new or other than before, and what is gone.
type MeshRequest struct {
	Follow bool `json:"follow,omitempty"`
}

// Mesh is a graph of parties: those that have begun and are not over.
type Mesh struct {
	Nodes []MeshNode `json:"nodes"`          // members of parties and the humans who lead them, by id
	Edges []MeshEdge `json:"edges"`          // one for each party and member, and one back where that member has asked too
	Time  time.Time  `json:"ts,omitzero"`    // when it was so, UTC
	Gone  *MeshGone  `json:"gone,omitempty"` // of a change: what is there no more
}

// MeshGone are ids that a mesh does not have any more.
type MeshGone struct {
	Nodes []string `json:"nodes"` // of nodes
	Edges []string `json:"edges"` // of edges
}

// MeshNode is one who takes part. Where it is drawn is not said: that is for who draws it.
type MeshNode struct {
	ID    string       `json:"id"`    // the agent's name, or HUMAN@HOST
	Label string       `json:"label"` // what it is called
	Type  string       `json:"type"`  // agent or human
	Data  MeshNodeData `json:"data"`  // what is known of it
}

// MeshNodeData is what is known of one who takes part, over all its parties.
type MeshNodeData struct {
	Node     protocol.Name `json:"node"`              // its host
	Status   string        `json:"status"`            // active, idle, compacted, away, dormant, hidden or busy; "" of a human
	Trust    string        `json:"trust"`             // high, medium, initial or uncalibrated, by its last sync; "" of a human
	LastSync time.Time     `json:"lastSync,omitzero"` // its last score of all, UTC; when it joined where it has none; absent of a human
}

// MeshEdge is what is between two of a party.
type MeshEdge struct {
	ID     string       `json:"id"`     // it stays the same while there is such an edge
	Source string       `json:"source"` // of forward the agent through which the party is led, of back the member
	Target string       `json:"target"` // whose score it is
	Data   MeshEdgeData `json:"data"`   // how far they are in sync
}

// MeshEdgeData is how far the target of an edge is in sync. What follows from the time alone
// (decayedScore, colour, opacity, dashed, sparkline) is as of the mesh's time, and is no change.
type MeshEdgeData struct {
	Direction    string             `json:"direction"`         // forward: the score of the member, whoever asked; back: that which it was given when it asked
	Party        string             `json:"party"`             // what names the party alone
	Channel      protocol.ChannelID `json:"channel"`           // where the party's words are
	Leader       string             `json:"leader"`            // the node of the human who leads it
	Topic        string             `json:"topic"`             // what the party is called
	Anchor       string             `json:"anchor"`            // the issue that it hangs on; "" for none
	Team         string             `json:"team"`              // the party's tag; "" for none
	Role         string             `json:"role"`              // of the target: initiator or member
	Trust        string             `json:"trust"`             // in the target: high, medium, initial or uncalibrated
	Synced       bool               `json:"synced"`            // there is a score; else what follows says nothing
	Raw          float64            `json:"syncRaw"`           // the last score on the topic, 0 to 1
	Decayed      float64            `json:"decayedScore"`      // what that is worth now
	Lambda       float64            `json:"lambda"`            // how fast it loses its worth, an hour
	LastSync     time.Time          `json:"lastSync,omitzero"` // when it was scored, or the member joined, UTC
	Observer     string             `json:"source"`            // who asked, and so observed the score; "" for nobody
	ObserverNode string             `json:"sourceNode"`        // the host of that one; "" where nobody says
	Colour       string             `json:"colour"`            // green from 0.9, amber from 0.7, cyan from 0.5, else gray
	Opacity      float64            `json:"opacity"`           // 0.1 to 1, by the decayed score
	Dashed       bool               `json:"dashed"`            // the score is older than three half-lives
	Sparkline    []float64          `json:"sparkline"`         // the last seven scores of the member, decayed to now; of back none
}
