package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/protocol"
)

// maxNamesakes is how many namesakes of an asker are named. Somebody could let hosts join without
// end.
const maxNamesakes = 5

// Asker is what the record tells of an agent that asks a human something (R74). `claims` is on whose
// behalf the message says it is; "" if it does not say.
func (s *State) Asker(agent string, from affair.Origin, claims string) protocol.Asker {
	host, joined := s.Keys().Host(from.Host)
	a := protocol.Asker{
		Agent: agent, Human: from.Human, Host: from.Host, Key: fingerprint(from.Key), HumanKey: fingerprint(from.HumanKey),
		Undeclared: from.Human != "" && !(joined && host.EverHuman(from.Human)), Namesakes: []string{},
	}
	if claims != from.Human {
		a.Claims = claims
	}
	if from.Key != "" {
		a.Since, a.Vouched, a.Founder = s.Keys().Known(from.Host, from.Key)
	}
	for _, h := range s.Keys().BySeniority() {
		if h.Alias == from.Host {
			continue
		}
		same := func(kind, name string) {
			if len(a.Namesakes) == maxNamesakes {
				a.More++
				return
			}
			a.Namesakes = append(a.Namesakes, kind+" "+name+"@"+h.Alias.String())
		}
		for _, human := range slices.Compact([]string{from.Human, claims}) {
			if slices.Contains(h.Humans, protocol.Name(human)) {
				same("human", human)
			}
		}
		if _, serves := h.Serves(agent); serves {
			same("agent", agent)
		}
	}
	return a
}

// fingerprint is the short form of a public nkey; "" for none.
func fingerprint(key string) string {
	print, err := protocol.Fingerprint(key)
	if err != nil {
		return ""
	}
	return print
}
