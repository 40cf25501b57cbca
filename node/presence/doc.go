// Package presence keeps which hosts are there at the moment. It tells the other hosts that this
// one is there. It takes in what they say of themselves and of what they have heard. It asks them
// questions, and looks for another node with this host's name. None of this is state: it is gone
// with the process.
package presence
