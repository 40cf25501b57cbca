package controltest

import (
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
)

func testStatus(s *suite) {
	status := ask(s, control.ShowStatus.Verb, control.None{})
	if status.API != control.API || status.Version == "" || status.Fleet == "" || status.Host == "" || status.Human == "" {
		s.Errorf("status %+v: want API %d, a version, fleet, host and human", status, control.API)
	}
}

func testAgents(s *suite) {
	s.inboxAgent("volt")
	dir := s.TempDir()
	added := ask(s, control.AddAgent, control.AddAgentRequest{Name: "mawjs", Inbox: true, Settings: control.Given{"dir": {dir}}})
	want := control.Agent{Name: "mawjs", Door: "inbox", Dir: dir, Presence: control.AgentAway}
	s.equal("added", want, added)
	s.wantAgents("mawjs", "volt")
	people := ask(s, control.List, control.HostsRequest{})
	here := map[string]string{}
	for _, one := range people {
		if one.Here {
			here[one.Name.String()] = one.Kind
		}
	}
	s.equal("directory of this host", map[string]string{"mawjs": "agent", "volt": "agent", s.human: "human"}, here)
	s.hey("mawjs", "counted")
	agents := ask(s, control.Agents.Verb, control.None{})
	if len(agents) == 0 || agents[0].Unread != 1 {
		s.Errorf("agents %+v: want mawjs first, with one message unread", agents)
	}
	ask(s, control.RemoveAgent, control.AgentRequest{Name: "mawjs"})
	s.wantAgents("volt")
}

func (s *suite) wantAgents(want ...string) {
	s.Helper()
	agents := ask(s, control.Agents.Verb, control.None{})
	got := each.Of(agents, func(a control.Agent) string { return a.Name.String() })
	s.equal("agents by name", want, got)
}

func testAgentRefusals(s *suite) {
	s.inboxAgent("mawjs")
	refused(s, "the same name again", control.KindConflict, control.AddAgent, control.AddAgentRequest{Name: "mawjs", Inbox: true})
	for _, r := range []control.AddAgentRequest{
		{Name: "Not A Name", Inbox: true},
		{Name: "all", Inbox: true},
		{Name: "nodoor"},
		{Name: "twodoors", Exec: "cat", Inbox: true},
	} {
		refused(s, r.Name, control.KindUsage, control.AddAgent, r)
	}
	refused(s, "remove", control.KindNotFound, control.RemoveAgent, control.AgentRequest{Name: "nobody"})
	s.wantAgents("mawjs")
}
