package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lines says what must hold of the record and of what runs its agents. It has the parts A (gates
// and layout), B (messages), C (hosts and dispatch), D (what others got wrong) and E (commands) of
// the checklist of the Crosstalk form. A test names in its comment the lines that it shows:
// "Crosstalk C20".
var lines = map[string]string{
	"A1":  "the order at a start; a gate that fails names the file and the fix, and nothing is written",
	"A2":  "init makes the folders and the default profile, and never overwrites",
	"A3":  "what is pushed with plain git is picked up; git's identity is never set",
	"A4":  "files outside data/channels and data/memories are no messages",
	"B5":  "paths and names, and that their order is that of messages",
	"B6":  "required and optional fields; unknown ones are kept",
	"B7":  "to: one name, a list, all, name@alias; never the sender",
	"B8":  "what is malformed is skipped, with one warning",
	"B9":  "receipts: to the sender, never to all, never for a receipt, one for each who was addressed, after the reply",
	"B10": "re, replies and thread",
	"B11": "channels, CHANNEL.md, sub-channels",
	"B12": "actor profiles: local over upstream, duplicates halt",
	"B13": "memories",
	"C14": "which host this is: by its alias, else by user and machine, else by the machine; the host file is published from its own configuration: tiers, counts, shorthand",
	"C15": "which instance is chosen; each tier with its own command",
	"C16": "name@alias of this host that is not served: one warning, skipped",
	"C17": "what an agent is given, and that nobody else's mail is in it",
	"C18": "how a command is started: argv, folder, standard input, environment",
	"C19": "timeout, process group, bounded output, an input closed early",
	"C20": "retries with growing pauses, then a dead letter; the sender is told",
	"C21": "dlq list, show, retry, drop",
	"C22": "no agent waits for another; count bounds a tier; oldest first",
	"C23": "a crash runs nothing twice and skips nothing",
	"C24": "wake; the socket is private",
	"D25": "the first message in an empty channel is answered",
	"D26": "20 messages in one push: 20 answers, in order, once each",
	"D27": "an older-dated message pushed later is answered",
	"D28": "a hung command stops no other agent, and ends at its timeout",
	"D29": "300 kB to a command that closes its input",
	"D30": "while pushes fail a command runs once",
	"D31": "send from a record that is behind",
	"D32": "200 sends against a busy node",
	"D33": "--to 'x$(touch pwned)' runs nothing",
	"D34": "the command of a host file that others edited is not run",
	"D35": "the second of two nodes with one alias stays out",
	"D36": "50,000 old messages: latency as with none",
	"D37": "replies of 8 MB, binary output, invalid UTF-8: bounded, marked, never a crash",
	"E38": "the commands, their help, exit codes and --json",
	"E39": "chat, open, attach",
	"E40": "exit codes",
	"E41": "profiles are browsed, added and brought up to date from a source",
}

// collaboration says what must hold of topics of two. It has the parts A to F, H, L, M (but for the
// mesh), P and Q of the checklist of collaboration. W128 of these parts is about parties, whose own
// parts are not here yet. A test names in its comment the lines that it shows: "Work-with W30,
// W31".
var collaboration = map[string]string{
	"W1":   "the memory of an agent lies in ψ of its git work tree with CLAUDE.md, else in its folder; links are followed",
	"W2":   "the folder of collaborations is made when it is missing",
	"W3":   "a terminal shows the time first",
	"W4":   "flags and words stand in any order",
	"W5":   "registry.md has a row for each topic",
	"W6":   "folders are made on demand",
	"W7":   "a slug has dashes and lower case",
	"W8":   "no path comes of a slug; two topics of one are refused",
	"W9":   "a party's file has its slug",
	"W10":  "files are written whole; histories only grow",
	"W11":  "nothing is deleted",
	"W12":  "it works without contacts.json",
	"W13":  "contacts.json is read as it is kept",
	"W14":  "who acts",
	"W15":  "no collaborations, and how to begin",
	"W16":  "the columns of a relationship",
	"W17":  "decay is computed whenever it is read",
	"W18":  "the words for scores",
	"W19":  "words from raw, colours from decayed",
	"W20":  "since, trust, teach-backs, style",
	"W21":  "context.md is shown where there is one",
	"W22":  "ages",
	"W23":  "a topic that is there is loaded and shown",
	"W24":  "labels and marks",
	"W25":  "the file of a new topic",
	"W26":  "context.md of a new partner",
	"W27":  "the row of a new topic",
	"W28":  "an anchor and its URL",
	"W29":  "to open twice is to load",
	"W30":  "claims of all topics",
	"W31":  "the first line of a check",
	"W32":  "the claims of a check",
	"W33":  "a check says the form of its answer",
	"W34":  "the first line of a result",
	"W35":  "the rows of a result",
	"W36":  "the last line of a result",
	"W37":  "a score without evidence is marked",
	"W38":  "any score from 0 to 1",
	"W39":  "to reject is a valid outcome",
	"W40":  "what was not answered is left out and said so",
	"W41":  "overall is the mean",
	"W42":  "the table of a result",
	"W43":  "decayed is raw at the time of a sync",
	"W44":  "raw and decayed later",
	"W45":  "what is not in the partner's memory is flagged",
	"W46":  "100% is flagged",
	"W47":  "what was done is listed",
	"W48":  "only raw scores are stored",
	"W49":  "a line of history for each sync",
	"W50":  "several topics in one sync",
	"W51":  "new comments of an anchor",
	"W52":  "silence scores nothing",
	"W53":  "the transport is chosen and shown",
	"W54":  "partners of other hosts",
	"W55":  "a checkpoint",
	"W56":  "a checkpoint is sent for ratification",
	"W57":  "its answers",
	"W58":  "a ratified one says so",
	"W59":  "what was amended or rejected is kept",
	"W60":  "silence leaves it pending",
	"W61":  "the list",
	"W62":  "an empty list",
	"W63":  "those of one partner with phases",
	"W64":  "who works with whom in the fleet",
	"W65":  "the wait is bounded; hosts that do not answer are said",
	"W66":  "what awaits my decision",
	"W67":  "what I have put off",
	"W68":  "a pair is quiet",
	"W69":  "a team is told",
	"W70":  "other hosts only with consent",
	"W71":  "declined consent keeps the rest",
	"W72":  "the team wins over the flag",
	"W73":  "--quiet",
	"W74":  "the text of a topic's broadcast",
	"W75":  "partner and self are left out",
	"W76":  "the texts of broadcasts",
	"W77":  "a result for each",
	"W78":  "hidden members get none",
	"W79":  "usefulness is counted",
	"W80":  "closing archives a topic",
	"W81":  "its row leaves the registry",
	"W82":  "closing twice overwrites nothing",
	"W83":  "the state file is archived too",
	"W84":  "topics with longer names stay",
	"W85":  "organize and its flags",
	"W86":  "the file is valid at once",
	"W87":  "the rules where nobody says otherwise",
	"W88":  "--rules",
	"W89":  "the leader is a human",
	"W90":  "when it was made",
	"W91":  "what an invited one gets",
	"W92":  "who is invited is pending",
	"W93":  "an anchor",
	"W94":  "what organize shows",
	"W95":  "an existing name is loaded",
	"W96":  "the initiator is a member",
	"W97":  "whom a name means",
	"W98":  "the sender's human",
	"W99":  "the human of who is invited",
	"W100": "the text of an invite",
	"W101": "an invite to another host",
	"W102": "accept",
	"W103": "reject",
	"W104": "defer",
	"W105": "the statuses of invites",
	"W106": "silence is flagged, never a refusal",
	"W107": "who joined is told",
	"W108": "inviting twice",
	"W109": "recruit",
	"W110": "a late answer counts",
	"W111": "the header of who",
	"W112": "the columns of who",
	"W113": "dots",
	"W114": "dormant",
	"W115": "colours",
	"W116": "their bounds",
	"W117": "pending and put off",
	"W118": "a sync is suggested",
	"W119": "stale ones are flagged, never removed",
	"W120": "out of sync",
	"W121": "presence on change alone",
	"W122": "presence as the party has it",
	"W123": "the formula of decay",
	"W124": "where the decay is from",
	"W125": "half-lives",
	"W126": "what was never synced does not decay",
	"W127": "three decimals",
	"W128": "hidden members decay too",
	"W129": "a clock that is off makes no score grow",
	"W130": "no decay",
	"W131": "a stored decayed score is ignored",
	"W132": "raw and decayed are shown together",
	"W133": "no date of a shell is needed",
	"W134": "lines of history are valid",
	"W135": "seven are shown, all are kept",
	"W136": "a history says whose score it is",
	"W137": "how strongly an edge is drawn",
	"W138": "what is dashed",
	"W139": "nodes are members and the humans who lead",
	"W140": "an edge for each party and member",
	"W141": "the sparkline",
	"W142": "changes are told",
	"W143": "no reader sees half of a party's file",
	"W144": "one snapshot",
	"W145": "both directions are kept",
	"W146": "a snapshot is of all hosts",
	"W147": "tell",
	"W148": "tell and presence",
	"W149": "tell on the issue",
	"W150": "what failed is reported",
	"W151": "broadcast_scope",
	"W152": "leave: notify, a last checkpoint, drop oneself alone; the party lives",
	"W153": "the last one out",
	"W154": "what leave says",
	"W155": "the last activity",
	"W156": "a team is a tag",
	"W157": "the columns of a team",
	"W158": "its members",
	"W159": "its aggregate",
	"W160": "the sync of a row",
	"W161": "a party that is over in a team",
	"W162": "five phases; a new item is pending",
	"W163": "from pending",
	"W164": "from defer",
	"W165": "from timeout",
	"W166": "from accept",
	"W167": "from reject",
	"W168": "anything else changes nothing",
	"W169": "the phase before is kept",
	"W170": "the text of ACCEPT",
	"W171": "REJECT needs a reason",
	"W172": "DEFER lasts a day",
	"W173": "a timeout is observed and never sent",
	"W174": "REVOKE",
	"W175": "RE-ACCEPT",
	"W176": "windows by transport",
	"W177": "--defer and --until",
	"W178": "--state",
	"W179": "the sweeper",
	"W180": "when it sweeps",
	"W181": "asking again",
	"W182": "instants are compared, in any zone",
	"W183": "when it is asked whether it still holds",
	"W184": "no answer makes it stale",
	"W185": "writers at once lose nothing",
	"W186": "recap",
	"W187": "forward",
	"W188": "talk is logged into the topic",
	"W189": "nothing runs by itself",
	"W190": "no default above 0.0",
	"W191": "checks and broadcasts are signed",
	"W192": "Rule 6 on what goes out",
	"W193": "five parts of context.md",
	"W194": "no memory is copied",
	"W195": "the same over every transport",
}

// perspectives says what must hold of inquiries, by their checklist. A test names in its comment
// the lines that it shows: "Frame F30, F31".
var perspectives = map[string]string{
	"F1":  "the question is kept byte for byte with its hash, and never rewritten",
	"F2":  "where the question is from, in one order, recorded",
	"F3":  "a brief has intent, deliverable and scope",
	"F4":  "the brief is shown before its gate, which has options alone",
	"F5":  "nothing is gathered before the brief is confirmed",
	"F6":  "the options of the brief and of the mode",
	"F7":  "both are asked in one interaction",
	"F8":  "the recommended mode stands first, with its reason",
	"F9":  "a modification asks for the brief alone; the mode stays",
	"F10": "the fast path only for a human's own text",
	"F11": "perspectives of an earlier inquiry may be given; proposals are told of its lenses and gaps",
	"F12": "context is gathered and recorded before perspectives are proposed",
	"F13": "context is in no member's prompt",
	"F14": "the gate on perspectives is always shown",
	"F15": "several may be chosen",
	"F16": "one perspective an option, no composites",
	"F17": "what the human named is chosen without being an option",
	"F18": "and it is named in the text",
	"F19": "with it there is at least one new one",
	"F20": "together they are two at least",
	"F21": "two at least to inquire, one to recommend",
	"F22": "each perspective is in tension with another one about one thing",
	"F23": "it is named by discipline, never by persona",
	"F24": "no perspective at all: the reasons, and a gate",
	"F25": "recommending ends with a trace, a tier and a note, without a team",
	"F26": "one agent or none fits: automatic; several: a gate",
	"F27": "the choice of agents changes no perspective",
	"F28": "one member a perspective, all started side by side",
	"F29": "one task a perspective, recorded after its start",
	"F30": "what a prompt has, and nothing else",
	"F31": "the question's hash is the same in all",
	"F32": "orientation is from the brief alone",
	"F33": "four sections and the demand for evidence are in it",
	"F34": "the form of reports and the names of triggers are not",
	"F35": "it forbids to talk to others unasked",
	"F36": "the coordinator analyses nothing itself",
	"F37": "members get no message while they work",
	"F38": "nothing of a member is read but its signal",
	"F39": "it goes on when all have signalled",
	"F40": "no limit of time ends the waiting, but one that the human accepted with the brief",
	"F41": "no partial result without a human's decision",
	"F42": "hashes of all results before the text of any",
	"F43": "the team is kept after collection",
	"F44": "a preview for each perspective, with its limits, before detection",
	"F45": "a preview is no gate",
	"F46": "detection is recorded before the synthesis",
	"F47": "each trigger cites words of results, exactly",
	"F48": "where there is none the three classes are named, and nobody talks",
	"F49": "peers get a neutral label",
	"F50": "members are addressed by exact name",
	"F51": "topic and form of the report reach both",
	"F52": "three messages a pair at most",
	"F53": "they may stop early",
	"F54": "the coordinator neither edits nor frames what they say",
	"F55": "each peer reports four fields",
	"F56": "one follow-up, only where something divides them, only to those",
	"F57": "the coordinator is silent after the answers",
	"F58": "outcomes are shown: resolution, strength, basis",
	"F59": "a synthesis reads results, reports and the human's input only",
	"F60": "its four sections",
	"F61": "a basis for each claim",
	"F62": "the coordinator's own fusion is marked",
	"F63": "without dialogue agreement is independent convergence",
	"F64": "each claim says whether it came from isolation or dialogue",
	"F65": "unexpected convergence is explained",
	"F66": "the synthesis is shown whole before how to go on is asked",
	"F67": "no gate's question carries context",
	"F68": "one framing by several members over three cycles is told",
	"F69": "early unanimity on what is contested is told",
	"F70": "a gate is never dropped silently",
	"F71": "the options of each gate are the defined ones",
	"F72": "one dominant option is a finding and no gate",
	"F73": "extend, add input, wrap up, withdraw",
	"F74": "each is worded from the synthesis; withdrawing has fixed words",
	"F75": "input makes another synthesis, not another inquiry",
	"F76": "extending: another perspective, deepening one, review",
	"F77": "what a deepening carries over is recorded",
	"F78": "the trace is shown before the end",
	"F79": "what is preserved is asked on wrap-up only",
	"F80": "the order of the end",
	"F81": "withdrawing keeps no findings",
	"F82": "esc at any point, by a human",
	"F83": "gaps are the union of the limits left open, and are kept",
	"F84": "it goes on until wrap-up, withdrawal or esc",
	"F85": "triggers are counted over inquiries",
}

// It prevents: a line of the checklists that no test shows any more, because a test was removed or
// never written.
func TestEveryLineOfTheChecklistHasATest(t *testing.T) {
	shown := map[string][]string{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(name, ".") && strings.Trim(name, ".") != "":
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			return marksOfTests(path, shown)
		case filepath.Ext(name) == ".txtar", filepath.Ext(name) == ".txt" && filepath.Base(filepath.Dir(path)) == "testdata":
			return marksOfScript(path, shown)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []map[string]string{lines, collaboration, perspectives} {
		for _, line := range slices.Sorted(maps.Keys(list)) {
			if tests := shown[line]; len(tests) == 0 {
				t.Errorf("no test names line %s: %s", line, list[line])
			} else {
				t.Logf("%s %s: %s", line, list[line], strings.Join(tests, ", "))
			}
			delete(shown, line)
		}
	}
	for line, tests := range shown {
		t.Errorf("there is no line %s, which %s names", line, strings.Join(tests, ", "))
	}
}

// checklistMark matches what names lines in a comment: "Crosstalk C20", "Work-with W30, W31",
// "Frame F12".
var checklistMark = regexp.MustCompile(`\b(?:Crosstalk\s[A-E][0-9]+|Work-with\sW[0-9]+(?:,\s(?://\s|#\s)?W[0-9]+)*|Frame\sF[0-9]+(?:,\sF[0-9]+)*)`)

// checklistLine matches one line within a mark.
var checklistLine = regexp.MustCompile(`\b[A-FW][0-9]+\b`)

// noteMarks notes the lines that a comment names.
func noteMarks(comment, test string, shown map[string][]string) {
	for _, mark := range checklistMark.FindAllString(comment, -1) {
		for _, line := range checklistLine.FindAllString(mark, -1) {
			if !slices.Contains(shown[line], test) {
				shown[line] = append(shown[line], test)
			}
		}
	}
}

// marksOfTests notes the lines that the comments of a file's tests name.
func marksOfTests(path string, shown map[string][]string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
			noteMarks(f.Doc.Text(), f.Name.Name, shown)
		}
	}
	return nil
}

// marksOfScript notes the lines that the comments of a script name.
func marksOfScript(path string, shown map[string][]string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "-- ") {
			return nil // the files that it needs follow
		}
		if strings.HasPrefix(line, "#") {
			noteMarks(line, filepath.Base(path), shown)
		}
	}
	return nil
}
