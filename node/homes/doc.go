// Package homes makes homes. It keeps what lies in one besides the record and the configuration:
// the host's keys, the lock of the node that runs on it, and the number of its starts. It needs no
// running node.
package homes
