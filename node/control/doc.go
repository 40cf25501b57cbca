// Package control is what a running node can be asked: its verbs, a server that answers them on a
// socket, and a client.
//
// A verb is one typed value, declared beside its request and answer, with everything that is to be
// known about it. Verbs is the table of all. A node binds each verb to a function that answers it,
// and so is a Service in process. Client is a Service over the socket. The command line, and
// everything else that wants something from a node, asks a Service and uses only the verbs.
// Requests and answers are plain data: JSON over HTTP on the node's private socket, with one path
// for each verb, and streams as JSON lines. A time that is not known is left out.
package control
