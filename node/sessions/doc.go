// Package sessions knows the sessions of agents that ask for their mail: programs that act as one
// agent, perhaps in several terminals. It keeps which session has taken which message, so that no
// two get the same one, and what each session says that it does. None of this is in the record: it
// is gone with the process, and so is every claim.
package sessions
