// Package agents keeps which agents are served on this host, and how: the roster, what
// requests make of an agent, how many commands run at once, and the sockets of agents that
// run as other users of the machine.
package agents
