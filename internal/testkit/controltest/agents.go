package controltest

import (
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
)

func testStatus(s *suite) {
	status, err := control.ShowStatus.Ask(s.ctx, s.service)
	s.must(err)
	if status.API != control.API || status.Version == "" || status.Fleet == "" || status.Host == "" || status.Human == "" {
		s.Errorf("status %+v: want API %d, a version, fleet, host and human", status, control.API)
	}
}

func testAgents(s *suite) {
	s.inboxAgent("volt")
	dir := s.TempDir()
	added, err := control.AddAgent.Ask(s.ctx, s.service, control.AddAgentRequest{Name: "mawjs", Inbox: true, Settings: control.Given{"dir": {dir}}})
	s.must(err)
	want := control.Agent{Name: "mawjs", Door: "inbox", Dir: dir, Presence: control.AgentAway}
	s.equal("added", want, added)
	s.wantAgents("mawjs", "volt")
	people, err := control.List.Ask(s.ctx, s.service, control.HostsRequest{})
	s.must(err)
	here := map[string]string{}
	for _, one := range people {
		if one.Here {
			here[one.Name.String()] = one.Kind
		}
	}
	s.equal("directory of this host", map[string]string{"mawjs": "agent", "volt": "agent", s.human: "human"}, here)
	s.hey("mawjs", "counted")
	agents, err := control.Agents.Ask(s.ctx, s.service)
	s.must(err)
	if len(agents) == 0 || agents[0].Unread != 1 {
		s.Errorf("agents %+v: want mawjs first, with one message unread", agents)
	}
	_, err = control.RemoveAgent.Ask(s.ctx, s.service, control.AgentRequest{Name: "mawjs"})
	s.must(err)
	s.wantAgents("volt")
}

func (s *suite) wantAgents(want ...string) {
	s.Helper()
	agents, err := control.Agents.Ask(s.ctx, s.service)
	s.must(err)
	got := each.Of(agents, func(a control.Agent) string { return a.Name.String() })
	s.equal("agents by name", want, got)
}

func testAgentRefusals(s *suite) {
	s.inboxAgent("mawjs")
	_, err := control.AddAgent.Ask(s.ctx, s.service, control.AddAgentRequest{Name: "mawjs", Inbox: true})
	s.wantKind("the same name again", err, control.KindConflict)
	for _, r := range []control.AddAgentRequest{
		{Name: "Not A Name", Inbox: true},
		{Name: "all", Inbox: true},
		{Name: "nodoor"},
		{Name: "twodoors", Exec: "cat", Inbox: true},
	} {
		_, err := control.AddAgent.Ask(s.ctx, s.service, r)
		s.wantKind(r.Name, err, control.KindUsage)
	}
	_, err = control.RemoveAgent.Ask(s.ctx, s.service, control.AgentRequest{Name: "nobody"})
	s.wantKind("remove", err, control.KindNotFound)
	s.wantAgents("mawjs")
}
