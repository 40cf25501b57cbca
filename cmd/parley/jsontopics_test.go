package main

import (
	"github.com/parleyfleet/parley/cmd/parley/with"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// topicShapes are what parley work-with prints.
func topicShapes() []shape {
	list := control.TopicList{Me: "skills", Chosen: "folder", Topics: []control.Topic{exampleTopic()}}
	return []shape{
		{value: exampleRelation(), when: "with a partner alone"},
		{value: exampleTopic(), when: "with a topic, and with `--state` and `--export`"},
		{value: list, when: "with `--list`, `--status`, `--pending`, `--deferred`"},
		{value: with.FleetTopics{TopicList: list, Unheard: []with.UnheardHost{{Host: "black", Last: exampleTime(1)}}}, when: "with `--fleet-status`"},
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

func exampleTopicWord(by, text, path string) control.TopicWord {
	return control.TopicWord{By: by, Time: exampleTime(1), Text: text, Path: examplePath(path).String()}
}

// exampleTopic has a value in each field. No real topic has that.
func exampleTopic() control.Topic {
	raw, decayed, score := 0.95, 0.9, 1.0
	resolved := exampleTopicWord("mawjs", "the node does", "b2c3d4ea")
	return control.Topic{
		Me: "skills", With: "mawjs", WithHost: "white", CrossHost: true, Name: "tmux design", Slug: "tmux-design", Derived: true, Channel: examplePath("b2c3d4e5").Channel(),
		Opened: examplePath("b2c3d4e5").String(), OpenedBy: "skills", Since: exampleTime(0), Terms: 1, Anchor: "nat/maw-js#332",
		AnchorURL: "https://github.com/nat/maw-js/issues/332", Status: "SYNCED", Raw: &raw, Decayed: &decayed, Colour: "green", Mechanical: true, Lambda: 0.01,
		Tier: "intra-soul", LastSync: exampleTime(1), Sparkline: []float64{0.7, 0.9},
		Items: []control.TopicItem{{
			ID: "A1", Path: examplePath("b2c3d4e6").String(), Sort: "agreement", Text: "Heartbeat keys are five", By: "skills", Time: exampleTime(0), Signed: true,
			Phase: "defer", Agreed: true,
			Stands: []control.TopicStand{{
				Who: "mawjs", Phase: "defer", Previous: "pending", Decided: exampleTime(1), Path: examplePath("b2c3d4e7").String(), Signed: true, Reason: "after #222",
				Until: exampleTime(2), AnswerBy: exampleTime(2), TimeoutAt: exampleTime(2),
			}},
			Earlier:  []control.TopicWord{exampleTopicWord("skills", "Heartbeat keys are four", "b2c3d4e6")},
			Resolved: &resolved,
			Validations: []control.TopicValidation{{
				By: "skills", Of: "mawjs", Time: exampleTime(1), Milestone: "sessions", Answer: examplePath("b2c3d4e8").String(), Holds: true, Stale: true,
			}},
		}},
		Awaiting: 1, Put: 1,
		Checks: []control.TopicCheck{{
			Path: examplePath("b2c3d4e9").String(), By: "skills", Of: "mawjs", Time: exampleTime(1), AnswerBy: exampleTime(2), TimedOut: true,
			Prose: examplePath("b2c3d4eb").String(), Answer: examplePath("b2c3d4ec").String(), Answered: exampleTime(1), Signed: true, Mechanical: true, Raw: &raw,
			Counted: 1, Groupthink: true, Rows: []control.CheckRow{{
				ID: "A1", Text: "Heartbeat keys are five", Source: "maw-js#332", Score: &score, Decision: "ACCEPT", Evidence: "notes.md:12", Flag: "contradicts",
			}},
		}},
		Checkpoints: []control.TopicCheckpoint{{
			Path: examplePath("b2c3d4ed").String(), By: "skills", Time: exampleTime(1), Summary: "Keys are settled.", Mechanical: true, Agreements: 1, Pending: 1,
			Score: &raw, Verdicts: []control.TopicWord{exampleTopicWord("mawjs", "Panes are not", "b2c3d4ee")}, Ratified: exampleTime(2), State: "amendment",
		}},
		Closed:    []control.TopicWord{exampleTopicWord("mawjs", "It is built.", "b2c3d4ef")},
		Joins:     []control.TopicWord{exampleTopicWord("volt", "I build the panes.", "b2c3d4f0")},
		Exchanges: []control.TopicWord{exampleTopicWord("nat", "", "b2c3d4f1")},
		Void: []control.TopicVoid{{
			TopicWord: exampleTopicWord("eve", "", "b2c3d4f2"), Act: protocol.ActAccept, Why: "eve takes no part in it",
		}},
	}
}

func exampleIssueNews() control.IssueNews {
	score := 1.0
	return control.IssueNews{
		With: "mawjs", Topic: "tmux design", Issue: "nat/maw-js#332", URL: "https://github.com/nat/maw-js/issues/332", Since: exampleTime(0), Total: 12, More: true,
		Skipped: "gh is not installed (https://cli.github.com)",
		Comments: []control.IssueWord{{
			By: "octocat", Time: exampleTime(1), URL: "https://github.com/nat/maw-js/issues/332#issuecomment-9", Text: "- [A1] SCORE: 1.0 | ACCEPT | EVIDENCE: notes.md:12", Cut: true,
			Scores: []control.SyncLine{{ID: "A1", Text: "Heartbeat keys are five", Raw: &score, Decayed: &score, Decision: "ACCEPT", Evidence: "notes.md:12", Flag: "unanswered"}},
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
