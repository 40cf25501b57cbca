package configs

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/size"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

// Config is config.yaml: the name of one node, where its record is shared and how it reaches other
// hosts. configs/config.example.yaml documents every key. Load and Validate make sure that the
// values are usable.
type Config struct {
	Fleet protocol.Name // required: all hosts that share one record
	Alias protocol.Name // this host's name in the fleet; "": it is found out (R11)
	Human protocol.Name // required: the human who decides here
	// Remote is the git URL or absolute path that the fleet shares. If it is "", the record stays
	// on this host alone.
	Remote string
	Bus    Bus

	FetchInterval time.Duration // how often the remote is looked at without a reason
	// PushInterval is the least time between two pushes. With 0, written "auto", it depends on the
	// remote. PushEvery returns the time to use.
	PushInterval time.Duration
	// CourierGrace is how long a message of another host may be missing from the remote before this
	// host commits and pushes it.
	CourierGrace time.Duration
	MaxHops      int // how many answers of agents to answers of agents there may be before it stops (R13)
	MaxRuns      int // how many runs of one agent within an hour agents may cause before the rest waits (R13)
	// MaxConversationRuns is how often agents may have each other run in a conversation since a
	// human last spoke in it, before the rest waits (R13).
	MaxConversationRuns int
	MaxTurns            int // how many turns of one session mail may begin within an hour before the rest waits (R13)
	// MaxCommands is how many commands of agents run at the same time on this host. With 0, written
	// "auto", it depends on the machine. Commands returns the number to use.
	MaxCommands    int
	MessageLimit   int           // bytes of one message file
	CommandTimeout time.Duration // for agents that set none of their own
	ClaimFor       time.Duration // how long mail that a session has taken is given to no other session
	LogLevel       string        // trace, debug, info, warn or error
	// Metrics is the host:port where Prometheus reads /metrics, and where anybody may read
	// /healthz. "" opens no port. Port 0 lets the system choose.
	Metrics string
	// Notify are the commands by which the human is told what happens.
	Notify []Notification
}

// Bus is how this host meets others live. The zero value is a server inside
// the process with no port at all.
type Bus struct {
	// Listen is the host:port where other NATS clients may connect; "" opens
	// no port. Port 0 lets the system choose.
	Listen string
	// Links is the host:port where other hosts of the fleet connect. "" means the result of
	// LinksAddress.
	Links string
	// Advertise are the host:port at which other hosts reach Links. If it is empty, that is the
	// bound address.
	Advertise []string
	// Hubs are hosts to dial before those of the record, as ALIAS@host:port or host:port: see
	// ParseHub.
	Hubs []string
	// URL is an existing NATS system, to use in place of a server of our own. It excludes the four
	// fields above.
	URL string
	// Creds and NKey are files that say who this host is at URL; only one may be set. Creds is a
	// NATS credentials file, NKey the seed of a user nkey. If both are "", it is the user in URL,
	// or else this host's own key.
	Creds, NKey string
	// CA is a file with the certificates to trust for a URL with TLS. "" means those of this
	// machine.
	CA string
	// Context is a context of the NATS command line, by name or as the absolute path of its file.
	// It takes the place of URL, Creds, NKey and CA.
	Context string
}

// Settings are all keys of config.yaml, bound to `c`, in the order of the file. Their names are
// those of "config show --json".
func Settings(c *Config) []Setting {
	return []Setting{
		nameSetting("fleet", &c.Fleet).checked(needed(&c.Fleet, "the fleet that shares one record")).means("name of the fleet"),
		nameSetting("alias", &c.Alias).means("of this host"),
		nameSetting("human", &c.Human).checked(needed(&c.Human, "the human who decides here")).means("who decides here"),
		textSetting("remote", &c.Remote).checked(func() error { return gitremote.Check(c.Remote) }).means(`where the record is shared; "": it is not shared`),
		textSetting("bus.listen", &c.Bus.Listen).checked(c.Bus.checkListen).means("bus.listen"),
		textSetting("bus.links", &c.Bus.Links).checked(c.Bus.checkLinks).means("where links come in, even if bus.links does not say it").used(func() any { return c.Bus.LinksAddress() }),
		listSetting("bus.advertise", &c.Bus.Advertise, asIs[string], toText[string]).checked(c.Bus.checkAdvertise).means("bus.advertise"),
		listSetting("bus.hubs", &c.Bus.Hubs, asIs[string], toText[string]).checked(c.Bus.checkHubs).means("bus.hubs"),
		textSetting("bus.url", &c.Bus.URL).checked(c.Bus.checkURL).means("bus.url, without its password"),
		c.Bus.systemFile("bus.creds", &c.Bus.Creds).checked(func() error { return c.Bus.checkOneWay(c.Bus.Creds != "") }),
		c.Bus.systemFile("bus.nkey", &c.Bus.NKey).checked(func() error { return c.Bus.checkOneWay(c.Bus.Creds == "") }),
		c.Bus.systemFile("bus.ca", &c.Bus.CA),
		textSetting("bus.context", &c.Bus.Context).checked(c.Bus.checkContext).means("bus.context"),
		durationSetting("fetch_interval", &c.FetchInterval, 10*time.Second, minInterval, maxInterval).means("between two looks at the remote"),
		autoSetting("push_interval", &c.PushInterval, span.Parse, span.Exact, "5s", minInterval, maxInterval).
			means("least time between two pushes; the value that is used for this remote").used(func() any { return c.PushEvery() }),
		durationSetting("courier_grace", &c.CourierGrace, 30*time.Second, minInterval, maxInterval).means("wait before messages of other hosts are committed here"),
		numberSetting("max_hops", &c.MaxHops, 8, 1, 1000).means("most answers of agents to each other in a row"),
		numberSetting("max_runs", &c.MaxRuns, 60, 1, maxMaxRuns).means("most runs of one agent within an hour that agents cause"),
		numberSetting("max_conversation_runs", &c.MaxConversationRuns, 30, 1, maxMaxRuns).means("most runs in a conversation that agents cause, since a human spoke in it"),
		numberSetting("max_turns", &c.MaxTurns, 20, 1, maxMaxRuns).means("most turns of one session within an hour that mail begins"),
		autoSetting("max_commands", &c.MaxCommands, parseNumber, strconv.Itoa, "8", 1, maxCommands).
			means("most commands of agents at once; the value that is used on this machine").used(func() any { return c.Commands() }),
		rangeSetting("message_limit", &c.MessageLimit, size.Parse, size.Exact, protocol.MessageLimit, protocol.MinMessageLimit, protocol.MaxMessageLimit).means("bytes"),
		durationSetting("command_timeout", &c.CommandTimeout, 60*time.Second, minTimeout, maxTimeout).means("for agents that set none of their own"),
		durationSetting("claim_for", &c.ClaimFor, 15*time.Minute, minTimeout, maxTimeout).means("how long mail that a session took is given to no other one"),
		matchSetting("log_level", &c.LogLevel, "info", "trace|debug|info|warn|error", "is not a level: use one of trace, debug, info, warn, error").means("how much the log says"),
		textSetting("metrics", &c.Metrics).checked(c.checkMetrics).means(`where Prometheus reads how the node fares; "": nowhere`),
		notifySetting("notify", &c.Notify).means("commands that tell the human what happens"),
	}
}

// Default is the configuration with all defaults. Fleet, Alias and Human have no default, and
// Validate refuses it as it is.
func Default() (c Config) {
	resetAll(Settings(&c))
	return c
}

// LinksAddress is the host:port for the links of other hosts. It is Links if that is set. Otherwise
// it is the port after that of Listen on the same host, or any port (0) if Listen has port 0. If
// Listen is not set either, it is "" and there is no port.
func (b Bus) LinksAddress() string {
	if b.Links != "" || b.Listen == "" {
		return b.Links
	}
	host, port, err := net.SplitHostPort(b.Listen)
	if err != nil {
		return ""
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return ""
	}
	if n != 0 {
		n++
	}
	return net.JoinHostPort(host, strconv.Itoa(n))
}

// PushEvery is the least time between two pushes. It is PushInterval if that is set. Otherwise it
// is 10 s for a remote on a public hosting service, because these ask for at most six pushes a
// minute, and 1 s for paths and private servers.
func (c Config) PushEvery() time.Duration {
	switch {
	case c.PushInterval != 0:
		return c.PushInterval
	case hosted(c.Remote):
		return 10 * time.Second
	}
	return time.Second
}

// Commands is how many commands of agents run at the same time on this host. It is MaxCommands if
// that is set. Otherwise it follows the memory of the machine: most commands wait for a model, and
// take memory meanwhile but no processor.
func (c Config) Commands() int {
	if c.MaxCommands != 0 {
		return c.MaxCommands
	}
	return commandsIn(machineMemory())
}

const (
	memoryOfCommand = 512 << 20 // what the program of a language model takes, in bytes
	fewestCommands  = 8
)

// commandsIn is how many commands fit into so many bytes of memory.
func commandsIn(memory uint64) int {
	return int(min(max(memory/memoryOfCommand, fewestCommands), maxCommands))
}

func hosted(remote string) bool {
	host := remoteHost(remote)
	return slices.ContainsFunc([]string{
		"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com", "visualstudio.com",
		"gitea.com", "gitee.com", "sr.ht", "notabug.org", "sourceforge.net",
	}, func(service string) bool { return host == service || strings.HasSuffix(host, "."+service) })
}

// remoteHost is the host that a git URL names, in lower case, or "" for a path. Git also knows the
// form [user@]host:path.
func remoteHost(remote string) string {
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil {
			return ""
		}
		return strings.ToLower(u.Hostname())
	}
	host, _, ok := strings.Cut(remote, ":")
	if !ok || strings.ContainsAny(host, `/\`) {
		return ""
	}
	return strings.ToLower(host[strings.LastIndex(host, "@")+1:])
}
