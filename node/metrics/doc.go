// Package metrics tells Prometheus how a node fares, and tells anybody who asks whether the node is
// healthy. It does not know the node. What goes on is counted as it is told (Metrics), and the
// present state is asked for when somebody reads (Source).
//
// Labels are the agents that are served here, the hosts of the fleet, and a few words of this
// package. Nothing that a message says becomes a label.
package metrics
