package with

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/party"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// runCheckpoint sums up a topic, or every active topic with a partner (seed, "--checkpoint").
func runCheckpoint(ctx context.Context, c *call) error {
	return c.checkpoints(ctx, false)
}

// runForward makes a checkpoint of every active topic, and asks whether what was agreed on another
// day still holds (R29, R32).
func runForward(ctx context.Context, c *call) error {
	err := c.checkpoints(ctx, true)
	if err != nil && control.AsError(err).Kind != control.KindNotFound { // somebody without a topic may be in parties
		return err
	}
	return errors.Join(err, c.parties(ctx, "", "forwarding — checkpoint saved"))
}

// checkpoints makes a checkpoint of a topic; of all topics if none is named.
func (c *call) checkpoints(ctx context.Context, forward bool) error {
	text := c.text
	if text == "-" {
		var err error
		if text, err = c.read([]string{"-"}); err != nil {
			return err
		}
	}
	list, err := c.topics(ctx, false)
	if err != nil {
		return err
	}
	words := summarizer{call: c}
	done := []Done{}
	var failed []error // errors of single topics; the others are summed up all the same
	for _, t := range list.Topics {
		if c.topic() == "" && !t.Derived {
			continue
		}
		says := text
		if says == "" {
			says = words.text(ctx, t)
		}
		deed, err := control.DoInTopic.Ask(ctx, c.client, control.TopicDeedRequest{
			Acting: control.Acting{As: c.acting.As, Dir: c.acting.Dir}, With: t.With, Topic: t.Name, Deed: protocol.ActCheckpoint, Text: says, Forward: forward,
		})
		if err != nil {
			failed = append(failed, err)
			continue
		}
		done = append(done, c.persisted(ctx, deed))
	}
	switch {
	case len(done) == 0 && failed != nil:
		return failed[0]
	case len(done) == 0:
		return control.Errorf(control.KindNotFound, "parley work-with --list", "there is no active topic%s to sum up", cli.Lead(" with ", c.partner()))
	case c.view.JSON:
		return errors.Join(append(failed, c.view.WriteJSON(done))...)
	}
	for i, deed := range done {
		if i > 0 {
			c.view.Out.Printf("\n")
		}
		c.told(action{deed: protocol.ActCheckpoint}, deed)
	}
	return errors.Join(failed...)
}

// runBroadcast tells the fleet of a topic (seed, "Announce"). A human says whether agents of other
// hosts are told.
func runBroadcast(ctx context.Context, c *call) error {
	r := control.BroadcastTopicRequest{Acting: c.acting, With: c.partner(), Topic: c.topic(), Try: true}
	would, err := control.BroadcastTopic.Ask(ctx, c.client, r)
	if err != nil {
		return err
	}
	if would.Skipped != "" {
		r.Consent = c.confirm(ctx, "⚠ cross-host broadcast: agents of other hosts are told of the topic. Proceed? [y/N] ")
	}
	r.Try = false
	done, err := control.BroadcastTopic.Ask(ctx, c.client, r)
	return c.view.Show(done, err, func() { party.ShowAnnouncement(c.view, &done) })
}

// runRecruit lists agents that could be asked into a party (seed, "--recruit").
func runRecruit(ctx context.Context, c *call) error {
	return party.ShowRecruits(ctx, control.RecruitsRequest{Viewing: c.viewing()}, c.client, c.view)
}

// parties says in each party of the agent how reachable the agent is, and tells its members `text`.
// It is used at the start and at the end of a session (seed, "Presence Integration").
func (c *call) parties(ctx context.Context, state protocol.Presence, text string) error {
	list, err := control.Parties.Ask(ctx, c.client, control.PartiesRequest{Viewing: c.viewing()})
	if err != nil {
		return err
	}
	for _, of := range list.Parties {
		in := false
		for _, m := range of.Members {
			in = in || m.Name == list.Me
		}
		if !in {
			continue
		}
		acting := control.Acting{As: list.Me, Dir: c.acting.Dir}
		if state != "" {
			if _, err := control.SayPresence.Ask(ctx, c.client, control.SayPresenceRequest{Acting: acting, Party: of.Organized, State: state}); err != nil {
				return err
			}
		}
		if text == "" || of.Rules.PresenceNotifications == protocol.NotifyOff {
			continue
		}
		if _, err := control.TellParty.Ask(ctx, c.client, control.TellPartyRequest{Acting: acting, Party: of.Organized, Text: list.Me + " " + text}); err != nil {
			return err
		}
	}
	return nil
}

// runRecap says what is active and what waits, for the start of a session (R32).
func runRecap(ctx context.Context, c *call) error {
	invites := c.invites(ctx)
	list, err := c.topics(ctx, true)
	if err != nil {
		return err
	}
	news, err := c.news(ctx, list)
	if err == nil && len(news) > 0 { // an answer in a comment counts by now
		list, err = c.topics(ctx, true)
	}
	if err == nil && c.byAgent { // its session has begun; a person only looks
		err = c.parties(ctx, protocol.PresenceActive, "")
	}
	return c.view.Show(Recap{TopicList: list, Issues: news}, err, func() {
		awaiting, deferred, open, due, ratify := 0, 0, 0, 0, 0
		for _, t := range list.Topics {
			if _, waits := toRatify(t); waits {
				ratify++
			}
			awaiting, deferred = awaiting+t.Awaiting, deferred+t.Put
			open += each.Count(t.Items, func(it control.TopicItem) bool { return it.Sort == topic.Question && it.Resolved == nil })
			if t.Decayed.Below(topic.Resync) {
				due++
			}
		}
		c.view.Out.Printf("📢 Active collaborations: %d\n", len(list.Topics))
		for _, line := range []struct {
			n          int
			what, hint string
		}{
			{awaiting, "Awaiting a decision of " + term.Line(list.Me), c.command("--pending")},
			{ratify, "Checkpoints to ratify", c.command("--pending")},
			{len(invites(list.Me)), "Invites on which a human decides", "parley gates"},
			{deferred, "Put off", c.command("--deferred")},
			{open, "Open questions", c.command("--status")},
			{due, "Below 50% by now, to be checked again", c.command("--sync")},
		} {
			if line.n > 0 {
				c.view.Out.Printf("   %s: %d, see %s\n", line.what, line.n, c.view.Command(line.hint))
			}
		}
		for _, n := range news {
			showNews(c.view, &n)
		}
		c.because(list.Me, list.Chosen)
	})
}

// FleetTopics is who works with whom on all hosts, as this host's record has it. It also has the
// hosts that are not heard: what they have written since may not be here yet.
type FleetTopics struct {
	control.TopicList
	Unheard []UnheardHost `json:"unheard"` // by name
}

// UnheardHost is a host that does not answer at the moment.
type UnheardHost struct {
	Host protocol.Name `json:"host"`               // which
	Last time.Time     `json:"last_seen,omitzero"` // when it was last heard, or wrote the last message that is known, UTC; absent: never
}

// runFleetStatus lists who works with whom on all hosts. It asks no other host, because every host
// has the record. What a host that is not heard would say is not in it yet.
func runFleetStatus(ctx context.Context, c *call) error {
	list, err := control.Topics.Ask(ctx, c.client, control.TopicsRequest{Fleet: true})
	if err != nil {
		return err
	}
	status := FleetTopics{TopicList: list}
	if status.Unheard, err = unheard(ctx, c.client); err != nil {
		return err
	}
	if c.view.JSON {
		return c.view.WriteJSON(status)
	}
	c.fleetTable(list)
	for _, h := range status.Unheard {
		c.view.Out.Printf("⏱ %s is not heard (last seen %s): what it wrote since is not here\n", h.Host, c.view.Age(h.Last))
	}
	return nil
}

func unheard(ctx context.Context, client control.Service) ([]UnheardHost, error) {
	hosts, err := control.Hosts.Ask(ctx, client, control.HostsRequest{})
	if err != nil {
		return nil, err
	}
	silent := []UnheardHost{}
	for _, h := range hosts {
		if h.State == control.HostAway || h.State == control.HostGit {
			silent = append(silent, UnheardHost{h.Alias, h.LastSeen.UTC()})
		}
	}
	return silent, nil
}

// fleetTable lists who works with whom, as the seed does.
func (c *call) fleetTable(list control.TopicList) {
	if len(list.Topics) == 0 {
		c.view.Out.Printf("Nobody in the fleet works on a topic.\n")
		return
	}
	c.view.Out.Printf("📋 Fleet Collaborations\n\n")
	t := term.Table{Heading: []string{"Collaboration", "Oracles", "Node", "Raw", "Decay"}, Flexible: 0, Style: func(row int, cell string) string { return c.coloured(list.Topics[row].Colour, cell) }}
	var who []string
	cross := 0
	for _, topic := range list.Topics {
		node := topic.WithHost
		if topic.CrossHost {
			node = "cross-node"
			cross++
		}
		who = append(who, topic.Me, topic.With)
		t.Rows = append(t.Rows, []string{term.Line(topic.Name), term.Line(topic.Me + ", " + topic.With), cli.Dash(node), raw(topic), cli.Percent(topic.Decayed)})
	}
	slices.Sort(who)
	c.view.Table(t)
	c.view.Out.Printf("\nActive: %d | Oracles involved: %d | Cross-node: %d\n", len(list.Topics), len(slices.Compact(who)), cross)
}
