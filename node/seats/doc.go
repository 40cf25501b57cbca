// Package seats knows the sessions of agent programs, such as Claude Code, on this host. A session
// speaks as an agent: the name is its seat, and the program's process holds it. Seats are kept in
// the home, so that a node that starts again knows its sessions.
//
// Mail for a seat goes this way (R69, R70): it waits. If the session is idle, the program's bell is
// rung with one fixed sentence. At the next event that can take text, the mail is handed over, and
// that is written down before. A later event of the session proves that the turn went on: then the
// mail is read. If the session ends before, the mail waits again, marked.
package seats
