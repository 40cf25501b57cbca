// Package caller decides who calls a node (R37).
//
// A Book knows the runs of the node's agents: beneath which process each runs, for which message,
// and since when it is over. Judge says whether a call comes from such a run, from an agent that
// the node does not start itself, or from the operator of the host. Otherwise the caller is
// unknown.
//
// What counts, the strictest first:
//
//   - A token that is malformed, of nobody or over is refused, whatever else is known.
//   - The process at the other end belongs to a run by its control group, by its run's
//     keeper among its ancestors, or by the command itself there. A token of somebody
//     else, or another name, is refused then.
//   - A good token makes its bearer the agent that it was made for.
//   - A process beneath the keeper of a run that is not known here is an agent's, nobody
//     can tell whose: it reads.
//   - A connection whose opener has ended is refused, unless the opener had a terminal: then
//     the caller is unattended.
//   - A process that cannot be seen is unattended.
//   - A name alone (PARLEY_AGENT) makes its bearer that agent.
//   - A process beneath a session of an agent program is the agent of that session, and so is
//     one that has lost its ancestry and carries the session's variables (R67).
//   - One beneath an agent program that is no session known here is unattended, and so is one
//     without parents and terminal that began while a session was there.
//   - What is left is a process of the node's own user, or root, that belongs to no run and
//     no session: that is the operator.
//
// This is no wall between an agent and the user as whom it runs. docs/explanation/security.md says
// what is a wall.
package caller
