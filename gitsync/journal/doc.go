// Package journal keeps entries on disk until somebody else keeps them.
//
// Entries are appended to segment files, many callers sharing one fsync. All
// entries of one Append are one record with one check sum: a crash keeps all of
// them or none. After a failed write or fsync its segment is never written
// again, because nobody knows what the disk then holds. The next segment notes
// where the valid part of it ends. So the failed record does not come back.
//
// A segment goes when all its entries are done. Which ones are done is not
// written down: after a restart all entries come back that have not gone with
// their segment, and the caller says again which are done.
package journal
