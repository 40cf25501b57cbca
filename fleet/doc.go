// Package fleet is the rules: what is true, and what may come next. It is not the machines; those
// are in package node.
//
// At heart it is two functions. State.Apply folds one message into what the record says.
// State.Decide turns a command into the messages that carry it out, or into a refusal. Neither
// sends anything, reads a file or asks the time. So every rule can be told as a story of messages
// in and messages out.
//
// The fold is pure: the same messages give the same state in whatever order they arrive. Every
// answer depends on the places of messages (Place) and on what the record holds, and never on when
// something arrived.
//
// A State is made of parts, each of which may use those before it: Ledger and keys (which file
// stands at a path, and where; who may sign for whom), Chains (what each host wrote), people (who
// can be written to), Talk (what messages are to people), shelf (files beside messages), affairs
// (what deeds agree on).
//
// A State is not safe for concurrent use; the node guards it.
package fleet
