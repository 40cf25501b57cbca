// Package keys says who may sign for whom: the history of the keys of all hosts, folded from what
// hosts have signed.
//
// It is the layer below the order of the record. Which of several files stands at a path, and so
// where messages stand, depends on keys. Keys must not depend on that order. So they follow from
// every signed word of a host, whether its file won its path or not, by timestamp and path, and
// never by place. That is why a File has no place here.
//
// A History takes in files; its Ring judges them.
package keys
