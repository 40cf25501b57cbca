// Package node holds the commands with which a person makes, configures, starts, watches and stops
// the node of a home. The node itself is the package node at the top of the tree.
package node
