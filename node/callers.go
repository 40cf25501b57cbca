package node

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/caller"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// openCallers reads the key of tokens, or makes it. From then on the node knows who calls.
func (n *Node) openCallers() error {
	key, err := homes.TokenKey(n.home)
	if err != nil {
		return err
	}
	n.callers = caller.New(caller.Options{Key: key, Human: n.cfg.Human, Serves: n.roster.Since, Now: n.now})
	n.actors = &agents.Actors{Host: n.cfg.Alias, Human: n.cfg.Human, Now: n.now, Roster: &n.roster, Callers: n.callers}
	return nil
}

// logRefused logs what a caller may not do. An agent that tries again and again does not fill the
// disk with it.
func (n *Node) logRefused() func(verb string, c control.Caller, why error) {
	const burst = 20
	log := n.log.Sample(&zerolog.BurstSampler{Burst: burst, Period: time.Minute})
	return func(verb string, c control.Caller, why error) {
		log.Warn().Str("verb", verb).Stringer("caller", c.Kind).Stringer("name", c.Name).Str("run", c.Run).Str("known_by", c.How).Msg(why.Error())
	}
}
