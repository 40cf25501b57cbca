// Package promptlog keeps what agents' commands were given, byte for byte. So it can still be read
// when nobody could make it again, because profiles, memories and conversations have changed.
//
// It is kept in files of some megabytes. Each file can be read alone. What prompts have in common,
// such as the profile of an agent, is in each file once, however many runs there are. When all
// files together are larger than MostKept, the oldest file is removed.
//
// What is kept is written before the command starts. It survives the end of the node, but perhaps
// not a power cut. A prompt is there to be looked at, and no run may wait for the disk because of
// it.
package promptlog
