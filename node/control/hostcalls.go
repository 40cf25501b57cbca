package control

import "context"

// Hosts lists the hosts of the fleet by alias.
func (c *Client) Hosts(ctx context.Context, r HostsRequest) ([]Host, error) {
	return call[[]Host](ctx, c, verbHosts, r)
}

// Host describes one host.
func (c *Client) Host(ctx context.Context, r HostRequest) (Host, error) {
	return call[Host](ctx, c, verbHost, r)
}

// PingHost asks a host a question and waits for its answer.
func (c *Client) PingHost(ctx context.Context, r PingRequest) (Ping, error) {
	return call[Ping](ctx, c, verbPingHost, r)
}

// FleetStatus asks all live hosts how they fare.
func (c *Client) FleetStatus(ctx context.Context, r HostsRequest) (FleetStatus, error) {
	return call[FleetStatus](ctx, c, verbFleet, r)
}

// ProbeHost dials each address of a host.
func (c *Client) ProbeHost(ctx context.Context, r HostRequest) (Probe, error) {
	return call[Probe](ctx, c, verbProbeHost, r)
}

// HostCertificate returns the certificate that a host shows to NATS clients.
func (c *Client) HostCertificate(ctx context.Context, r HostRequest) (Certificate, error) {
	return call[Certificate](ctx, c, verbHostCert, r)
}

// RotateKey gives this host a new key.
func (c *Client) RotateKey(ctx context.Context, r RotateRequest) (Rotation, error) {
	return call[Rotation](ctx, c, verbRotateKey, r)
}

// RevokeKey ends a key of a host, or says what that would do.
func (c *Client) RevokeKey(ctx context.Context, r RevokeRequest) (Revocation, error) {
	return call[Revocation](ctx, c, verbRevokeKey, r)
}

// RemoveHost takes a host out of the fleet for good.
func (c *Client) RemoveHost(ctx context.Context, r RemoveHostRequest) (HostRemoval, error) {
	return call[HostRemoval](ctx, c, verbRemoveHost, r)
}
