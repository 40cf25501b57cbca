// Package protocol is what parley's peers say to each other: the message file and its codec, paths,
// names, addresses, acts, stages, subjects, signatures and the rule that picks one instance of a
// group.
//
// The package is pure: it does no I/O, starts no goroutine and asks no clock. So the same bytes
// mean the same thing on every host. It implements the file format of Crosstalk 5.0 and parley's
// extensions, which docs/explanation/message-file.md describes.
//
// It is the only package of parley that promises a stable Go API.
package protocol
