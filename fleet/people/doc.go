// Package people is who is there: the hosts, the agents that they serve and the humans. It also
// says what to tell somebody who names one that does not exist.
package people
