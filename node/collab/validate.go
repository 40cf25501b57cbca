package collab

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// validate asks the other participant about agreements that should be asked about again, and
// returns their labels. It is called after a check, or when a session ends (R29).
func (c *Collab) validate(ctx context.Context, by control.Caller, who acting, channel protocol.ChannelID, window time.Duration, forward bool) (asked []string, err error) {
	var t topics.Topic
	var due []topics.Due
	c.Folded(func(s *fleet.State) {
		t = c.topic(s, channel.String(), c.policy(s))
		contacts, _ := c.contacts.between(s, who.me, t.Other(who.me))
		due = t.DueValidations(who.me, contacts, c.Now(), forward)
	})
	for _, d := range due {
		label := d.Item.Label.String()
		_, err := c.Do(ctx, by, c.speaker(who, t.Other(who.me), t.Name).Validate(label, d.Milestone, window))
		var refused *fleet.Refusal
		switch {
		case err == nil:
			asked = append(asked, label)
		case !errors.As(err, &refused): // somebody who was asked in the meantime need not be asked again
			return asked, err
		}
	}
	return asked, nil
}
