package control

import "context"

// Hosts lists the hosts of the fleet by alias.
func (c *Client) Hosts(ctx context.Context) ([]Host, error) {
	return call[[]Host](ctx, c, verbHosts, none{})
}
