package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/parleyfleet/parley/protocol"
)

// Discovery is what a host answers to anybody who looks for NATS services. Each host is one
// instance of the service "parley". It answers $SRV.PING, $SRV.INFO and $SRV.STATS, also with
// .parley and .parley.<id> behind. These answers prove nothing. They are for tools and people, and
// no part of parley relies on them.
type Discovery struct {
	Version string     // of the program, in the form of semver.org
	Agents  func() int // how many agents this host serves now; nil: the host does not answer
}

const (
	serviceName        = "parley"
	serviceDescription = "a host of a parley fleet: agents that talk live, with every word in git"

	// maxLooks bounds the requests on one subject that wait for an answer.
	maxLooks      = 256
	maxLooksBytes = 1 << 20
)

// discover answers anybody who looks for services, if that is wanted.
type discover struct {
	bus     *Bus
	id      string
	started time.Time

	mu    sync.Mutex // guards asked
	asked map[protocol.Name]micro.EndpointStats
}

// subscribe listens for requests. An existing system may forbid it. Then nobody finds this host in
// that way, and everything else works.
func (d *discover) subscribe() error {
	if d.bus.opts.Discovery.Agents == nil {
		return nil
	}
	for verb, answer := range map[micro.Verb]func() any{
		micro.PingVerb:  func() any { return micro.Ping{ServiceIdentity: d.identity(), Type: micro.PingResponseType} },
		micro.InfoVerb:  func() any { return d.info() },
		micro.StatsVerb: func() any { return d.stats() },
	} {
		for _, who := range []struct{ name, id string }{{}, {serviceName, ""}, {serviceName, d.id}} {
			if err := d.listen(verb, who.name, who.id, answer); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *discover) listen(verb micro.Verb, name, id string, answer func() any) error {
	subject, err := micro.ControlSubject(verb, name, id)
	if err != nil {
		return err
	}
	sub, err := d.bus.conn.Subscribe(subject, func(msg *nats.Msg) {
		root, _, _ := strings.Cut(msg.Reply, ".")
		if !d.bus.desk.budget.look() || msg.Reply == "" || root == protocol.SubjectRoot || strings.HasPrefix(root, "$") {
			return
		}
		data, err := json.Marshal(answer())
		if err == nil {
			err = d.bus.conn.Publish(msg.Reply, data)
		}
		if err != nil {
			d.bus.opts.Log.Debug().Err(err).Str("subject", msg.Subject).Msg("cannot answer who looks for services")
		}
	})
	if err == nil {
		err = sub.SetPendingLimits(maxLooks, maxLooksBytes)
	}
	if err != nil {
		return fmt.Errorf("cannot subscribe to %s: %w", subject, err)
	}
	return nil
}

func (d *discover) identity() micro.ServiceIdentity {
	o := d.bus.opts
	return micro.ServiceIdentity{
		Name: serviceName, ID: d.id, Version: o.Discovery.Version,
		Metadata: map[string]string{
			"host": o.Alias.String(), "fleet": o.Fleet.String(), "record": o.RecordID,
			"version": o.Discovery.Version, "agents": strconv.Itoa(o.Discovery.Agents()),
		},
	}
}

func (d *discover) info() micro.Info {
	info := micro.Info{ServiceIdentity: d.identity(), Type: micro.InfoResponseType, Description: serviceDescription, Endpoints: []micro.EndpointInfo{}}
	for _, what := range d.bus.desk.services.names() {
		info.Endpoints = append(info.Endpoints, micro.EndpointInfo{
			Name: what.String(), Subject: d.bus.subjects.AskPattern(d.bus.opts.Alias, what), Metadata: map[string]string{}})
	}
	return info
}

func (d *discover) stats() micro.Stats {
	stats := micro.Stats{ServiceIdentity: d.identity(), Type: micro.StatsResponseType, Started: d.started, Endpoints: []*micro.EndpointStats{}}
	for _, what := range d.bus.desk.services.names() {
		d.mu.Lock()
		e := d.asked[what]
		d.mu.Unlock()
		e.Name, e.Subject = what.String(), d.bus.subjects.AskPattern(d.bus.opts.Alias, what)
		stats.Endpoints = append(stats.Endpoints, &e)
	}
	return stats
}

// note counts one question. It must be of a kind that this host answers. So what strangers ask
// takes no room.
func (d *discover) note(what protocol.Name, took time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.asked[what]
	e.NumRequests++
	e.ProcessingTime += took
	e.AverageProcessingTime = e.ProcessingTime / time.Duration(e.NumRequests)
	if err != nil {
		e.NumErrors++
		e.LastError = err.Error()
	}
	d.asked[what] = e
}

// forbidden reports whether `err` is the word of an existing system that this host may not answer
// those who look for services.
func (d *discover) forbidden(err error) bool {
	return errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"`+micro.APIPrefix+".")
}
