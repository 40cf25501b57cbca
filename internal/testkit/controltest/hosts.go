package controltest

import (
	"strings"

	"github.com/parleyfleet/parley/node/control"
)

func testHosts(s *suite) {
	s.inboxAgent("mawjs")
	status := ask(s, control.ShowStatus.Verb, control.None{})
	hosts := ask(s, control.Hosts, control.HostsRequest{})
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
	status := ask(s, control.ShowStatus.Verb, control.None{})
	hosts := ask(s, control.Hosts, control.HostsRequest{})
	h := ask(s, control.ShowHost, control.HostRequest{Alias: status.Host.String()})
	s.equal("its key", hosts[0].Key, h.Key)
	refused(s, "a host that is not there", control.KindNotFound, control.ShowHost, control.HostRequest{Alias: "nobody"})
	refused(s, "a ping of it", control.KindNotFound, control.PingHost, control.PingRequest{Alias: "nobody"})
	refused(s, "a ping of this host", control.KindUsage, control.PingHost, control.PingRequest{Alias: status.Host.String()})
}

func testFleetStatus(s *suite) {
	status := ask(s, control.ShowStatus.Verb, control.None{})
	fleet := ask(s, control.AskFleet, control.HostsRequest{})
	if fleet.Fleet != status.Fleet || fleet.Asked != status.Host || len(fleet.Hosts) != 1 {
		s.Fatalf("fleet %+v: want this host alone", fleet)
	}
	h := fleet.Hosts[0]
	if h.Alias != status.Host || h.State != control.HostHere || !h.Answered || h.Messages != status.Record.Messages || h.Behind+h.Ahead != 0 {
		s.Errorf("host %+v: want what the status says, and nothing behind", h)
	}
}

func testHostCertificate(s *suite) {
	status := ask(s, control.ShowStatus.Verb, control.None{})
	c := ask(s, control.HostCertificate, control.HostRequest{Alias: status.Host.String()})
	if c.Alias != status.Host || !strings.HasPrefix(c.PEM, "-----BEGIN CERTIFICATE-----\n") {
		s.Errorf("certificate %+v: want that of this host", c)
	}
	refused(s, "of a host that is not there", control.KindNotFound, control.HostCertificate, control.HostRequest{Alias: "nobody"})
}
