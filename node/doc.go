// Package node is one running host: it wires the record, the bus, the rules and the operator's
// configuration together.
//
// One message goes one way. A command of a participant comes in through Service, and package fleet
// decides. The one writer gives the messages their place in the host's chain and signs them. The
// record fsyncs them ("stored"). The state takes them in, the bus carries them, and the record
// commits and pushes them. What other hosts wrote comes in through Receive, by the bus or by git.
// What the bus brought is fsynced first. Then the state takes it in. The doors read the state: the
// exec door runs an agent's command and writes its answer, and the inbox door waits to be asked.
package node
