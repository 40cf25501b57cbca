// Package configs is what the operator decided. The configuration of one node is config.yaml,
// written only by people. Its agents are agents/NAME.yaml, written by the program. The folder that
// holds everything of one node is its home.
//
// Files go in, checked structs come out. Both kinds of file are read strictly. A key that parley
// does not know is refused, with its line and the most similar key that parley knows. For if a
// setting were silently ignored, somebody would rely on it. Values are taken by their literal text.
// Anchors, aliases and tags are refused, and so is a file of more than 64 KiB.
//
// What a message or a pushed file says never ends up here: a node runs only commands that its own
// operator wrote into these files (R12).
package configs
