// Package runs is the commands about the work of agents: what they have to do, what they
// failed on, and how that goes on.
package runs
