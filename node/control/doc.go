// Package control is what a running node can be asked: its verbs, with their server
// on a socket and its client.
//
// A verb is one typed value beside its request and answer, with all that is to be
// known of it; Verbs is their table. A node binds each verb to what answers it, and is
// a Service in process; Client is one over the socket. The command line, and whatever
// else wants something from a node, asks a Service through the verbs alone. Requests
// and answers are plain data: JSON over HTTP on the node's private socket, one verb a
// path, streams as JSON lines. A time that is not known is left out.
package control
