package controltest

import (
	"github.com/parleyfleet/parley/node/control"
)

func testStatus(s *suite) {
	status, err := s.service.Status(s.ctx)
	s.must(err)
	if status.API != control.API || status.Version == "" || status.Fleet == "" || status.Host == "" || status.Human == "" {
		s.Errorf("status %+v: want API %d, a version, fleet, host and human", status, control.API)
	}
}

func testAgents(s *suite) {
	s.inboxAgent("volt")
	dir := s.TempDir()
	added, err := s.service.AddAgent(s.ctx, control.AddAgentRequest{Name: "mawjs", Inbox: true, Dir: dir})
	s.must(err)
	want := control.Agent{Name: "mawjs", Door: "inbox", Dir: dir}
	s.equal("added", want, added)
	s.wantAgents("mawjs", "volt")
	people, err := s.service.List(s.ctx, control.HostsRequest{})
	s.must(err)
	here := map[string]string{}
	for _, one := range people {
		if one.Here {
			here[one.Name.String()] = one.Kind
		}
	}
	s.equal("directory of this host", map[string]string{"mawjs": "agent", "volt": "agent", s.human: "human"}, here)
	s.hey("mawjs", "counted")
	agents, err := s.service.Agents(s.ctx)
	s.must(err)
	if len(agents) == 0 || agents[0].Unread != 1 {
		s.Errorf("agents %+v: want mawjs first, with one message unread", agents)
	}
	s.must(s.service.RemoveAgent(s.ctx, control.AgentRequest{Name: "mawjs"}))
	s.wantAgents("volt")
}

func (s *suite) wantAgents(want ...string) {
	s.Helper()
	agents, err := s.service.Agents(s.ctx)
	s.must(err)
	var got []string
	for _, a := range agents {
		got = append(got, a.Name.String())
	}
	s.equal("agents by name", want, got)
}

func testAgentRefusals(s *suite) {
	s.inboxAgent("mawjs")
	_, err := s.service.AddAgent(s.ctx, control.AddAgentRequest{Name: "mawjs", Inbox: true})
	s.wantKind("the same name again", err, control.KindConflict)
	for _, r := range []control.AddAgentRequest{
		{Name: "Not A Name", Inbox: true},
		{Name: "all", Inbox: true},
		{Name: "nodoor"},
		{Name: "twodoors", Exec: "cat", Inbox: true},
	} {
		_, err := s.service.AddAgent(s.ctx, r)
		s.wantKind(r.Name, err, control.KindUsage)
	}
	s.wantKind("remove", s.service.RemoveAgent(s.ctx, control.AgentRequest{Name: "nobody"}), control.KindNotFound)
	s.wantAgents("mawjs")
}
