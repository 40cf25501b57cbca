// Package presence keeps who is there at the moment: it tells the other hosts that this one
// is, takes in what they say of themselves and who has heard what, asks them, and looks for
// another node of this host's name. None of it is state; it is gone with the process.
package presence
