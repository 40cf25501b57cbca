package controltest

import (
	"strings"

	"github.com/parleyfleet/parley/node/control"
)

func testHosts(s *suite) {
	s.inboxAgent("mawjs")
	status, err := s.service.Status(s.ctx)
	s.must(err)
	hosts, err := s.service.Hosts(s.ctx)
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
