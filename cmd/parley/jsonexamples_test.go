package main

import (
	"maps"
	"reflect"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/agent"
	"github.com/parleyfleet/parley/cmd/parley/bench"
	"github.com/parleyfleet/parley/cmd/parley/host"
	"github.com/parleyfleet/parley/cmd/parley/install"
	"github.com/parleyfleet/parley/cmd/parley/node"
	"github.com/parleyfleet/parley/cmd/parley/record"
	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/cmd/parley/schema"
	"github.com/parleyfleet/parley/cmd/parley/skill"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

const jsonPreface = `# JSON

Generated from the program's types by ` + "`go test ./cmd/parley -update`" + `.

Every command that reads prints JSON with ` + "`--json`" + `, in one line. For programs that read it:

- A list is an array, never null. What goes on for a time (` + "`log`, `events`, `attach`, `chat`, `logs`" + `) is one value a line.
- A failure is an [Error](#error) on standard error, and the exit code is not 0. What was printed before counts.
- A length of time is a number of seconds, a time is RFC 3339 in UTC. A time that is not known is missing; so is what the tables below
  say may be missing. Everything else is always there, as "", 0, false or [] where there is nothing to say.
- A path names a message whole, with its channel: ` + "`<channel id>/2026/05/23/190100000Z-b2c3d4e5.md`" + `. Beside the id of a channel stands
  its name, "" for one that has none.
- New fields may come with a new version; fields that are there keep their names and meanings. Pass over what you do not know.
`

// printedShapes says what each command with --json prints, by example values. Each field of a type
// must have a value in one of them.
func printedShapes() map[string][]shape {
	message, exchange := exampleMessage(), exampleExchange()
	one := func(value any) []shape { return []shape{{value: value}} }
	lines := func(value any) []shape { return []shape{{value: value, lines: true}} }
	lonely := message
	lonely.Unserved = []string{"volt"}
	sending := []shape{{value: lonely}, {value: exchange, when: "with `--wait`"}}
	channel, memory, served, known := exampleChannel(), exampleMemory(), exampleAgent(), exampleHost()
	all := map[string][]shape{
		everyCommand:                  one(control.Error{Message: `nobody is called "mawj"`, Kind: control.KindNotFound, Hint: "did you mean mawjs? see: parley who"}),
		"parley agent add":            one(served),
		"parley agent list":           one([]control.Agent{served}),
		"parley agent show":           one(control.AgentSettings{Agent: served, Settings: []control.Setting{{Name: "attempts", Value: "3"}}}),
		"parley agent pause":          one(control.ChangedAgent{Agent: served, Changed: []control.SettingChange{{Name: "paused", Was: "false", Now: "true"}}}),
		"parley agent resume":         one(control.ChangedAgent{Agent: served, Changed: []control.SettingChange{{Name: "paused", Was: "true", Now: "false"}, {Name: "over", Was: "3", Now: "0"}}}),
		"parley agent set":            one(control.ChangedAgent{Agent: served, Changed: []control.SettingChange{{Name: "attempts", Was: "3", Now: "5"}}}),
		"parley agent presets":        one([]agent.PresetInfo{examplePreset()}),
		"parley agent profile":        one(control.Profile{Name: "mawjs", Path: "local/actors/mawjs.md", Description: "builds things", Author: "nat", Domain: "engineering", Alias: "Maw", Body: "You build things.", Hash: "7c4a8d09…", State: control.ProfileAccepted}),
		"parley agent profile accept": one(control.Profile{Name: "mawjs", Path: "local/actors/mawjs.md", Description: "builds things", Author: "nat", Domain: "engineering", Alias: "Maw", Body: "You build things.", Hash: "7c4a8d09…", State: control.ProfileAccepted}),
		"parley agent profile add":    one([]agent.SourcedProfile{exampleSourced("written")}),
		"parley agent profile browse": one([]agent.SourcedProfile{exampleSourced("new")}),
		"parley agent profile sync":   one([]agent.SourcedProfile{exampleSourced("written")}),
		"parley agent test":           one(control.TestResult{Agent: "calc", Command: "bc -l", Input: "6*", Answer: "0", Problem: "the command ended with exit code 1", Stderr: "(standard_in) 1: syntax error", Elapsed: control.Seconds(2345 * time.Microsecond)}),
		"parley agent token":          one(control.AgentToken{Agent: "mawjs", Token: "eyJhIjoibWF3anMi….9pYkq8…"}),
		"parley attach":               lines(message),
		"parley bench":                one([]bench.Figure{exampleFigure()}),
		"parley broadcast":            {{value: message}, {value: control.BroadcastUse{Sent: 5, Useful: 4, Share: 0.8}, when: "with `stats`"}},
		"parley channel list":         one([]control.Channel{channel}),
		"parley channel members":      one(channel),
		"parley channel new":          one(channel),
		"parley channel show":         one(channel),
		"parley chat":                 {{value: message, lines: true, when: "from a pipe, the answers"}},
		"parley config check":         one([]node.ConfigProblem{{File: "/home/nat/.local/share/parley/config.yaml", Line: 12, Key: "max_hops", Problem: `"many" is not a whole number`}, {File: "/home/nat/.local/share/parley/config.yaml", Line: 20, Key: "remote", Problem: "the URL holds a password", Warning: true}}),
		"parley config show":          one(exampleConfig()),
		"parley agent cancel":         one([]control.Job{exampleJob()}),
		"parley agent queue":          one([]control.Job{exampleJob()}),
		"parley work-with":            append(topicShapes(), shape{value: exampleSync(), lines: true, when: "with `--sync`"}),
		"parley notify":               one([]configs.Notification{{Way: "desktop", For: []string{"gate"}, Quiet: configs.QuietHours{{From: 22 * 60, To: 7 * 60}}}}),
		"parley notify add":           one(control.TriedNotification{Command: "ntfy https://ntfy.sh/topic", Problem: "it answered 403 Forbidden"}),
		"parley notify remove":        one(control.TriedNotification{Command: "desktop"}),
		"parley notify test":          one([]control.TriedNotification{{Command: "./tell.sh", Problem: "exit-status: curl: (22) …"}}),
		"parley gates key add":        one(exampleHuman()),
		"parley gates key list":       one(control.HumanList{Record: exampleCommit, Host: "white", Here: "nat", Humans: []control.Human{exampleHuman()}}),
		"parley gates key revoke":     one(control.HumanKeyEnd{Human: "nat", Of: "white", Key: exampleKey, Counts: []string{exampleHash}, Path: examplePath("b2c3d4e5").String()}),
		"parley gates key rotate":     one(exampleHuman()),
		"parley fleet policy list":    one([]control.PolicySetting{examplePolicy()}),
		"parley fleet policy set":     one(examplePolicy()),
		"parley import":               one(exampleImport()),
		"parley record schema check":  one([]schema.Checked{{File: "parties/tmux.json", Schema: "party", Valid: true, Problems: []string{"members/0/trust: value must be one of 'high'"}}}),
		"parley record schema list":   one([]schema.SchemaInfo{{Name: "party", Of: "parties/*.json"}}),
		"parley agent skill install":  one([]skill.SkillFile{exampleSkill()}),
		"parley agent skill list":     one([]skill.SkillFile{exampleSkill()}),
		"parley agent skill remove":   one([]skill.SkillFile{exampleSkill()}),
		"parley agent dlq drop":       one(exampleDeadLetter()),
		"parley agent dlq list":       one([]control.DeadLetter{exampleDeadLetter()}),
		"parley agent dlq retry":      one(exampleDeadLetter()),
		"parley agent dlq show":       one([]control.DeadLetter{exampleDeadLetter()}),
		"parley events":               {{value: exampleEvents()[0], lines: true}, {value: exampleEvents()[1], lines: true, when: "of a run that is made again"}, {value: exampleEvents()[2], lines: true, when: "of the other kinds"}},
		"parley hey":                  sending,
		"parley fleet hosts":          one([]control.Host{known}),
		"parley fleet invite":         one(exampleInvitation()),
		"parley fleet invite list":    one(control.InvitationList{Number: 2, Lines: []control.Invitation{exampleInvitation()}}),
		"parley fleet invite revoke":  one(exampleInvitation()),
		"parley fleet ping":           one(host.Pinged{Alias: "white", Asked: 5, Min: exampleSeconds("311µs"), Median: exampleSeconds("402µs"), Max: exampleSeconds("1.2ms"), Clock: exampleSeconds("-15ms"), Version: "0.1.0"}),
		"parley fleet probe":          one(exampleProbe()),
		"parley fleet remove":         one(control.HostRemoval{Host: "old", Human: "nat", Agents: []protocol.Name{"mawjs"}, Waiting: 2, Running: 1, Founder: true, Here: true, Path: examplePath("c0ffee00")}),
		"parley fleet revoke":         one(control.Revocation{Host: "white", Key: exampleKey, Human: "nat", Runs: 3, Forks: 1, Later: 2, Out: true, Here: true, Path: examplePath("c0ffee00")}),
		"parley fleet rotate":         one(control.Rotation{Host: "laptop", Old: exampleOldKey, Key: exampleKey, Fingerprint: exampleFingerprint, Until: exampleTime(168), Path: examplePath("c0ffee00")}),
		"parley fleet show":           {{value: known}, {value: control.Certificate{Alias: "white", PEM: "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n"}, when: "with `--cert`"}},
		"parley inbox":                one([]control.Message{exampleDirect()}),
		"parley doctor":               one([]causes.Found{exampleCause()}),
		"parley install": {
			{value: []install.ProgramInfo{{Name: "codex", Title: "Codex CLI", Path: "/usr/bin/codex", Version: "0.140.0", Lacks: []string{"wakes when idle"}, Installed: "no", Problem: "cannot change /home/nat/.codex/config.toml: line 2: a value is missing"}}},
			{value: []install.ChangedFile{{Program: "claude", Path: "/home/nat/.claude/skills/parley/SKILL.md", State: "written"}}, when: "with a program"},
		},
		"parley log":              {{value: message, lines: true}, {value: exampleReceipt(), lines: true, when: "with `--all` receipts too"}, {value: exampleUnreadable(), lines: true, when: "where the disk has lost its text"}},
		"parley logs":             one("what the node has logged, as it stands in the file: JSON with `level`, `time`, `message` and what belongs to it, one a line, and between them what the process said itself"),
		"parley ls":               one([]control.Participant{exampleParticipant()}),
		"parley agent retry":      one(exampleDeadLetter()),
		"parley fleet people":     one(control.HumanList{Record: exampleCommit, Host: "white", Here: "nat", Humans: []control.Human{exampleHuman()}}),
		"parley memory add":       one(memory),
		"parley memory list":      one([]control.Memory{memory}),
		"parley memory show":      one(memory),
		"parley memory supersede": one(memory),
		"parley agent open": {{value: control.Opening{
			Agent: "mawjs", Channel: channel.ID, ChannelName: channel.Name, Argv: []string{"claude", "--append-system-prompt", "…"}, Dir: "/home/nat/src",
			Env: []string{"PARLEY_AGENT=mawjs"}, Context: "You are mawjs. …", Passed: true,
		}, when: "with `--print`"}},
		"parley presence":     {{value: control.AgentPresence{Agent: "mawjs", State: control.AgentIdle, Since: exampleTime(1), Digest: "1 new in the inbox of mawjs, from nat.\n…"}}, {value: control.SaidPresence{Me: "mawjs", Chosen: "only", State: "busy", Parties: []string{"tmux design"}, Failed: []string{"triage: …"}}, when: "with active, busy, compacted or hidden"}},
		"parley session list": one([]control.Session{exampleSession()}),
		"parley session mute": one(exampleSession()),
		"parley session name": one(exampleSession()),
		"parley whoami":       one(control.Self{Name: "mawjs", Agent: true, How: "its token", Host: "white", Human: "nat", Fleet: "acme"}),
		"parley trace": one([]control.TraceStep{
			{Time: exampleTime(0), Host: "black", Path: message.Path, Step: control.TraceWritten, From: "nat", To: []string{"mawjs"}, Act: "hey"},
			{Time: exampleTime(0), Host: "white", Path: message.Path, Step: protocol.TraceEnded, Agent: "mawjs", Retry: 1, Attempt: 2, Tier: "opus", Failure: "exit-status", Exit: 1, Ran: control.Seconds(time.Second), Bytes: 311},
			{Time: exampleTime(0), Host: "white", Path: message.Path, Step: protocol.TraceAgain, Agent: "mawjs", Attempt: 2, Next: exampleTime(1)},
			{Time: exampleTime(1), Host: "white", Path: message.Path, Step: control.TraceFailed, Agent: "mawjs", Attempt: 3, With: message.Path.String(), Text: "mawjs: the command ended with exit code 1"},
			{Host: "green", Path: message.Path, Step: control.TraceNotAsked, By: "away"},
			{Time: exampleTime(1), Host: "white", Path: message.Path, Depth: 1, Step: control.TraceSent, From: "mawjs", To: []string{"volt"}, Act: "hey"},
		}),
		"parley why": one(control.Reason{
			Path: message.Path, From: "nat", To: []string{"mawjs"}, Causes: []causes.Found{exampleCause()},
			Steps: []control.TraceStep{{Time: exampleTime(0), Host: "black", Path: message.Path, Step: control.TraceWritten, From: "nat", To: []string{"mawjs"}, Act: "hey"}},
		}),
		"parley prompt": one(control.Prompt{
			Agent: "mawjs", Input: "prompt", Text: "You are mawjs. …", Base64: "WW91IGFyZSBtYXdqcy4g…", LeftOut: 12, Hash: "7f3a2b1c…", Time: exampleTime(0), Attempt: 2, Retry: 1, Tier: "opus",
			Parts: []control.PromptPart{{Kind: "profile", Bytes: 812, Hash: "1c9e4d4f…"}, {Kind: "message", Bytes: 311, Hash: "8ab6c21d…"}},
		}),
		"parley read":           {{value: message}, {value: control.Marked{As: "nat", Read: 3}, when: "with `--all`"}},
		"parley record backup":  one(record.BackedUp{Dir: "/mnt/backup/parley", Time: exampleTime(1), Tip: exampleCommit, Keys: true, Unrecorded: 1}),
		"parley record restore": one(record.Restored{Home: "/home/nat/.local/share/parley", Fleet: "demo", Host: "white", Tip: exampleCommit}),
		"parley upgrade": one(root.Upgraded{Path: "/usr/bin/parley", Installed: "0.1.0", Newest: "0.2.0", Fleet: []root.FleetVersion{{Version: "0.1.0", Hosts: []protocol.Name{"black", "white"}}},
			Package: "deb", Command: "curl -fLO https://github.com/parleyfleet/parley/releases/download/v0.2.0/parley_0.2.0_linux_amd64.deb && sudo apt-get install ./parley_0.2.0_linux_amd64.deb", Now: "0.1.0"}),
		"parley install service": one([]install.ChangedFile{{Program: "service", Path: "/home/nat/.config/systemd/user/parley.service", State: "written"}}),
		"parley record export":   one(control.Exported{Dir: "/tmp/record", Files: 412, Tip: exampleCommit, LeftOut: 1, Lost: []control.LostFile{{Path: "data/memories/20260523T190100000Z-b2c3d4e5.md", Why: "not in the repository"}}}),
		"parley record rebuild":  one(record.Rebuilt{Messages: 20164, Indexed: 9876, Elapsed: exampleSeconds("3.5s"), Lost: []string{examplePath("b2c3d4e5").String()}}),
		"parley record stats":    one(exampleStats()),
		"parley record verify":   one(exampleVerification()),
		"parley record redact": one(control.Redacted{
			File: examplePath("b2c3d4e5").RepoPath(), Decides: examplePath("b2c3d4e5").RepoPath() + ": it has a token", By: "nat", Host: "white", Time: exampleTime(1), Reason: "it has a token", Path: examplePath("c3d4e5f6"),
			Hosts: []control.RedactedHost{{Host: "white", Hides: true}, {Host: "black", Why: "it is away, and hides the text once it is back"}},
		}),
		"parley record withhold":   one(control.Withheld{Files: []control.WithheldFile{{Path: examplePath("b2c3d4e5"), File: examplePath("b2c3d4e5").RepoPath(), Everywhere: true}, {File: "local/actors/mawjs.md", Kept: "/home/nat/.local/share/parley/withheld-files/local/actors/mawjs.md"}}}),
		"parley fleet remote show": one(exampleRemote()),
		"parley replies":           one([]control.Message{*exchange.Answer}),
		"parley reply":             one(message),
		"parley search":            one(exampleSearch()),
		"parley send":              sending,
		"parley show":              one(message),
		"parley status":            {{value: exampleStatus()}, {value: exampleFleet(), when: "with `--fleet`"}},
		"parley thread":            one([]control.ThreadMessage{{Message: *exchange.Answer, Depth: 1}}),
		"parley record upgrade":    one([]control.UpgradedFile{{Path: "upstream/CROSSTALK.md", State: "changed"}}),
		"parley version":           one(root.VersionInfo{Version: "0.1.0", Changed: true, Commit: "8fdceb6f4f3a4c452e1c4ac9cca0c21b98cfa9b0", Date: "2026-11-21T18:00:00Z", API: control.API, Go: "go1.25.0", Platform: "linux/amd64"}),
		"parley wait":              one(message),
		"parley fleet sync":        one(control.Woken{Remote: "git@git.example.org:team/record.git", RemoteError: "cannot reach the remote: connection refused", Arrived: 2, Unpushed: 1, Agents: []control.Agent{served}}),
		"parley wormhole":          sending,
	}
	maps.Copy(all, partyShapes())
	maps.Copy(all, frameShapes())
	return all
}

// unprintedAnswers are what a node answers and no command prints as it is.
func unprintedAnswers() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[control.TopicPage](),     // --checkpoint gives it to the agent that sums up
		reflect.TypeFor[control.IssueList](),     // --recap prints it beside the topics
		reflect.TypeFor[control.OpenedLinks](),   // "fleet listen" prints what config.yaml says then
		reflect.TypeFor[control.Ping](),          // "host ping" prints what several of them have shown
		reflect.TypeFor[control.Talk](),          // "chat" begins with it
		reflect.TypeFor[control.SessionAnswer](), // "hook" prints it in the form of the agent program
		reflect.TypeFor[control.SessionRing](),   // "hook PROGRAM bells" prints it as a line
		reflect.TypeFor[control.Progress](),      // "record verify" shows it to a person meanwhile
	}
}

const (
	exampleKey         = "UBKVFKX27KDPTIRXYDNDDKG2SCHLEYYEEETQMJECRDDT5Q43WQIQXSSY"
	exampleOldKey      = "UD4QYXO4FZ3XVG3M6Z7XW4KQ6R5M6J2T2XGDSBDJPN3S6H5B3ZK2QMFA"
	exampleFingerprint = "SHA256:zfVviEdV2sXuEwt+bgeBFnmXxauSlKdIBavolERS4L0"
	exampleCommit      = "a174471d0d2f8d75f88fe7258499ca8afcfef2b9"
	exampleHash        = "0c3b1e3c7f2a5d0a9b8e7c6d5f4e3d2c1b0a99887766554433221100ffeeddcc"
)

// exampleTime is some hours after the first message.
func exampleTime(hours int) time.Time {
	return time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC).Add(time.Duration(hours) * time.Hour)
}

func exampleSeconds(text string) control.Seconds {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return control.Seconds(d)
}

func examplePath(suffix string) protocol.Path {
	p, err := protocol.ParsePath("adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/190100000Z-" + suffix + ".md")
	if err != nil {
		panic(err)
	}
	return p
}

func exampleMessage() control.Message {
	p := examplePath("b2c3d4e5")
	return control.Message{
		Path: p, Channel: p.Channel(), ChannelName: "sprint", From: "nat", To: []string{"mawjs", "volt"}, Timestamp: p.Time(),
		Type: protocol.TypeText, Act: protocol.ActTell, Host: "laptop", Run: "0badcafe", Seq: 7, Request: "deploy-42",
		Stage: protocol.StageAnswered, Heard: []protocol.Name{"white"}, Signature: protocol.SignatureValid, Body: "Who takes this?",
		Addressees: []control.Addressee{{Name: "mawjs", Stage: protocol.StageAnswered}, {Name: "volt", Stage: protocol.StageRead, Woken: true, Waits: &protocol.Waits{For: protocol.WaitsForHuman, Time: exampleTime(4)}}},
	}
}

// exampleUnreadable is a message whose text the disk has lost.
func exampleUnreadable() control.Message {
	m := exampleMessage()
	m.Body, m.Unreadable = "", "cannot read "+m.Path.String()+": not in the repository"
	return m
}

// exampleDirect is a message from one participant to another, in the channel that the two have in
// common.
func exampleDirect() control.Message {
	m := exampleMessage()
	p, err := protocol.JoinPath("13cf7f84-b529-417a-bf0b-ac1781b99119", m.Path.Rel())
	if err != nil {
		panic(err)
	}
	m.Path, m.Channel, m.ChannelName, m.Direct = p, p.Channel(), "", true
	m.From, m.To, m.Act, m.Body, m.Addressees = "mawjs", []string{"nat"}, protocol.ActHey, "It is green.", []control.Addressee{{Name: "nat"}}
	m.Unattended = true
	m.Second = examplePath("0ddba11e").String()
	m.Claimed = &control.Claim{By: "process 4711", Until: exampleTime(1)}
	return m
}

func exampleExchange() talk.Exchange {
	question, answer := exampleMessage(), exampleMessage()
	answer.Path, answer.From, answer.To, answer.Act = examplePath("c0ffee00"), "mawjs", []string{"nat"}, protocol.ActReply
	answer.Re, answer.Host, answer.Request, answer.Body = question.Path.String(), "white", "", "I do."
	answer.Because, answer.Hops = answer.Re, 1
	answer.Addressees, answer.Stage = []control.Addressee{{Name: "nat", Stage: protocol.StageNone}}, protocol.StageStored
	return talk.Exchange{Question: question, Answer: &answer}
}

func exampleReceipt() control.Message {
	e := exampleExchange()
	m := *e.Answer
	m.Path, m.Type, m.Act, m.Re, m.Ref, m.Body = examplePath("0badcafe"), protocol.TypeRead, protocol.ActRead, "", e.Question.Path.String(), ""
	return m
}

func exampleSearch() control.SearchResult {
	excerpt := []control.Fragment{{Text: "Who "}, {Text: "takes", Hit: true}, {Text: " this?"}}
	return control.SearchResult{
		Hits: []control.MessageHit{{Message: exampleMessage(), Excerpt: excerpt}}, Total: 3,
		Memories: []control.MemoryHit{{Memory: exampleMemory(), Excerpt: []control.Fragment{{Text: "deadline: "}, {Text: "Friday", Hit: true}}}}, MemoriesTotal: 1,
		Pending: 40,
	}
}

func exampleChannel() control.Channel {
	p := examplePath("b2c3d4e5")
	return control.Channel{
		ID: p.Channel(), Name: "sprint", CreatedBy: "nat", CreatedAt: exampleTime(0), Parent: "0768faa4-c02c-4f6e-82df-7cfc40e377d8", ParentName: "team",
		Members: []string{"mawjs", "volt"}, About: "What we do this week.", Messages: 12, Last: exampleTime(3), Participants: []string{"mawjs", "nat"},
		Children: []protocol.ChannelID{"13cf7f84-b529-417a-bf0b-ac1781b99119"},
	}
}

func exampleMemory() control.Memory {
	return control.Memory{
		File: "20260523T190100000Z-b2c3d4e5.md", From: "nat", Via: "concierge", Timestamp: exampleTime(0), Subject: "deadline",
		Scope: "adfe0356-0f71-49a9-80a0-fb76883cd974", ScopeName: "sprint", Tags: []string{"plan"}, Session: "7f3a2b1c-9e4d-4f8a-b6c2-1d5e8f0a3c7b",
		Supersedes: "20260522T100000000Z-00c0ffee.md", SupersededBy: "20260524T100000000Z-0badcafe.md", Body: "Friday, four o'clock.",
	}
}

func exampleSync() control.SyncEvent {
	news, comment := exampleIssueNews(), exampleIssueComment()
	return control.SyncEvent{
		Issue: &news, Comment: &comment,
		Kind: control.SyncLate, Via: "skills-cli", With: "mawjs", Topic: "tmux design", Check: examplePath("c0ffee00").String(), Transport: control.BySameHost, Until: exampleTime(1),
		Problem: examplePath("b2c3d4e5").String(), Validate: []string{"A2"}, Took: control.Seconds(2 * time.Second),
		Result: &control.SyncOutcome{
			Result: topic.Result{
				Path: examplePath("b2c3d4e5"), By: "mawjs", Time: exampleTime(0), Signed: true, Mechanical: true, Raw: protocol.NewScore(0.625), Counted: 1, Rows: []topic.Row{exampleRow()},
			},
			Decayed: protocol.NewScore(0.554), Status: topic.Degraded, Lambda: topic.Lambda{Value: 0.01, Tier: topic.TierIntra}, Groupthink: true, Late: true,
			Rows: []control.SyncLine{exampleLine()},
		},
	}
}

// exampleEvents returns three events: a run that ended, a run that is made again, and an impossible
// event of all other kinds at once.
func exampleEvents() [3]control.Event {
	message := exampleMessage()
	return [3]control.Event{{
		Time: exampleTime(0), Kind: control.EventRun,
		Run: &control.RunChange{
			Change: control.RunEnded, Run: "5ad1e0c4", Agent: "mawjs", Path: examplePath("b2c3d4e5"), Failure: "exit-status",
			Problem: "the command ended with exit code 3: it broke", ExitCode: 3, Elapsed: exampleSeconds("3.5s"),
		},
	}, {
		Time: exampleTime(0), Kind: control.EventRun,
		Run: &control.RunChange{
			Change: control.RunAgain, Agent: "mawjs", Path: examplePath("b2c3d4e5"), Failure: "exit-status",
			Problem: "the command ended with exit code 3: it broke", ExitCode: 3, Elapsed: exampleSeconds("3.5s"), Attempt: 1, Of: 3, Next: exampleTime(1),
		},
	}, {
		Time: exampleTime(0), Kind: control.EventMessage, Message: &message,
		Stage:   &control.StageChange{Path: examplePath("b2c3d4e5"), Stage: protocol.StageHeard, By: "white"},
		Host:    &control.HostChange{Change: control.HostCame, Host: "white"},
		Session: &control.SessionChange{Change: control.SessionWaits, Agent: "parley-docs", Host: "white"},
		Gate:    &control.GateChange{Change: control.GateOpened, Path: examplePath("b2c3d4e6"), Title: "invite of mawui@white", Party: "tmux design", From: exampleAsker().Short(), Host: "white", Outcome: "pending"},
		Trouble: &control.TroubleChange{Change: control.TroubleBegan, Text: "cannot push main: permission denied"},
		Missed:  12,
	}}
}

// exampleSession has a value in each field. A session that is muted is not woken.
func exampleSession() control.Session {
	return control.Session{
		Agent: "parley-docs", Program: "claude", Folder: "/home/nat/parley-docs", ID: "8eedb782-55be-42cb-8df5-74ad0f186081", Process: 14017, State: control.AgentIdle,
		Since: exampleTime(1), Waiting: 2, Handed: 1, Woken: exampleTime(2), Ways: []control.SessionWay{control.BySocket}, Turns: 3, Muted: exampleTime(9), Declared: true,
	}
}

func exampleAgent() control.Agent {
	return control.Agent{
		Name: "mawjs", Door: "exec", Command: "claude --print", Tiers: []control.AgentTier{{Name: "opus", Count: 2, Exec: "claude --print"}}, Input: "prompt", Profile: "builder", ProfileState: control.ProfileAccepted, Preset: "claude", Dir: "/home/nat/src", RunAs: "mawjs",
		Env: []string{"SSH_AUTH_SOCK", "ANTHROPIC_*"}, Limits: []string{"nice=10", "memory=2GB"}, Wake: "./wake.sh", Quiet: []string{"22:00-07:00"}, QuietUntil: exampleTime(12), TakeoverAfter: "1h", Accepts: "verified", WakesOn: []string{"hey", "tell"}, Examiner: "mechanical", Soul: "nat", AgentWork: exampleWork(3), Presence: control.AgentRunning, Since: exampleTime(1), Asked: exampleTime(1),
	}
}

func exampleWork(unread int) control.AgentWork {
	return control.AgentWork{
		Paused: true, Queued: 2, Running: 1, Unread: unread, Over: 1, Failing: 1, Dead: 1, Held: true, Stalled: "cannot note that mawjs is started: input/output error", Missing: "cannot start claude: it is in no folder of the node's PATH",
	}
}

// exampleJob has a value in each field. No real job has that: none both runs and waits.
func exampleJob() control.Job {
	return control.Job{
		Agent: "mawjs", Path: examplePath("b2c3d4e5"), From: "nat", State: control.JobWaiting, Why: control.WhyRetry, Place: 1, Tier: "opus",
		Since: exampleTime(0), Attempt: 1, Of: 3, Next: exampleTime(1), Problem: "exit code 1", Text: "Who takes this?",
		Budget: "agents have had mawjs run 60 times within an hour (max_runs is 60); what is more waits, and goes on by itself as that time passes, or at once with: parley agent resume mawjs",
	}
}

func exampleDeadLetter() control.DeadLetter {
	return control.DeadLetter{
		Message: exampleMessage(), Agent: "mawjs", Host: "white", Time: exampleTime(1), Problem: "mawjs: the command ended with exit code 1: no such model",
		Text: "It had printed:\nThinking …", Tier: "opus", Ran: exampleSeconds("1.2s"), Attempts: 3, Retries: 1, Claimed: true,
		Dropped: &control.RunWord{By: "nat", Time: exampleTime(2), Reason: "asked by mistake"},
	}
}

func examplePolicy() control.PolicySetting {
	return control.PolicySetting{
		Key: "window-cross-host", Value: "3d", Default: "7d", Doc: "how long a decision stays open between agents of two hosts", Settled: "3d", By: "nat", Host: "white",
		Time: exampleTime(0), Reason: "we meet twice a week", Path: examplePath("b2c3d4e5").String(), Proof: control.ProofOwnKey,
	}
}

func exampleHuman() control.Human {
	return control.Human{Name: "nat", Host: "white", Key: exampleKey, Fingerprint: exampleFingerprint, Open: true, Since: exampleTime(0), Revoked: exampleTime(1), Contested: []string{exampleKey}, Keys: 2}
}

func exampleSkill() skill.SkillFile {
	return skill.SkillFile{
		Skill: "work-with", Program: "claude", Path: "/home/nat/.claude/skills/work-with/SKILL.md", Schemas: "/home/nat/.claude/skills/work-with/schema",
		State: "replaced", Kept: []string{"/home/nat/.claude/skills/work-with/SKILL.md.b2c3d4e5.old"},
	}
}

func examplePreset() agent.PresetInfo {
	return agent.PresetInfo{
		Name: "claude", Title: "Claude Code", Program: "claude", Installed: true, Exec: "claude --print", Input: "prompt", Open: "claude", Resume: "claude --continue", Env: []string{"ANTHROPIC_*", "HTTPS_PROXY"}, Login: []string{".claude/login.json"},
		Timeout: exampleSeconds("30m"), Install: "npm install -g @anthropic-ai/claude-code", Note: "It asks for a login once.", Source: "https://docs.example.org/claude",
	}
}

func exampleFigure() bench.Figure {
	value, yardstick, ratio, aim, ok := 0.31, 0.22, 1.41, 2.0, true
	return bench.Figure{
		Name: "stored", Value: &value, Unit: "ms", Yardstick: &yardstick, Ratio: &ratio, Aim: &aim, AimOn: bench.OnRatio, Better: bench.Lower, OK: &ok,
		What: "one message, until it is stored", Beside: "append and fsync of one file", Note: "the disk was busy",
	}
}

func exampleConfig() node.ConfigInfo {
	c := configs.Default()
	c.Fleet, c.Alias, c.Human, c.Remote = "team", "laptop", "nat", "git@git.example.org:team/record.git"
	c.Bus = configs.Bus{
		Listen: "0.0.0.0:4222", Links: "0.0.0.0:4223", Advertise: []string{"laptop.example:4223"}, Hubs: []string{"white@white.example:4223"},
		URL: "nats://nats.example.org:4222", Creds: "/home/nat/nats.creds", NKey: "/home/nat/nats.nkey", CA: "/home/nat/ca.pem", Context: "work",
	}
	c.MaxCommands, c.Metrics = 16, "127.0.0.1:9464"
	c.Notify = []configs.Notification{{Command: "./tell.sh", For: []string{"gate"}, Quiet: configs.QuietHours{{From: 22 * 60, To: 7 * 60}}}}
	return node.NewConfigInfo("/home/nat/.local/share/parley/config.yaml", c)
}

func exampleHost() control.Host {
	return control.Host{
		Alias: "white", State: control.HostLive, Since: exampleTime(0), LastSeen: exampleTime(5), Version: "0.1.0", Key: exampleKey,
		Fingerprint: exampleFingerprint, Keys: []control.HostKey{{
			Key: exampleOldKey, Fingerprint: exampleFingerprint, Since: exampleTime(-90), Until: exampleTime(0), Revoked: exampleTime(1), RevokedBy: "nat at laptop", Removed: true,
		}},
		Hostname: "white.example", Addresses: []string{"white.example:4223"}, Humans: []protocol.Name{"nat"}, Agents: []protocol.Name{"mawjs"},
		LastMessage: &control.LastMessage{Path: examplePath("b2c3d4e5"), Timestamp: exampleTime(0), Run: "0badcafe", Seq: 7},
		Address:     "192.0.2.7:4223", RTT: exampleSeconds("412µs"), Clock: exampleSeconds("-15ms"),
	}
}

func exampleProbe() control.Probe {
	return control.Probe{Alias: "white", Addresses: []control.ProbedAddress{{
		Address: "white.example:4223", Works: true, Cause: "clock", Reason: "its clock is 2 minutes ahead", RTT: exampleSeconds("412µs"), Clock: exampleSeconds("2m"), Version: "0.1.0",
	}}}
}

func exampleParticipant() control.Participant {
	return control.Participant{
		Waits: &protocol.Waits{For: protocol.WaitsForTurns, Time: exampleTime(30)},
		Name:  "mawjs", Kind: "agent", Host: "laptop", Live: true, Here: true, State: control.HostHere, Since: exampleTime(0), Address: "192.0.2.7:4223",
		RTT: exampleSeconds("412µs"), AgentWork: exampleWork(2), Gates: 1, Door: "inbox", Asked: exampleTime(2), Presence: control.AgentIdle,
	}
}

func exampleStats() control.RecordStats {
	return control.RecordStats{
		ID: exampleCommit, Tip: exampleCommit, Messages: 9876, Receipts: 9800, HostWords: 12, Unverified: 40, Channels: 31, Memories: 9,
		First: exampleTime(0), Last: exampleTime(500), Packs: 4, Disk: 12_345_678, Journal: 4096,
		Hosts: []control.HostStats{{Alias: "laptop", Messages: 5000, Receipts: 4900, Last: exampleTime(500)}},
	}
}

func exampleVerification() control.Verification {
	return control.Verification{Messages: 19676, Wrong: 1, Findings: []control.Finding{
		{Path: examplePath("b2c3d4e5"), Kind: control.FindingRefused, Wrong: true, Text: "its signature does not fit its bytes"},
		{File: "hosts/old.md", Kind: control.FindingStray, Text: "nobody reads it"},
	}}
}

func exampleLink() control.LinkStatus {
	return control.LinkStatus{
		Peer: "white-0123abcd", Host: "white", Address: "192.0.2.7:4223", Out: true, Up: true, HalfUp: true, Connecting: true, RTT: exampleSeconds("412µs"), Problem: "connected, but letters do not pass",
	}
}

func exampleCause() causes.Found {
	return causes.Of(causes.Paused, causes.Facts{Here: "laptop", Host: "white", Agent: "mawjs"})
}

func exampleStatus() control.Status {
	return control.Status{
		Version: "0.1.0", API: control.API, Fleet: "team", Host: "laptop", Human: "nat", Speaker: "nat", Home: "/home/nat/.local/share/parley", PID: 4242,
		Since: exampleTime(0), Unwatched: true, Refused: 1, Gates: 2, Flags: []control.Flag{{Kind: "signature", Count: 1}}, Warned: []string{"the clock of white is 2 minutes ahead of this one"},
		Causes: []causes.Found{exampleCause()},
		Record: control.RecordStatus{
			ID: exampleCommit, Tip: exampleCommit, Messages: 19676, Remote: "git@git.example.org:team/record.git", RemoteError: "cannot push main: permission denied",
			Trouble: &control.Trouble{
				Kind: "permission", Text: "cannot push main: permission denied", Pushing: true, Since: exampleTime(4), Next: exampleTime(5), Waiting: 3,
				Advice: "ask who runs the remote for the right to push",
			},
			Courier: 2, Pusher: "white", Unrecorded: 2, Withheld: []protocol.Path{examplePath("b2c3d4e5")}, StoreError: "no space left on device", StoreAdvice: "make room on the disk",
			CommitError: "no space left on device", Unpushed: 3, LastFetch: exampleTime(4), LastPush: exampleTime(3), Pushes: 120, Rejected: 2,
			Arriving: 500, Arrived: 20,
		},
		Bus: control.BusStatus{
			URL: "nats://nats.example.org:4222", Context: "work", As: "with this host's own key", Clients: "127.0.0.1:4222", Links: "0.0.0.0:4223",
			Advertised: []string{"laptop.example:4223"}, Peers: []control.LinkStatus{exampleLink()}, Dropped: 1, Unreadable: 2, Letters: 3,
			Letter: "parley.team.white.presence: the signature is wrong", Refused: []control.BusRefusal{{From: "white", Count: 2, Last: examplePath("b2c3d4e5").String() + ": the signature is wrong", At: exampleTime(3)}},
			Offended: exampleTime(3), Held: 1, HeldDropped: 2, Gaps: 1, GapsLeft: 1,
		},
		Hosts: []control.HostStatus{{
			Alias: "white", State: control.HostLive, Live: true, Here: true, Since: exampleTime(0), LastSeen: exampleTime(5), Version: "0.1.0", Agents: []string{"mawjs"},
		}},
		Agents:   []control.Agent{exampleAgent()},
		Passed:   []string{"EDITOR", "GH_TOKEN"},
		Commands: control.CommandStatus{Running: 16, Most: 16, Waiting: 2},
		Metrics:  "http://127.0.0.1:9464/metrics",
	}
}

func exampleRemote() node.RemoteInfo {
	record := exampleStatus().Record
	return node.RemoteInfo{Remote: record.Remote, Record: &record}
}

func exampleFleet() control.FleetStatus {
	return control.FleetStatus{Fleet: "team", Asked: "laptop", Hosts: []control.FleetHost{{
		Host: exampleHost(), Answered: true, Problem: "white did not answer within 2s", Messages: 19676, Behind: 3, Ahead: 1, Tip: exampleCommit, Unrecorded: 1,
		Unpushed: 2, Remote: "permission", Trouble: "cannot push main: permission denied", Links: []control.LinkStatus{exampleLink()}, AgentCount: 4,
	}}}
}

func exampleSourced(state string) agent.SourcedProfile {
	return agent.SourcedProfile{Name: "reviewer", File: "actors/reviewer.md", Description: "reads code, says what is wrong", Author: "team", State: state}
}

func exampleInvitation() control.Invitation {
	return control.Invitation{
		ID: "0a1b2c3d", Line: "parley://192.0.2.7:4223/#AWsLQJ5Puj9NIW6yXqo…", State: control.LineBurnt, Why: "a person here said no", Uses: 15, Used: 1, Unasked: true, Made: exampleTime(0), Expires: exampleTime(24),
		Knocks: []control.Knock{{ID: "b2c3d4e5", State: control.KnockRefused, Alias: "black", Human: "ida", Key: exampleKey, Fingerprint: exampleFingerprint, Address: "192.0.2.8:53211", Version: "0.1.0", Takes: true,
			Words: "tiger maple orbit", At: exampleTime(1)}},
	}
}
