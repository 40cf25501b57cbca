package arch

// Parley returns the rules of this repository.
func Parley() Rules {
	return Rules{
		Module: "github.com/parleyfleet/parley",
		Walls:  walls(),
		Names:  names(),
		Limits: limits(),
		// Both replace this process if it was started as one of them, and else do nothing.
		Inits: []string{"cmd/parley/hook/hook.go", "internal/keeper/keeper.go", "internal/walls/walls_linux.go"},
		TestThirdParty: []string{
			"github.com/google/go-cmp",
			"github.com/rogpeppe/go-internal",
		},
		Folders: []string{
			".ci", ".github", "bus", "cmd", "configs", "docs", "fleet", "gitsync",
			"internal", "node", "protocol", "testdata", "tools",
		},
		Files: []string{
			"README.md", "CHANGELOG.md", "AGENTS.md", "LICENSE", "Dockerfile",
			"docker-compose.yml", "go.mod", "go.sum", ".gitignore",
			".gitattributes", ".dockerignore", ".goreleaser.yaml", "install.sh",
			"SECURITY.md", "CONTRIBUTING.md",
		},
	}
}

// walls is the table of rooms, from the inside out.
func walls() []Wall {
	const (
		goCmp      = "github.com/google/go-cmp"
		scripts    = "github.com/rogpeppe/go-internal"
		wide       = "github.com/mattn/go-runewidth"
		zerolog    = "github.com/rs/zerolog"
		nkeys      = "github.com/nats-io/nkeys"
		natsGo     = "github.com/nats-io/nats.go"
		natsServer = "github.com/nats-io/nats-server/v2"
		yaml       = "gopkg.in/yaml.v3"
		system     = "golang.org/x/sys"
		textTools  = "golang.org/x/text"
		terminal   = "golang.org/x/term"
		jsonSchema = "github.com/google/jsonschema-go"
		jsonEdit   = "github.com/tailscale/hujson"
		tomlEdit   = "github.com/pelletier/go-toml/v2/unstable"
		mcpSDK     = "github.com/modelcontextprotocol/go-sdk"

		shown = "values that are shown as the fold has them: who shows them needs no rule of the fold"
	)
	return []Wall{
		{
			Room:       "protocol",
			ThirdParty: []string{yaml, nkeys, textTools},
			Pure:       true,
			Why:        "the protocol is what peers say: the same bytes must mean the same on every host, and other programs can use it alone",
		},
		{
			Room:           "fleet",
			Parley:         []string{"protocol", "fleet/archive", "fleet/inquiries", "fleet/inquiries/inquiry", "fleet/keys", "fleet/parties", "fleet/parties/party", "fleet/people", "fleet/policy", "fleet/redactions", "fleet/runs", "fleet/shelf", "fleet/topics", "fleet/topics/topic"},
			TestThirdParty: []string{nkeys}, // its stories sign their messages
			Pure:           true,
			Why:            "fleet folds and decides: the same record must give the same state on every host, and every rule must be testable as a story",
		},
		{
			Room: "fleet/archive",
			Pure: true,
			Why:  "an archive keeps records, whatever they say: a new field or index of messages must not touch it",
		},
		{
			Room:   "fleet/keys",
			Parley: []string{"protocol"},
			Pure:   true,
			Why:    "where messages stand depends on keys, so keys must not depend on that: they are a fold over signed words alone",
		},
		{
			Room:   "fleet/people",
			Parley: []string{"protocol", "fleet/keys", "fleet/refusal"},
			Pure:   true,
			Why:    "who can be written to follows from the words of hosts and from host files, and from no message",
		},
		{
			Room:   "fleet/shelf",
			Parley: []string{"protocol", "fleet/refusal"},
			Pure:   true,
			Why:    "what files beside messages say is looked up without the fold: it asks for what it must know of messages and people",
		},
		{
			Room:   "fleet/runs",
			Parley: []string{"protocol", "fleet/affair", "fleet/refusal"},
			Pure:   true,
			Why:    "an affair is its deeds and its rules; it knows neither the state that folds it nor other affairs",
		},
		{
			Room:   "fleet/policy",
			Parley: []string{"protocol", "fleet/affair", "fleet/refusal"},
			Pure:   true,
			Why:    "what is settled for the whole fleet is an affair of its own, which other affairs are given and never read",
		},
		{
			Room:   "fleet/redactions",
			Parley: []string{"protocol", "fleet/affair", "fleet/refusal"},
			Pure:   true,
			Why:    "who has redacted a file follows from the deeds about it; whether they may is asked of the state, which knows who wrote it",
		},
		{
			Room:   "fleet/inquiries",
			Parley: []string{"protocol", "fleet/affair", "fleet/refusal", "fleet/inquiries/inquiry"},
			Pure:   true,
			Why:    "what humans decide, who investigates what and which claim has which basis follows from an inquiry's own deeds: no host's state and no clock moves it on",
		},
		{
			Room:   "fleet/parties",
			Parley: []string{"protocol", "fleet/affair", "fleet/parties/party", "fleet/refusal"},
			Pure:   true,
			Why:    "who is in a party and what humans decided there follows from its own deeds: no score, no topic, no setting moves anybody in or out",
		},
		{
			Room:   "fleet/topics",
			Parley: []string{"protocol", "fleet/affair", "fleet/refusal", "fleet/topics/topic"},
			Pure:   true,
			Why:    "an affair reads its own deeds and nothing else: no other affair, no message beside them, no setting",
		},
		{
			Room:   "fleet/inquiries/inquiry",
			Parley: []string{"protocol"},
			Pure:   true,
			Why:    shown,
		},
		{
			Room:   "fleet/parties/party",
			Parley: []string{"protocol"},
			Pure:   true,
			Why:    shown,
		},
		{
			Room:   "fleet/topics/topic",
			Parley: []string{"protocol"},
			Pure:   true,
			Why:    shown,
		},
		{
			Room:       "configs",
			Parley:     []string{"protocol"},
			ThirdParty: []string{yaml, system}, // system: to tell a home from its copies
			Why:        "configs turns the operator's files into checked values; what is done with them is the node's affair",
		},
		{
			Room:       "gitsync/objects/pack",
			ThirdParty: []string{"github.com/go-git/go-git/v5", "github.com/klauspost/compress"},
			Why:        "a pack is bytes in a form of git's: how packs of a repository come and go, while git works there too, is decided above",
		},
		{
			Room:       "gitsync",
			Parley:     []string{"protocol", "gitsync/objects/pack"},
			ThirdParty: []string{"github.com/go-git/go-git/v5", "github.com/go-git/go-billy/v5", "golang.org/x/crypto", zerolog, system},
			// Its tests work on a file system that fails when it is told to.
			TestThirdParty: []string{"github.com/hanwen/go-fuse/v2"},
			Why:            "gitsync keeps messages in git and knows neither the bus nor the rules, so that the record works when all else is down",
		},
		{
			Room:       "bus",
			Parley:     []string{"protocol"},
			ThirdParty: []string{natsGo, natsServer, nkeys, zerolog, "golang.org/x/time"}, // golang.org/x/time: how much a host may ask each second
			// Its tests hand out credentials as the operator of a NATS system does.
			TestThirdParty: []string{"github.com/nats-io/jwt/v2"},
			Why:            "bus moves bytes over NATS and knows neither git nor the rules, so that either way can fail alone",
		},
		{
			Room:   "node",
			Parley: []string{"protocol", "fleet", "configs", "gitsync", "bus"},
			ThirdParty: []string{
				zerolog, nkeys, yaml, system, textTools, "mvdan.cc/sh/v3", "github.com/gofrs/flock", jsonEdit, tomlEdit,
			},
			// Tests of a node look at the bus as the NATS client of a stranger would.
			TestThirdParty: []string{natsGo},
			Why:            "only the node knows all rooms; git itself is gitsync's affair, NATS itself the bus's, and the terminal cmd's",
		},
		{
			Room:       "node/carry",
			Parley:     []string{"protocol", "configs", "gitsync", "bus"},
			ThirdParty: []string{zerolog, nkeys},
			Why:        "hosts reach each other for the record before there is a node, and what they let in must be seen at a glance: no state of a node is within reach",
		},
		{
			Room:   "node/causes",
			Parley: []string{"protocol"},
			Pure:   true,
			Why:    "why an answer is missing and what is wrong with a host is said in one table, by nodes and by commands, also where no node runs",
		},
		{
			Room:       "node/control",
			Parley:     []string{"protocol", "node/causes", "fleet/inquiries/inquiry", "fleet/parties/party", "fleet/topics/topic"},
			ThirdParty: []string{system}, // it asks the system which process is at the other end of its socket
			Why:        "control is the one narrow interface between a node and the programs that use it; it must not drag a node into them",
		},
		{
			Room:   "node/invite",
			Parley: []string{"protocol", "node/control", "node/notices"},
			// Its tests make keys, and notices that nobody reads.
			TestThirdParty: []string{nkeys, zerolog},
			Why:            "who is let in is decided by what two ends said and what a person answered: it can be attacked without a node, a bus or a record",
		},
		{
			Room:       "node/examiner",
			Parley:     []string{"protocol"},
			ThirdParty: []string{textTools},
			Pure:       true,
			Why:        "what a score rests on must be seen at a glance: texts in, scores out, and nothing of a node's decides in between",
		},
		{
			Room:   "node/inquiry/calls",
			Parley: []string{"protocol", "fleet/inquiries", "fleet/inquiries/inquiry", "fleet/affair"},
			Pure:   true,
			// Humans sign in its tests.
			TestThirdParty: []string{nkeys},
			Why:            "what is asked and what was answered can be tried without an agent",
		},
		{
			Room:       "node/inquiry/place",
			Parley:     []string{"protocol"},
			ThirdParty: []string{"github.com/go-git/go-git/v5", system}, // what git ignores; the rights of an agent's user
			Why:        "where a member works can be looked at without a node",
		},
		{
			Room:   "node/mesh",
			Parley: []string{"protocol", "fleet/parties/party", "fleet/topics/topic", "node/control"},
			Pure:   true,
			Why:    "a graph of parties is what they show of themselves in another form: it must say nothing that their tables do not",
		},
		{
			Room:   "node/issues",
			Parley: []string{"protocol", "node/door"},
			Why:    "what strangers wrote comes in here: what is asked of gh and kept of its answers must be seen at a glance, and no state of a node is within reach",
		},
		{
			Room:       "node/metrics",
			Parley:     []string{"protocol"},
			ThirdParty: []string{"github.com/prometheus/client_golang"},
			// Its tests read the example rules.
			TestThirdParty: []string{yaml},
			Why:            "metrics are told and asked what they show: a node can be watched, and its names linted, without one that runs",
		},
		{
			Room:   "node/prompt",
			Parley: []string{"protocol"},
			Pure:   true,
			Why:    "what reaches a model is text in, text out: the same fences for prompts and for tools, and no node within reach",
		},
		{
			Room:       "cmd",
			Parley:     []string{"node/control", "node/causes", "configs", "protocol", "fleet/inquiries/inquiry", "fleet/parties/party", "fleet/topics/topic"},
			ThirdParty: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", wide, zerolog, system, terminal, textTools, jsonSchema, nkeys, "filippo.io/age", jsonEdit, tomlEdit, "github.com/yuin/goldmark"}, // nkeys and age are for the keys of humans
			// Its tests read docker-compose.yml.
			TestThirdParty: []string{natsGo, nkeys, yaml},
			Doors: []Door{{
				// Node may be imported only where a node is started, or where its home is worked on
				// while none runs.
				Files: []string{
					"cmd/parley/node/up.go", "cmd/parley/node/init.go", "cmd/parley/node/adopt.go", "cmd/parley/node/join.go", "cmd/parley/node/making.go",
					"cmd/parley/demo/demo.go", "cmd/parley/record/rebuild.go", "cmd/parley/record/restore.go", "cmd/parley/node/remoteset.go", "cmd/parley/node/notify.go", "cmd/parley/agent/offline.go",
					"cmd/parley/node/listen.go", "cmd/parley/node/join_test.go",
				},
				Parley: []string{"node"},
			}, {
				// An inquiry is proved from git alone, without a node.
				Files:  []string{"cmd/parley/frame/record.go"},
				Parley: []string{"node/inquiry"},
			}},
			Why: "a command parses, calls and prints: it sees a node only through node/control, as the web console does",
		},
		{
			Room:       "cmd/parley/mcp",
			Parley:     []string{"cmd/parley/cli", "cmd/parley/party", "cmd/parley/root", "cmd/parley/runs", "cmd/parley/talk", "cmd/parley/with", "node/control", "node/prompt", "protocol", "configs"},
			ThirdParty: []string{"github.com/spf13/cobra", mcpSDK, jsonSchema, wide, terminal, textTools, system},
			Why:        "a tool calls and shows, as a command does: whatever it shows stands in the fences of prompts, and the SDK of MCP is known here alone",
		},
		{
			Room:       "cmd/parley/standing",
			Parley:     []string{"cmd/parley/cli", "node/causes", "node/control", "protocol"},
			ThirdParty: []string{wide, terminal, system},
			Why:        "it puts into words what a node tells, for screens and for pages: it asks nothing, and shows nothing",
		},
		{
			Room:       "cmd/parley/console",
			Parley:     []string{"cmd/parley/cli", "cmd/parley/frame", "cmd/parley/frame/report", "cmd/parley/mesh", "cmd/parley/runs", "cmd/parley/standing", "cmd/parley/talk", "node/causes", "node/control", "protocol", "fleet/parties/party", "fleet/topics/topic"},
			ThirdParty: []string{"github.com/spf13/cobra", wide, terminal, system, "rsc.io/qr"},
			Why:        "a page shows what a verb answers and adds no rule: who may do what is the node's affair, and what is signed is signed by a command at the terminal",
		},
		{
			Room:       "cmd/parley/console/tty",
			Parley:     []string{"cmd/parley/cli", "cmd/parley/host", "cmd/parley/party", "cmd/parley/runs", "cmd/parley/standing", "cmd/parley/talk", "node/control", "protocol"},
			ThirdParty: []string{"charm.land/bubbletea/v2", wide, terminal, system},
			// Its tests run it as a command.
			TestThirdParty: []string{"github.com/spf13/cobra"},
			Why:            "the console shows what commands show, in their own words, and has no rule of its own: it reads, sends as its human, and leaves deciding to the command for gates; the library of screens is known here alone",
		},
		{
			Room:       "cmd/parley/bench",
			Parley:     []string{"cmd/parley/cli", "node", "gitsync", "configs", "protocol"},                    // gitsync and protocol for its benchmarks
			ThirdParty: []string{"github.com/spf13/cobra", wide, terminal, system, zerolog, natsGo, natsServer}, // its yardsticks are bare disks and bare NATS
			// Its benchmarks write records of their own.
			TestThirdParty: []string{nkeys},
			Why:            "bench looks at the rooms from outside, as their user does: none of them may know that it is measured",
		},
		{
			Room:       "internal/testkit",
			Parley:     []string{"cmd/parley/cli", "node/control", "protocol"},
			ThirdParty: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", wide, zerolog, terminal, system, goCmp, scripts},
			TestsOnly:  true,
			Why:        "what tests share is no part of the product; commands are tested against a recorder, for a node would make their tests slow and large",
		},
		{
			Room:       "internal",
			ThirdParty: []string{goCmp, scripts, wide, zerolog, system, textTools, terminal, jsonSchema, jsonEdit, tomlEdit}, // the last two read the files of agent programs
			Why:        "helpers serve every room, so they may know none of them",
		},
	}
}
