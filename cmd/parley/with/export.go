package with

import (
	"context"
	"fmt"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// runExport prints a topic for somebody who has no node: as Markdown, or all of it as JSON.
func runExport(ctx context.Context, c *call) error {
	if err := c.needsPartner("export"); err != nil {
		return err
	}
	r := control.TopicRequest{Viewing: c.viewing(), With: c.partner(), Topic: c.topic()}
	if c.view.JSON {
		topic, err := control.ShowTopic.Ask(ctx, c.client, r)
		if err != nil {
			return err
		}
		return c.view.WriteJSON(topic)
	}
	page, err := control.PageOfTopic.Ask(ctx, c.client, r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(c.view.Out, term.Visible(page.Text))
	return err
}
