// Package journal keeps entries on disk until somebody else keeps them.
//
// Entries are appended to segment files, and many callers share one fsync. All entries of one
// Append are one record with one checksum: a crash keeps either all of them or none. After a failed
// write or fsync, nothing more is written to that segment, because nobody knows what the disk then
// holds. The next segment notes where its valid part ends. So the failed record does not come back.
//
// A segment is removed when all its entries are done. The journal does not write down which entries
// are done. After a restart, all entries of the remaining segments come back, and the caller says
// again which are done.
package journal
