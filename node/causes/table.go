package causes

// The causes why a message has no answer. Those of doctor alone stand behind them, with their words.
const (
	Answered    ID = "answered"
	HostOut     ID = "host-out"
	Nobody      ID = "nobody"
	NoKey       ID = "no-key"
	WakesNobody ID = "wakes-nobody"
	Missing     ID = "missing"
	SignedOut   ID = "signed-out"
	Hops        ID = "hops"
	Canceled    ID = "canceled"
	Dead        ID = "dead"
	DiskFull    ID = "disk"
	Gate        ID = "gate"
	Claimed     ID = "claimed"
	Unverified  ID = "unverified"
	Paused      ID = "paused"
	Stalled     ID = "stalled"
	Running     ID = "running"
	Gone        ID = "gone"
	NoHooks     ID = "no-hooks"
	Human       ID = "human"
	Muted       ID = "muted"
	Turns       ID = "turns"
	Woken       ID = "woken"
	NextTurn    ID = "turn"
	Read        ID = "read"
	Withheld    ID = "withheld"
	KeyUnknown  ID = "key-unknown"
	ClockOff    ID = "clock"
	LinkDown    ID = "link"
	RemoteFails ID = "remote"
	Away        ID = "away"
	Silent      ID = "silent"
	Waits       ID = "waits"
	UnderWay    ID = "under-way"
)

// The causes that doctor alone finds.
const (
	NoHome        ID = "no-home"
	HomeOpen      ID = "home-open"
	HomeBroken    ID = "home-broken"
	ConfigWrong   ID = "config-wrong"
	ConfigChanged ID = "config-changed"
	ConfigRisky   ID = "config-risky"
	KeyMissing    ID = "key-missing"
	KeyOpen       ID = "key-open"
	NoNode        ID = "no-node"
	NodeSilent    ID = "node-silent"
	NodePath      ID = "node-path"
	Leftover      ID = "leftover"
	Warned        ID = "warned"
	NodeVersion   ID = "node-version"
	FleetVersion  ID = "fleet-version"
	DiskLow       ID = "disk-low"
	RecordGone    ID = "record-gone"
	RecordLost    ID = "record-lost"
	Flagged       ID = "flagged"
	Refused       ID = "refused"
	NotRecorded   ID = "not-recorded"
	KeptBack      ID = "kept-back"
	Unpushed      ID = "unpushed"
	NoBackup      ID = "no-backup"
	NoLinks       ID = "no-links"
	BusRefuses    ID = "bus-refuses"
	HeldBack      ID = "held-back"
	ByGit         ID = "by-git"
	ClocksDiffer  ID = "clocks"
	HostSilent    ID = "host-silent"
	HostBehind    ID = "host-behind"
	HostRemote    ID = "host-remote"
	HostLink      ID = "host-link"
	OverBudget    ID = "over-budget"
	Failing       ID = "failing"
	DeadLetters   ID = "dead-letters"
	NoProfile     ID = "profile"
	Program       ID = "program"
	HookMissing   ID = "hook-missing"
	NotifyFails   ID = "notify"
	NoMonitor     ID = "no-monitor"
	Gates         ID = "gates"
)

// table has every cause once. Of several that hold of one message, the first one is the verdict.
var table = []cause{
	{Answered, Message, Green, "{agent} has answered", "the answer is {text}", "parley show {text}", false},
	{HostOut, Hosts, Green, "host {host} is out of the fleet", "{agent} is on it; its key was revoked", "parley who", false},
	{Nobody, Message, Green, "nobody in the fleet is called {agent} any more", "no host serves that name; after 10 minutes the message is a dead letter", "parley who", false},
	{NoKey, Hosts, Green, "host {host} has no key in the record", "another program writes for it, and no node of parley runs {agent} there", "parley who", false},
	{Gate, Message, Green, "it waits for a human: {text}", "a gate is open for {agent}", "parley gates", true},
	{WakesNobody, Message, Green, "{agent} is not woken by a message of this kind ({text})", "it is read, and nobody is run for it (wakes_on)", "parley agent show {agent}", true},
	{Missing, Agents, Red, "{agent} cannot be run on {host}: its program is not there", "{text}", "parley agent show {agent}", true},
	{SignedOut, Agents, Green, "the program of {agent} is not signed in on {host}", "sign in to it there as the user of the node; it said: {text}", "parley agent retry {id}", false},
	{Hops, Message, Green, "{agent} is not run: agents have answered each other too often", "their conversation was stopped (max_hops); a word of yours begins it anew", "parley reply {id} TEXT", false},
	{Canceled, Message, Green, "the work of {agent} was canceled", "{text}", "parley hey {agent} TEXT", false},
	{Dead, Message, Green, "{agent} has given it up: it is a dead letter", "{text}", "parley agent retry {id}", false},
	{DiskFull, Disk, Red, "host {host} stores no messages", "{text}", "parley doctor", true},
	{Claimed, Agents, Yellow, "another host has claimed the work of {agent} and does not do it", "{text}", "parley agent retry {id} --agent {agent}", false},
	{Unverified, Message, Green, "{agent} takes no mail whose author nobody proves (accepts: verified)", "{text}", "parley agent set {agent} --accepts anyone", true},
	{Paused, Agents, Yellow, "{agent} is paused on {host}", "somebody has paused it; its mail waits", "parley agent resume {agent}", true},
	{"budget", Agents, Green, "{agent} is over budget on {host}", "agents have had it run as often as they may: {text}", "parley agent resume {agent}", true},
	{"quiet", Agents, Green, "it is quiet hours for {agent}", "{text}", "parley agent show {agent}", true},
	{Stalled, Agents, Red, "{agent} cannot start on {host}", "the disk does not take the note that it starts: {text}", "parley status", true},
	{"halted", Node, Green, "host {host} runs no agent for now", "{text}", "parley doctor", true},
	{"retry", Agents, Green, "an attempt of {agent} failed; the next one is due at {at}", "{text}", "parley agent queue {agent}", true},
	{"party-busy", Message, Green, "{agent} is busy in the party", "it has said so; it goes on when it says that it is active", "parley party who", false},
	{"order", Message, Green, "{agent} waits for what was written before it", "it is on the way, or is asked for", "parley agent queue {agent}", true},
	{"claim", Message, Green, "hosts settle which of them works for {agent}", "several serve it, and the remote says who is first", "parley agent queue {agent}", true},
	{"receipt", Message, Green, "{agent} waits for the receipt that may say what it answers", "it is on the way", "parley agent queue {agent}", true},
	{"slots", Agents, Green, "{agent} is in line: host {host} runs as many commands as it may", "max_commands in config.yaml of that host; {text}", "parley agent queue", true},
	{"busy", Agents, Green, "{agent} works on others first", "{text}", "parley agent queue {agent}", true},
	{Running, Message, Green, "{agent} is at work on it", "{text}", "parley wait --re {id}", false},
	{Gone, Sessions, Green, "no session of {agent} is open on {host}", "its mail waits until one is there", "parley agent open {agent}", true},
	{NoHooks, Sessions, Yellow, "the program of {agent} runs no hooks of parley's on {host}", "they are not installed, or its human has not trusted them ({text})", "parley doctor {text}", true},
	{Human, Sessions, Green, "{agent} waits for its human on {host}", "its program has asked something since {at}: answer it there", "parley who", false},
	{Muted, Sessions, Green, "{agent} is muted until {at}", "its mail waits for its next turn", "parley session mute 0s --as {agent}", true},
	{Turns, Sessions, Green, "{agent} takes up no more mail until {at}", "mail has begun as many turns of it within an hour as it may (max_turns)", "parley session list", true},
	{Woken, Message, Green, "{agent} was woken and has not read it yet", "its program took the bell; a turn of it begins", "parley wait --re {id}", false},
	{NextTurn, Sessions, Green, "{agent} is idle, and hears at its next turn", "nothing can wake its program on {host}", "parley doctor", true},
	{Read, Message, Green, "{agent} has read it and not answered", "nothing runs for it any more, as far as is known", "parley reply {id} TEXT", false},
	{Withheld, Message, Green, "it is withheld from the remote, and host {host} is reached by that alone", "the remote refuses what it says, or it is too large for it", "parley record withhold --help", false},
	{KeyUnknown, Links, Red, "host {host} and this one do not know each other's key", "{text}", "parley fleet sync", true},
	{ClockOff, Clock, Yellow, "the clock of {host} is {text} this one's", "times look wrong, and from 36 hours on its letters are refused", "timedatectl", true},
	{LinkDown, Links, Red, "the link to {host} is down", "{text}", "parley fleet probe {host}", false},
	{RemoteFails, Remote, Red, "the remote cannot be used", "{text}", "parley fleet sync", false},
	{Away, Hosts, Yellow, "host {host} is away", "it was last seen at {at}; what waits is there when it is back", "parley fleet show {host}", false},
	{Silent, Hosts, Green, "host {host} is there and did not say what it knows", "{text}", "parley fleet ping {host}", false},
	{Waits, Message, Green, "{agent} has not read it yet", "it lies in its inbox until it asks for it", "parley who", false},
	{UnderWay, Message, Green, "it is on the way to {agent} on {host}", "{text}", "parley trace {id}", false},

	{NoHome, Home, Red, "there is no node of yours here", "", "parley install", false},
	{HomeOpen, Home, Red, "other users of this machine can look into the home", "{text}", "parley doctor --fix", false},
	{HomeBroken, Home, Red, "the home is not whole", "{text}", "parley init --help", false},
	{ConfigWrong, Home, Red, "config.yaml cannot be used: the node could not be started again", "{text}", "parley config check", false},
	{ConfigRisky, Home, Yellow, "config.yaml: {text}", "", "parley config check", false},
	{ConfigChanged, Home, Red, "the node runs with other settings than config.yaml has now", "{text}", "parley restart", false},
	{KeyMissing, Keys, Red, "this host's key is not there", "{text}", "parley join --help", false},
	{KeyOpen, Keys, Red, "a key is open to other users of this machine", "{text}; if somebody may have read it, take a new one", "parley doctor --fix", false},
	{NoNode, Node, Yellow, "no node runs here", "without one sessions hear nothing; only what lies on the disk was looked at", "parley up -d", false},
	{NodePath, Node, Yellow, "your terminals look for programs in folders in which the node does not", "{text}; a restart from a new terminal takes them in; of a service, parley install service", "parley restart", false},
	{NodeSilent, Node, Red, "the node does not answer", "{text}", "parley restart", false},
	{Leftover, Node, Yellow, "what ended at once has left: {text}", "nobody uses it, and git or a node may stumble over it", "parley doctor --fix", false},
	{Warned, Node, Red, "{text}", "", "parley status", false},
	{NodeVersion, Versions, Yellow, "the node is of version {text}", "a node goes on as it was started", "parley restart", false},
	{FleetVersion, Versions, Yellow, "{host} is of version {text}", "hosts understand each other from one version to the next", "parley status --fleet", false},
	{DiskLow, Disk, Yellow, "the disk of the home is almost full: {text} left", "a node that cannot store refuses messages", "parley record stats", false},
	{RecordGone, Record, Red, "record.git is not there or cannot be read", "{text}", "parley record rebuild --help", false},
	{RecordLost, Record, Red, "a part of the record is lost on this disk", "{text}", "parley record verify", false},
	{Flagged, Record, Yellow, "files of the record count for nothing: {text}", "somebody pushed them, or a key was lost", "parley record verify", false},
	{Refused, Record, Yellow, "{text} refused since the start", "their signatures do not hold", "parley record verify", false},
	{NotRecorded, Record, Red, "what is stored stays in the journal", "{text}", "parley logs", false},
	{KeptBack, Record, Yellow, "{text} kept from the remote", "hosts that have only that do not get them", "parley record withhold --help", false},
	{Unpushed, Remote, Yellow, "{text} wait to be pushed", "the remote has not got them yet", "parley fleet sync", false},
	{NoBackup, Backups, Yellow, "the record is on this machine alone", "{text}", "parley record backup DIR", false},
	{NoLinks, Links, Yellow, "no host of the fleet takes links", "hosts meet through git alone, which is slow", "parley fleet listen ADDRESS:PORT", false},
	{BusRefuses, Links, Red, "what came by the bus was refused", "{text}", "parley status", false},
	{HeldBack, Keys, Yellow, "{text} wait for the key of their host", "the record has not brought it yet", "parley fleet sync", false},
	{ClocksDiffer, Clock, Red, "{text}", "", "timedatectl", false},
	{ByGit, Hosts, Yellow, "{host} writes, and can be reached by git alone", "the bus does not reach it", "parley fleet show {host}", false},
	{HostSilent, Hosts, Red, "{host} does not answer", "{text}", "parley fleet ping {host}", false},
	{HostBehind, Hosts, Yellow, "{host} lacks {text}", "it is asked for what it lacks, or fetches it", "parley fleet sync", true},
	{HostRemote, Hosts, Red, "{host} cannot use the remote", "{text}", "parley status", true},
	{HostLink, Hosts, Red, "a link of {host} is down", "{text}", "parley status", true},
	{OverBudget, Agents, Yellow, "{agent} is over budget: {text} wait", "agents have had it run as often as they may", "parley agent resume {agent}", false},
	{Failing, Agents, Red, "{agent} fails: {text}", "they are tried again", "parley agent queue {agent}", false},
	{DeadLetters, Agents, Red, "{agent} has given up {text}", "their senders were told", "parley agent dlq list {agent}", false},
	{NoProfile, Agents, Yellow, "the profile of {agent} is not accepted here ({text})", "its prompts have it as text of others, or not at all", "parley agent accept {agent}", false},
	{Program, Sessions, Yellow, "{agent}: {text}", "", "parley install {agent}", false},
	{HookMissing, Sessions, Yellow, "{agent}: {text}", "", "parley doctor --fix", false},
	{NoMonitor, Sessions, Yellow, "{agent}: {text}", "", "type /reload-plugins there", false},
	{NotifyFails, Notices, Yellow, "{text}", "", "parley notify test", false},
	{Gates, Notices, Yellow, "{text} for you to decide", "somebody waits for that", "parley gates", false},
}
