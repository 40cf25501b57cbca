// Package metrics tells Prometheus how a node fares, and whoever asks whether it is
// healthy. It knows no node: what goes on is counted as it is told (Metrics), and what is
// now is asked for when somebody reads (Source).
//
// Labels are the agents that are served here, the hosts of the fleet, and a few words of
// this package: nothing that a message says becomes one.
package metrics
