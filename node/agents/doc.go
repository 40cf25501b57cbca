// Package agents keeps which agents are served on this host, and how. It has the roster,
// what requests make of an agent, and how many commands run at once. It has the sockets of
// agents that run as other users of the machine.
package agents
