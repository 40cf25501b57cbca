// Package cli is what all commands of parley share. The [Program] runs one of
// them, and the [View] shows answers in tables, lines and JSON. Beside them are
// the flags and words that several take, questions to whoever types, and how a
// failure is told.
//
// It knows the node only by its control socket, and no command.
package cli
