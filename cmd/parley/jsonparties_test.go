package main

import (
	"github.com/parleyfleet/parley/cmd/parley/mesh"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// partyShapes are what the commands of parties print.
func partyShapes() map[string][]shape {
	one := func(value any) []shape { return []shape{{value: value}} }
	deed, whole := one(examplePartyDeed()), one(exampleParty())
	shapes := map[string][]shape{
		"parley party organize":       deed,
		"parley party invite":         deed,
		"parley party leave":          deed,
		"parley party lease":          deed,
		"parley party accept":         deed,
		"parley party agree":          deed,
		"parley party join":           deed,
		"parley party reject":         deed,
		"parley party remove":         deed,
		"parley party task add":       deed,
		"parley party task done":      deed,
		"parley party task give-back": deed,
		"parley party task take":      deed,
		"parley party list":           one(control.PartyList{Me: "skills", Chosen: "folder", Current: examplePath("b2c3d4e5").String(), Parties: []control.Party{exampleParty()}}),
		"parley party rules":          {{value: protocol.DefaultPartyRules(), when: "without a rule"}, {value: examplePartyDeed(), when: "with one"}},
		"parley party use":            whole,
		"parley who":                  {{value: []control.Participant{exampleParticipant()}}, {value: exampleParty(), when: "with a party"}},
		"parley work-with who":        whole,
		"parley party recap":          whole,
		"parley party tell":           one(exampleTold()),
		"parley party recruit": {
			{value: control.RecruitList{
				Agents:   []control.Recruit{{Name: "mawui", Host: "white", Live: true, Standing: "invited"}},
				Contacts: []control.RecruitContact{{Name: "kit", Node: "oracle-world"}},
			}, when: "without an agent"},
			{value: examplePartyDeed(), when: "with one"},
		},
		"parley party mesh":      {{value: exampleMesh()}, {value: exampleMeshChange(), lines: true, when: "with `--watch`, the first one whole, then what changes"}},
		"parley party team":      one(exampleTeam()),
		"parley party task list": one([]control.PartyTask{examplePartyTask()}),
		"parley gates":           one(control.GateList{Human: "zoe", HasKey: true, Gates: []control.Gate{exampleGate()}}),
		"parley gates accept":    one(exampleAccepted()),
		"parley gates reject":    one(exampleGate()),
		"parley gates defer":     one(exampleGate()),
	}
	for _, verb := range []string{"organize", "invite", "tell", "leave"} { // the names of the seed
		shapes["parley work-with "+verb] = shapes["parley party "+verb]
	}
	return shapes
}

func examplePartyTask() control.PartyTask {
	return control.PartyTask{
		Task: party.Task{
			Label: "T1", Path: examplePath("b2c3d4f1"), Text: "Write the restart test", By: "skills", Time: exampleTime(0), Taker: protocol.Address{Name: "mawui", Host: "white"},
			Until: exampleTime(2), Lapsed: true,
		},
		State: "taken", Outcome: "it is in the tree", Done: exampleTime(2),
	}
}

// exampleGate has a value in each field. No real gate has that.
func exampleGate() control.Gate {
	return control.Gate{
		ID: "b2c3d4e6", Path: examplePath("b2c3d4e6").String(), For: "invite", Title: "invite of mawui@white", Party: "tmux design", Channel: examplePath("b2c3d4e6").Channel().String(),
		By: "skills", Human: "nat", Whom: "mawui@white", Host: "white", Deciders: []protocol.Name{"zoe"}, Here: true, NoKey: true, Outcome: "deferred", Time: exampleTime(0),
		AnswerBy: exampleTime(2), Until: exampleTime(2), Reason: "after standup", DecidedBy: "zoe", Decided: exampleTime(1), Answer: examplePath("b2c3d4e7").String(),
		Asker: exampleAsker(), Seen: exampleAsker().Text(), Proof: "own-key", Shown: "PARTY INVITE | topic: tmux design\n…", Hash: exampleHash, File: "LS0t…", TakesBack: exampleHash,
	}
}

// exampleAsker has a value in each field. No real asker has that.
func exampleAsker() protocol.Asker {
	return protocol.Asker{
		Agent: "skills", Human: "nat", Host: "oracle-world", Key: "SHA256:9f86…", Since: exampleTime(0), Vouched: "white", Founder: true, HumanKey: "SHA256:d081…",
		Undeclared: true, Claims: "mia", Namesakes: []string{"human nat@black"}, More: 1,
	}
}

// exampleAccepted is a gate at which a human agreed that others are told.
func exampleAccepted() control.Gate {
	g := exampleGate()
	g.For, g.Title, g.Announced = "broadcast", "skills wants to tell agents of other hosts", exampleAnnouncement()
	return g
}

// exampleAnnouncement has a value in each field. No real announcement has that.
func exampleAnnouncement() *control.Announcement {
	return &control.Announcement{
		Tier: "fleet", Text: "📢 BROADCAST: …", Message: examplePath("b2c3d4f3").String(), To: []control.ToldOne{{Who: "mawui@white", Outcome: "delivered"}},
		Skipped: "it was to be quiet", Gate: "b2c3d4e6",
	}
}

// exampleParty has a value in each field. No real party has that.
func exampleParty() control.Party {
	decayed := protocol.NewScore(0.84)
	return control.Party{
		Name: "tmux design", Slug: "tmux-design", Short: "tmux-design-0f1e2d3c", Channel: examplePath("b2c3d4e5").Channel(), Organized: examplePath("b2c3d4e5").String(), Host: "oracle-world",
		State: "active", Current: true, Leader: "nat", Via: "skills", Team: "fleet-core", Anchor: "nat/maw-js#332", AnchorURL: "https://github.com/nat/maw-js/issues/332",
		Rules: protocol.DefaultPartyRules(), Created: exampleTime(0), LastActivity: exampleTime(1), Ended: exampleTime(2),
		Members: []control.PartyMember{{
			Member: party.Member{Name: "mawui", Host: "white", Note: "a long build", Joined: exampleTime(0), Since: exampleTime(1)}, Status: "busy", Role: "member", Raw: protocol.NewScore(0.88), Decayed: decayed, Colour: "amber", Lambda: 0.01,
			LastSync: exampleTime(1), Trust: "high", Sparkline: []float64{0.7, 0.84}, Stale: true, OutOfSync: true, Resync: true, Heard: exampleTime(1), Connected: true,
		}},
		Gates: []control.Gate{exampleGate()},
		Proposals: []control.PartyProposal{{
			Proposal: party.Proposal{
				Label: "A1", Path: examplePath("b2c3d4e8"), Text: "Panes are named after agents", By: "skills", Time: exampleTime(0), Mode: "all",
				Voters: []protocol.Address{{Name: "skills", Host: "oracle-world"}, {Name: "mawui", Host: "white"}},
				Votes:  []party.Vote{{Who: protocol.Address{Name: "mawui", Host: "white"}, Accept: true, Reason: "it reads well", Time: exampleTime(1), Path: examplePath("b2c3d4e9")}},
			},
			Outcome: party.Pending,
		}},
		Tasks: []control.PartyTask{examplePartyTask()},
		Leases: []*party.Lease{{
			Path: examplePath("b2c3d4ea"), Holder: protocol.Address{Name: "mawui", Host: "white"}, Things: []string{"src/panes"}, Fence: 3, Time: exampleTime(0), Until: exampleTime(2), Reason: "I split it",
		}},
		Left: []party.Departure{{
			Member: party.Member{Name: "kit", Host: "white", Note: "gone home", Joined: exampleTime(0), Since: exampleTime(1)}, Time: exampleTime(1), By: "nat", Reason: "another team", Removed: true,
			Path: examplePath("b2c3d4eb"),
		}},
		Synced: 1, Mean: decayed, SyncDue: true,
		Void: []control.TopicVoid{{Word: exampleWord("mallory", "", "b2c3d4ec"), Act: "party-accept", Why: "a human of white decides it, and black is another host"}},
	}
}

func examplePartyDeed() control.PartyDeed {
	gate := exampleGate()
	return control.PartyDeed{
		Me: "skills", Chosen: "only", Messages: []string{examplePath("b2c3d4e6").String()}, Party: exampleParty(), Gate: &gate, Failed: []string{"kit@black: no host is called \"black\""},
		Announced: exampleAnnouncement(), Comments: []control.IssueComment{*exampleComment()},
		Plan: control.PartyPlan{
			Me: "skills", Leader: "nat", Party: examplePath("b2c3d4e5").String(), Act: "invite", Decides: "invite mawui@white to …", With: []string{"mawui@white"},
			Anchor: "nat/maw-js#332", Consent: true, At: exampleTime(0),
		},
	}
}

func exampleTold() control.Told {
	return control.Told{
		Me: "skills", Chosen: "only", Party: "tmux design", Message: examplePath("b2c3d4f2").String(),
		To: []control.ToldOne{{Who: "mawui@white", Outcome: "failed", Why: "the host white does not serve \"mawui\""}}, Comment: exampleComment(),
	}
}

func exampleComment() *control.IssueComment {
	c := exampleIssueComment()
	return &c
}

// exampleMesh has a value in each field. No whole mesh has that.
func exampleMesh() control.Mesh {
	channel := examplePath("b2c3d4e5").Channel()
	return control.Mesh{
		Nodes: []control.MeshNode{
			{ID: "mawui", Label: "mawui", Type: "agent", Data: control.MeshNodeData{Node: "white", Status: "busy", Trust: "high", LastSync: exampleTime(1)}},
		},
		Edges: []control.MeshEdge{{ID: channel.String() + "/mawui@white/forward", Source: "skills", Target: "mawui", Data: control.MeshEdgeData{
			Direction: "forward", Party: "tmux-design", Channel: channel, Leader: "nat@oracle-world", Topic: "tmux design", Anchor: "nat/maw-js#332", Team: "fleet-core",
			Role: "member", Trust: "high", Synced: true, Raw: 0.88, Decayed: 0.84, Lambda: 0.01, LastSync: exampleTime(1), Observer: "skills", ObserverNode: "oracle-world",
			Colour: "amber", Opacity: 0.856, Dashed: true, Sparkline: []float64{0.7, 0.84},
		}}},
		Time: exampleTime(2),
	}
}

func exampleMeshChange() control.Mesh {
	m := exampleMesh()
	m.Gone = &control.MeshGone{Nodes: []string{"kit"}, Edges: []string{examplePath("b2c3d4e5").Channel().String() + "/kit@white/forward"}}
	return m
}

func exampleTeam() mesh.Team {
	mean := 0.84
	return mesh.Team{
		Team: "fleet-core", Members: []string{"mawui", "skills"}, Synced: 1, Pairs: 2, Sync: mean,
		Parties: []mesh.TeamParty{{Party: "tmux design", Short: "tmux-design", Members: 2, Invited: 1, Synced: 1, Sync: protocol.NewScore(mean), Status: "active"}},
	}
}
