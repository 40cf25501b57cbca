package main

import (
	"github.com/parleyfleet/parley/cmd/parley/with"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// topicShapes are what parley work-with prints.
func topicShapes() []shape {
	list := control.TopicList{Me: "skills", Chosen: "folder", Topics: []control.Topic{exampleTopic()}}
	return []shape{
		{value: exampleRelation(), when: "with a partner alone"},
		{value: exampleTopic(), when: "with a topic, and with `--state`"},
		{value: list, when: "with `--list`, `--status`, `--deferred`"},
		{value: with.FleetTopics{TopicList: list, Unheard: []with.UnheardHost{{Host: "black", Last: exampleTime(1)}}}, when: "with `--fleet-status`"},
		{value: with.Pending{TopicList: list, Invites: []control.Gate{}}, when: "with `--pending`"},
		{value: with.Recap{TopicList: list, Issues: []control.IssueNews{exampleIssueNews()}}, when: "with `--recap`"},
		{value: exampleSweep(), when: "with `--sweep-timeouts`"},
		{value: exampleMesh(), when: "with `--mesh-json`"},
		{value: exampleTeam(), when: "with `--team`"},
		{value: exampleDone(), when: "with what does something, such as `--accept`"},
		{value: []with.Done{exampleDone()}, when: "with `--checkpoint` and `--forward`"},
		{value: *examplePartyDeed().Announced, when: "with `--broadcast`"},
		{value: exampleIssueComment(), when: "with `--persist` alone"},
	}
}

func exampleWord(by, text, path string) topic.Word {
	return topic.Word{By: by, Time: exampleTime(1), Text: text, Path: examplePath(path)}
}

// exampleTopic has a value in each field. No real topic has that.
func exampleTopic() control.Topic {
	raw, lambda, resolved := protocol.NewScore(0.95), topic.Lambda{Value: 0.01, Tier: topic.TierIntra}, exampleWord("mawjs", "the node does", "b2c3d4ea")
	return control.Topic{
		Head: topic.Head{
			Opened: examplePath("b2c3d4e5"), Name: "tmux design", Slug: "tmux-design", Derived: true, Since: exampleTime(0), Anchor: "nat/maw-js#332",
			Closed: []topic.Word{exampleWord("mawjs", "It is built.", "b2c3d4ef")}, Joins: []topic.Word{exampleWord("volt", "I build the panes.", "b2c3d4f0")},
		},
		Me: "skills", With: "mawjs", WithHost: "white", CrossHost: true, Channel: examplePath("b2c3d4e5").Channel(), OpenedBy: "skills", Terms: 1,
		AnchorURL: "https://github.com/nat/maw-js/issues/332", Status: topic.Synced, Raw: raw, Decayed: protocol.NewScore(0.9), Colour: topic.Green, Mechanical: true, Unverified: true,
		Lambda: lambda, LastSync: exampleTime(1), Sparkline: []float64{0.7, 0.9},
		Items: []control.TopicItem{{
			Item: topic.Item{
				Label: "A1", Path: examplePath("b2c3d4e6"), Sort: topic.Agreement, By: "skills", Time: exampleTime(0), Signed: true,
				Stands: []topic.Stand{{
					Who: "mawjs", Phase: topic.Deferred, Previous: topic.Pending, Decided: exampleTime(1), Path: examplePath("b2c3d4e7"), Signed: true, Reason: "after #222",
					Until: exampleTime(2), AnswerBy: exampleTime(2), TimeoutAt: exampleTime(2),
				}},
				Resolved: &resolved,
				Validations: []*topic.Validation{{
					Path: examplePath("b2c3d4f3"), By: "skills", Of: "mawjs", Time: exampleTime(1), Milestone: "sessions", AnswerBy: exampleTime(2), Answer: examplePath("b2c3d4e8"),
					Holds: true, Stale: true,
				}},
			},
			Text: "Heartbeat keys are five", Phase: topic.Deferred, Agreed: true, Earlier: []topic.Word{exampleWord("skills", "Heartbeat keys are four", "b2c3d4e6")},
		}},
		Awaiting: 1, Put: 1,
		Checks: []control.TopicCheck{{
			Check: topic.Check{Path: examplePath("b2c3d4e9"), By: "skills", Of: "mawjs", Time: exampleTime(1), AnswerBy: exampleTime(2), TimedOut: true},
			Prose: examplePath("b2c3d4eb"), Answer: examplePath("b2c3d4ec"), Answered: exampleTime(1), Signed: true, Mechanical: true, Raw: raw,
			Counted: 1, Groupthink: true, Rows: []topic.Row{exampleRow()},
		}},
		Checkpoints: []control.TopicCheckpoint{{
			Checkpoint: topic.Checkpoint{
				Path: examplePath("b2c3d4ed"), By: "skills", Time: exampleTime(1), Signed: true, Summary: "Keys are settled.", Mechanical: true, Agreements: 1, Pending: 1,
				Score: raw, Verdicts: []topic.Verdict{{Word: exampleWord("mawjs", "Panes are not", "b2c3d4ee"), Act: protocol.ActAmendment}},
			},
			Ratified: exampleTime(2), State: protocol.ActAmendment,
		}},
		Exchanges: []topic.Word{exampleWord("nat", "", "b2c3d4f1")},
		Void:      []control.TopicVoid{{Word: exampleWord("eve", "", "b2c3d4f2"), Act: protocol.ActAccept, Why: "eve takes no part in it"}},
	}
}

func exampleRow() topic.Row {
	claim := protocol.Claim{ItemRef: protocol.ItemRef{Topic: "tmux-design", Label: "A1", Text: "Heartbeat keys are five"}, Source: "maw-js#332"}
	return topic.Row{ClaimOf: topic.ClaimOf{ItemRef: claim.ItemRef, Source: claim.Source}, Score: protocol.NewScore(1), Decision: protocol.DecisionAccept, Evidence: "notes.md:12", Flag: topic.Contradiction}
}

func exampleLine() control.SyncLine {
	return control.SyncLine{Row: exampleRow(), Raw: protocol.NewScore(1), Decayed: protocol.NewScore(0.9)}
}

func exampleIssueNews() control.IssueNews {
	return control.IssueNews{
		With: "mawjs", Topic: "tmux design", Issue: "nat/maw-js#332", URL: "https://github.com/nat/maw-js/issues/332", Since: exampleTime(0), Total: 12, More: true,
		Skipped: "gh is not installed (https://cli.github.com)",
		Comments: []control.IssueWord{{
			By: "octocat", Time: exampleTime(1), URL: "https://github.com/nat/maw-js/issues/332#issuecomment-9", Text: "- [A1] SCORE: 1.0 | ACCEPT | EVIDENCE: notes.md:12", Cut: true,
			Scores: []control.SyncLine{exampleLine()}, Mail: examplePath("b2c3d4f5").String(),
		}},
	}
}

func exampleIssueComment() control.IssueComment {
	return control.IssueComment{
		Issue: "nat/maw-js#332", URL: "https://github.com/nat/maw-js/issues/332#issuecomment-10", Messages: []string{examplePath("b2c3d4e7").String()}, Again: true,
		Skipped: "gh is not signed in: gh auth login",
	}
}

func exampleDone() with.Done {
	comment := exampleIssueComment()
	return with.Done{Comment: &comment, TopicDeed: control.TopicDeed{
		ByIssue: true,
		Me:      "skills", Chosen: "folder", Messages: []string{examplePath("b2c3d4e7").String()}, Items: []string{"A1"}, Validate: []string{"A2"}, Topic: exampleTopic(),
	}}
}

func exampleImport() with.Imported {
	return with.Imported{
		Folder: "ψ/memory/collaborations",
		Topics: []with.ImportedTopic{{
			With: "mawjs", Name: "tmux design", Opened: true, Why: "nobody is called mawjs",
			Items: []with.ImportedItem{{ID: "A1", Text: "Heartbeat keys are four", Taken: true, Why: "it was declined"}},
		}},
		Kept: []with.Kept{{File: "mawjs/topics/tmux-design.md", What: "line 12 below \"notes\"", Why: "it has no form that is known"}},
	}
}

func exampleSweep() control.Sweep {
	return control.Sweep{
		Me: "skills", Chosen: "folder", Folder: "/home/nat/skills/ψ/memory/collaborations", Files: []string{"mawjs/topics/tmux-design.state.json"},
		TimedOut: []control.SweptItem{{
			Topic: "tmux design", With: "mawjs", ID: "A2", Text: "Pane titles include the team tag", Who: "mawjs", TimeoutAt: exampleTime(2), New: true,
		}},
	}
}

func exampleRelation() control.Relation {
	return control.Relation{
		Me: "skills", Chosen: "folder", With: "mawjs", Host: "white", Node: "white", Transport: "wormhole", Since: exampleTime(0), Trust: "high", Sessions: 6, Messages: 40, TeachGiven: 2,
		TeachReceived: 3, Dissents: 1, Prose: "## Working Style\nCitation-heavy.", Soul: "other", Topics: []control.Topic{exampleTopic()},
	}
}
