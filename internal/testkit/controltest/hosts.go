package controltest

import (
	"strings"

	"github.com/parleyfleet/parley/node/control"
)

func testHosts(s *suite) {
	s.inboxAgent("mawjs")
	status, err := control.ShowStatus.Ask(s.ctx, s.service)
	s.must(err)
	hosts, err := control.Hosts.Ask(s.ctx, s.service, control.HostsRequest{})
	s.must(err)
	if len(hosts) != 1 {
		s.Fatalf("hosts %+v: want the one", hosts)
	}
	h := hosts[0]
	if h.Alias != status.Host || h.State != control.HostHere || h.Version != status.Version || !h.Since.Equal(status.Since) {
		s.Errorf("host %+v: want what the status says of this one, %+v", h, status)
	}
	if !strings.HasPrefix(h.Key, "U") || !strings.HasPrefix(h.Fingerprint, "SHA256:") || h.LastSeen.IsZero() {
		s.Errorf("host %+v: want its key, the fingerprint and when it was last seen", h)
	}
	if h.LastMessage == nil || h.LastMessage.Seq == 0 || h.LastMessage.Path.IsZero() {
		s.Errorf("last message %+v: want what it wrote when it joined or served the agent", h.LastMessage)
	}
	s.equal("agents and humans", "mawjs "+s.human, h.Agents[0].String()+" "+h.Humans[0].String())
}

func testHost(s *suite) {
	status, err := control.ShowStatus.Ask(s.ctx, s.service)
	s.must(err)
	hosts, err := control.Hosts.Ask(s.ctx, s.service, control.HostsRequest{})
	s.must(err)
	h, err := control.ShowHost.Ask(s.ctx, s.service, control.HostRequest{Alias: status.Host.String()})
	s.must(err)
	s.equal("its key", hosts[0].Key, h.Key)
	_, err = control.ShowHost.Ask(s.ctx, s.service, control.HostRequest{Alias: "nobody"})
	s.wantKind("a host that is not there", err, control.KindNotFound)
	_, err = control.PingHost.Ask(s.ctx, s.service, control.PingRequest{Alias: "nobody"})
	s.wantKind("a ping of it", err, control.KindNotFound)
	_, err = control.PingHost.Ask(s.ctx, s.service, control.PingRequest{Alias: status.Host.String()})
	s.wantKind("a ping of this host", err, control.KindUsage)
}

func testFleetStatus(s *suite) {
	status, err := control.ShowStatus.Ask(s.ctx, s.service)
	s.must(err)
	fleet, err := control.AskFleet.Ask(s.ctx, s.service, control.HostsRequest{})
	s.must(err)
	if fleet.Fleet != status.Fleet || fleet.Asked != status.Host || len(fleet.Hosts) != 1 {
		s.Fatalf("fleet %+v: want this host alone", fleet)
	}
	h := fleet.Hosts[0]
	if h.Alias != status.Host || h.State != control.HostHere || !h.Answered || h.Messages != status.Record.Messages || h.Behind+h.Ahead != 0 {
		s.Errorf("host %+v: want what the status says, and nothing behind", h)
	}
}

func testHostCertificate(s *suite) {
	status, err := control.ShowStatus.Ask(s.ctx, s.service)
	s.must(err)
	c, err := control.HostCertificate.Ask(s.ctx, s.service, control.HostRequest{Alias: status.Host.String()})
	s.must(err)
	if c.Alias != status.Host || !strings.HasPrefix(c.PEM, "-----BEGIN CERTIFICATE-----\n") {
		s.Errorf("certificate %+v: want that of this host", c)
	}
	_, err = control.HostCertificate.Ask(s.ctx, s.service, control.HostRequest{Alias: "nobody"})
	s.wantKind("of a host that is not there", err, control.KindNotFound)
}
