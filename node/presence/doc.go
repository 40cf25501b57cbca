// Package presence keeps who is there at the moment. It tells the other hosts that this one is
// there. It takes in what they say of themselves and of what they have heard. It asks them, and
// looks for another node of this host's name. None of it is state; it is gone with the process.
package presence
