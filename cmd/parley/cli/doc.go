// Package cli is what all commands of parley share. The [Program] runs one command, and the [View]
// shows answers in tables, lines and JSON. The package also has the flags and words that several
// commands take, the questions to a person, and the reports of failures.
//
// It knows the node only through its control socket, and it knows no command.
package cli
