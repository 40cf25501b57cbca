// Package configs is what the operator decided: the configuration of one node
// (config.yaml, written only by people), its agents (agents/NAME.yaml, written
// by the program) and the folder that holds everything of one node, its home.
//
// Files go in, checked structs come out. Both kinds of file are read strictly:
// a key that parley does not know is refused with its line and the nearest key
// it does know, because a setting that is silently ignored is a setting that
// somebody believes in. Values are taken by their literal text; anchors,
// aliases and tags are refused, and so is a file of more than 64 KiB.
//
// What a message or a pushed file says never ends up here: a node runs only
// commands that its own operator wrote into these files (R12).
package configs
