// Package people is who is there: the hosts, the agents that they serve and the humans,
// and what to tell somebody who names one that is not.
package people
