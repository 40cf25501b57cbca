// Package agents knows which agents are served on this host, and how. It has the roster, makes
// agents from requests, and decides how many commands run at the same time. It has the sockets of
// agents that run as other users of the machine.
package agents
