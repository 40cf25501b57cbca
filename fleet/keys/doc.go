// Package keys says who may sign for whom: the history of the keys of all hosts, folded
// from what hosts have signed.
//
// It is the layer below the order of the record. Which of several files stands at a path,
// and so where messages stand, depends on keys. Keys must not depend on that: they go by
// every signed word of a host, whichever file won its path, by timestamp and path, never
// by place. So a File here has no place.
//
// A History takes in files; its Ring judges them.
package keys
