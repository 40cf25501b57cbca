package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/protocol"
)

// Config is where this host meets others. The zero value is a server inside the process without any
// port.
type Config struct {
	// Listen is the host:port where NATS clients may connect; "" opens no port,
	// port 0 lets the system choose. On an address that is not the loopback it
	// speaks TLS and lets nobody in without a key.
	Listen string
	// Links is the host:port where other hosts link up. If it is "" and Listen is set, it is the
	// port after that of Listen on the same host, or any port if Listen has port 0.
	Links string
	// Advertise are the addresses, host:port, at which others reach the links port;
	// none means the bound one.
	Advertise []string
	// URL is an existing NATS system, one or several addresses separated by commas. It is used in
	// place of a server of our own. It excludes the fields above, and Options.Hubs. Login is who
	// this host is there.
	URL   string
	Login Login
}

// Options are what a Bus needs to know.
type Options struct {
	Config
	Fleet    protocol.Name
	Alias    protocol.Name // this host
	RecordID string        // letters are signed for this record
	Key      nkeys.KeyPair // the host's user nkey with its seed: signs letters, and proves to servers who the host is
	// Former are the keys that this host has had before, the newest first. With them it shows hosts that
	// were away that Key follows.
	Former []nkeys.KeyPair
	// Trusted says to which host a public nkey belongs, by the record's history of keys. It is
	// asked at every use, from several goroutines. Its answers may change while the bus runs. This
	// host's own key need not be among them.
	Trusted func(publicKey string) (alias protocol.Name, ok bool)
	// Revoked says whose key a public nkey was until it was revoked, so that its holder can be
	// told. nil: no key was revoked.
	Revoked func(publicKey string) (alias protocol.Name, ok bool)
	// Hubs says which hosts take links, the one to try first in front. It is asked before each
	// round of dials. Recheck says that it is worth dialling at once. nil: this host never dials
	// anybody.
	Hubs func() []Hub
	// Heard says whether a host is heard on the bus now: its presence came a short time ago. nil:
	// this host keeps links up, even if they cut it off from others (see rejoin).
	Heard func(host protocol.Name) bool
	// ServerID is random, and the node keeps it. The server is called Alias-ServerID. Servers with
	// the same name throw each other off when they are linked. The ids of all hosts have the same
	// number of hyphens.
	ServerID string
	Log      zerolog.Logger
	Now      func() time.Time // nil: time.Now
	Handlers Handlers
	// QueueBytes bounds how many bytes may wait for the handlers; 0 means 96 MiB.
	QueueBytes int
	// Services answer questions from the beginning; Serve adds others later.
	Services map[protocol.Name]Service
	// Streams are what the links port serves besides links.
	Streams []Stream
	// Discovery is what this host answers to anybody who looks for NATS services.
	Discovery Discovery
}

// Service answers one kind of question of other hosts. A key has proved that `from` asks. `ctx`
// ends after 30 s, and when the bus closes. The text of an error is sent to the asker. Up to 16
// calls run at once.
type Service func(ctx context.Context, from protocol.Name, request []byte) ([]byte, error)

// Incoming is a message as it came by the bus, unchecked.
type Incoming struct {
	Sender  protocol.Name // the host in the subject
	Subject string        // the subject on which it came
	Path    protocol.Path // the path in the header
	Data    []byte        // the exact bytes of the file; the receiver may keep them
}

// Handlers receive what other hosts say. A handler that is nil is skipped. All of them are called
// from one goroutine, so they must not block for long. The first call may come before Start has
// returned.
type Handlers struct {
	// Message gets everything that has queued up during the last calls, in the order of arrival, so
	// that one fsync is enough for all. The handler may keep the batch.
	Message func(batch []Incoming)
	// Heard gets messages that a host has fsynced, 1 to 500 of them. If it names an agent, these are
	// messages for which the program of a session of that agent took the bell.
	Heard func(from, agent protocol.Name, paths []protocol.Path)
	// Heads gets how far the chains of hosts go, as far as that host knows: 1 to 64 heads.
	Heads func(from protocol.Name, heads []protocol.Head)
	// Bell says that the remote has moved, as far as that host knows.
	Bell func(from protocol.Name)
	// Presence gets what a host says that came, is still there or leaves. This host's own presence
	// comes too: if its name and key are in use twice, its Run shows it.
	Presence func(Presence)
	// Linked says that a link to another server, or the connection to URL, has come up and can be
	// used. It is called at least once for each time. The node announces itself again.
	Linked func()
	// Unlinked says that the last link to the server of a host has ended. The host may be gone, or
	// back in a moment. On an existing system there are no such links: there, "" says that the
	// connection to the system has ended.
	Unlinked func(host protocol.Name)
}

// Presence is what a host tells about itself.
type Presence struct {
	Host    protocol.Name `json:"host"`  // set by Announce; if received, proved by a key
	Live    bool          `json:"live"`  // false: it is about to leave
	Since   time.Time     `json:"since"` // when its node started
	Version string        `json:"version"`
	Agents  []string      `json:"agents"`
	// Sessions are agents that are sessions of agent programs, of which the record does not tell yet.
	Sessions []string `json:"sessions,omitempty"`
	Pushes   bool     `json:"pushes"` // it can push to the shared remote
	Run      string   `json:"run"`    // random, and new with every start of its node
	Machine  string   `json:"machine"`
	// Wants are hosts from which the sender would like to hear, because it has known their keys
	// only for a moment. At most MaxWants.
	Wants []protocol.Name `json:"wants,omitempty"`
	// Lost are hosts that the sender can no longer reach, for a moment now. Others may have heard
	// them through it. At most MaxWants.
	Lost []protocol.Name `json:"lost,omitempty"`
	// At is what agents are doing, by name, one word for each. If an agent is missing here, it is
	// not known what it does. Hosts of earlier versions name none.
	At map[string]string `json:"at,omitempty"`
	// Lacks is the agent or program of which members of inquiries are made, as the fleet's policy
	// says, if this host does not have it, and else "". Hosts of earlier versions never say it.
	Lacks string `json:"lacks,omitempty"`
	// Stuck are calls of members of inquiries that have failed on this host and are still to be made,
	// at most protocol.MaxStuck. Hosts of earlier versions never say it.
	Stuck []protocol.Stuck `json:"stuck,omitempty"`
	// Waits is why sessions of agent programs do not take up their mail, by the name of the agent.
	Waits map[string]protocol.Waits `json:"waits,omitempty"`
	Seen  time.Time                 `json:"-"`     // when it was received, by our clock
	Sent  time.Time                 `json:"-"`     // when it was sent, by the clock of that host
	Start uint64                    `json:"start"` // rises with every start of its node, so that an old presence is recognized
	Count uint64                    `json:"count"` // set by Announce: rises within a run
}

// MaxWants is how many hosts one presence letter may have in Wants, and in Lost.
const MaxWants = 64

// Addresses are the bound addresses of a bus, host:port. One is "" if there is no such port. If all
// addresses of the machine are bound, it has 0.0.0.0 or [::], as the operator wrote it.
type Addresses struct {
	Clients string // for any NATS client
	Links   string // for other hosts
	// Advertised are the addresses at which others reach the links port.
	Advertised []string
}

// Link is one link to another server, up or not.
type Link struct {
	Peer    string        // the server's name, or the host or address that we dial
	Host    protocol.Name // the host whose key was proved; "" while that is not known
	Address string        // its address; "" while there is none
	Out     bool          // we dial it
	Up      bool          // the peer hears the fleet's subjects through it
	HalfUp  bool          // connected, but not up yet
	RTT     time.Duration // round trip; 0 while it is not known
	Since   time.Time     // since when it is up, or down
	Young   bool          // it has been down only for a short time, and may be coming up
	Problem string        // why it is not up, as far as this is known, or what is wrong although it is up
	Cause   Cause         // the kind of that reason, if there is one
}

func (o *Options) check() error {
	switch {
	case o.Fleet == "" || o.Alias == "":
		return errors.New("fleet and alias are required")
	case o.RecordID == "":
		return errors.New("the record id is required")
	case o.Key == nil || o.Trusted == nil:
		return errors.New("a key, and a way to know the keys of others, are required")
	case o.URL != "" && (o.Listen != "" || o.Links != "" || len(o.Advertise) > 0 || o.Hubs != nil):
		return errors.New("a url excludes listen, links and hubs")
	case o.URL == "" && o.Login != Login{}:
		return errors.New("a login without a url")
	case o.URL == "" && o.ServerID == "":
		return errors.New("a server id is required")
	}
	return nil
}

// linksAddress is the address for the links of other hosts; "" for none.
func (c Config) linksAddress() (string, error) {
	if c.Links != "" || c.Listen == "" {
		return c.Links, nil
	}
	host, port, err := protocol.SplitHostPort(c.Listen)
	if err != nil {
		return "", fmt.Errorf("cannot listen: %w", err)
	}
	if port != 0 {
		port++
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}
