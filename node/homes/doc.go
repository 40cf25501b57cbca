// Package homes makes homes, and keeps what lies in one beside the record and the
// configuration: the host's keys, the lock of the node that runs on it, the number of its
// starts. What it does needs no running node.
package homes
