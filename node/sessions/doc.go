// Package sessions knows the sessions of agents that ask for their mail: the programs that
// act as one agent, in several terminals perhaps. It keeps which of them has taken which
// message, so that no two are given the same one, and what each says it is at. None of it
// is in the record; it is gone with the process, and so is every claim.
package sessions
