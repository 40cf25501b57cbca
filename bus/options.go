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

// Config is where this host meets others. The zero value is a server inside the
// process without any port.
type Config struct {
	// Listen is the host:port where NATS clients may connect; "" opens no port,
	// port 0 lets the system choose. On an address that is not the loopback it
	// speaks TLS and lets nobody in without a key.
	Listen string
	// Links is the host:port where other hosts link up. "" with Listen set means
	// the port after it on the same host, or any where Listen has port 0.
	Links string
	// Advertise are the addresses, host:port, at which others reach the links port;
	// none means the bound one.
	Advertise []string
	// URL is an existing NATS system, several addresses separated by commas, used
	// instead of a server of our own. It excludes the others, and Options.Hubs.
	// Login is who this host is there.
	URL   string
	Login Login
}

// Options is all that a Bus needs to know.
type Options struct {
	Config
	Fleet    protocol.Name
	Alias    protocol.Name // this host
	RecordID string        // letters are signed for this record
	Key      nkeys.KeyPair // the host's user nkey with its seed: signs letters, proves the host to servers
	// Trusted tells which host a public nkey belongs to, by the record's key
	// history. It is asked at every use, from several goroutines, and may change
	// its mind while the bus runs. This host's own key needs no mention.
	Trusted func(publicKey string) (alias protocol.Name, ok bool)
	// Revoked tells of a public nkey that is not trusted whose it was until it was
	// revoked, so that its holder can be told. nil: no key was.
	Revoked func(publicKey string) (alias protocol.Name, ok bool)
	// Hubs tells which hosts take links, the ones to try first in front. It is asked
	// before each round of dials; Recheck says that it is worth to dial at once.
	// nil: this host dials nobody, ever.
	Hubs func() []Hub
	// Heard tells whether a host is heard on the bus now: by its presence, a short time
	// ago. nil: this host keeps links up, whatever they cut it off from (see rejoin).
	Heard func(host protocol.Name) bool
	// ServerID is random, kept by the node: the server is called Alias-ServerID,
	// and equal names make linked servers throw each other off. Those of all hosts
	// have the same number of hyphens.
	ServerID string
	Log      zerolog.Logger
	Now      func() time.Time // nil: time.Now
	Handlers Handlers
	// QueueBytes bounds what waits for the handlers; 0 means 96 MiB.
	QueueBytes int
	// Services answer questions from the first moment; Serve adds others later.
	Services map[protocol.Name]Service
	// Discovery is what this host says to whoever looks for NATS services.
	Discovery Discovery
}

// Service answers one kind of question of other hosts. from is proved by its
// key. ctx ends after 30 s and when the bus closes. An error is sent to the
// asker as its text. Up to 16 calls run at once.
type Service func(ctx context.Context, from protocol.Name, request []byte) ([]byte, error)

// Incoming is a message as it came by the bus, unchecked.
type Incoming struct {
	Sender  protocol.Name // as the subject says
	Subject string        // on which it came
	Path    protocol.Path // as the header says
	Data    []byte        // the exact bytes of the file; the receiver's to keep
}

// Handlers receive what other hosts say; nil ones are skipped. All of them are
// called from one goroutine, so they must not block long. The first call may
// come before Start has returned.
type Handlers struct {
	// Message gets everything that has queued up while the last calls ran, in the
	// order of arrival, so that one fsync serves all. The batch is the handler's to
	// keep.
	Message func(batch []Incoming)
	// Heard tells that a host has fsynced these messages, 1 to 500 of them.
	Heard func(from protocol.Name, paths []protocol.Path)
	// Heads tells how far the chains of hosts go, as that host knows: 1 to 64 of them.
	Heads func(from protocol.Name, heads []protocol.Head)
	// Bell tells that, as that host knows, the remote has moved.
	Bell func(from protocol.Name)
	// Presence tells about a host that came, is still there or leaves. That of
	// this host comes too: should its name and key be in use twice, Run tells.
	Presence func(Presence)
	// Linked tells that a link to another server, or the connection to URL, came
	// up and can be used, at least once for each time. The node announces itself
	// again.
	Linked func()
	// Unlinked tells that the last link to the server of a host has ended: it may be
	// gone, or be back in a moment. On an existing system there are no such links: it
	// tells with "" that the connection to the system has ended.
	Unlinked func(host protocol.Name)
}

// Presence is what a host tells about itself.
type Presence struct {
	Host    protocol.Name `json:"host"`  // set by Announce; of a received one, proved
	Live    bool          `json:"live"`  // false: it is about to leave
	Since   time.Time     `json:"since"` // when its node started
	Version string        `json:"version"`
	Agents  []string      `json:"agents"`
	Pushes  bool          `json:"pushes"` // it can push to the shared remote
	Run     string        `json:"run"`    // random, new with every start of its node
	Machine string        `json:"machine"`
	// Wants are hosts that the sender would like to hear from: it knows their keys
	// since a moment ago. At most MaxWants.
	Wants []protocol.Name `json:"wants,omitempty"`
	// Lost are hosts that the sender can reach no more, since a moment ago: others may
	// have heard them through it. At most MaxWants.
	Lost []protocol.Name `json:"lost,omitempty"`
	// At is what agents are doing, by name, one word each. Of an agent that is missing here it is
	// not known. Hosts of earlier versions tell of none.
	At map[string]string `json:"at,omitempty"`
	// Lacks is the agent or program of which members of inquiries are made, as the fleet's policy
	// says, and which this host does not have; "" for none. Hosts of earlier versions tell of none.
	Lacks string    `json:"lacks,omitempty"`
	Seen  time.Time `json:"-"`     // when it was received, by our clock
	Sent  time.Time `json:"-"`     // when it was sent, by that of the host
	Start uint64    `json:"start"` // rises with every start of its node: tells an old presence from a new one
	Count uint64    `json:"count"` // set by Announce: rises within a run
}

// MaxWants is how many hosts one presence letter asks for, or tells of.
const MaxWants = 64

// Addresses are the bound addresses, host:port, of a bus; "" where there is no
// port. Where all of the machine are bound, 0.0.0.0 or [::] stands there, as the
// operator wrote it.
type Addresses struct {
	Clients string // for any NATS client
	Links   string // for other hosts
	// Advertised are the addresses at which others reach the links port.
	Advertised []string
}

// Link is one link to another server, up or not.
type Link struct {
	Peer    string        // the server's name, or whom we dial
	Host    protocol.Name // whose key was proved, "" while that is unknown
	Address string        // its address, "" while there is none
	Out     bool          // we dial it
	Up      bool          // the peer hears the fleet's subjects through it
	HalfUp  bool          // connected, but not up yet
	RTT     time.Duration // round trip, 0 while unknown
	Since   time.Time     // when it came to be up, or down
	Young   bool          // it is down since a short time only, and may be on its way up
	Problem string        // why it is not up, as far as known, or what is amiss though it is
}

// check refuses options that cannot work.
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

// linksAddress is the address for the links of other hosts, "" for none.
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
