// Package control is the one narrow interface to a running node, Service, with
// its server on a socket and its client.
//
// The node implements Service in process; Client implements it over the socket.
// The command line, and whatever else wants something from a node, sees only
// this interface. Requests and answers are plain data: JSON over HTTP on the
// node's private socket, one verb a path, streams as JSON lines. A time that is not
// known is left out.
package control
