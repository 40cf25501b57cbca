// Package promptlog keeps what agents' commands were given, byte for byte, so that it can
// be read when nobody could make it again: profiles, memories and conversations go on.
//
// It is kept in files of some megabytes, each of which can be read alone. What prompts have
// in common, such as the profile of an agent, is in each of them once, however many runs
// there are. When all are together more than MostKept, the oldest file goes.
//
// What is kept is written before the command starts. It outlasts the node, not the
// machine's power: a prompt is there to be looked at, and no run may wait for the disk
// because of it.
package promptlog
