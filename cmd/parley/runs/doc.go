// Package runs holds the commands about the work of agents: what they have to do, on what they have
// failed, and how that goes on.
package runs
