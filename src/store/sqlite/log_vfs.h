/* A file system for the writing connection: what SQLite writes to its log piece by piece (a header of 24 bytes and a
 * page, for every page of a commit) reaches the disk in one call, at the latest when the log is synced. The
 * database file is written clean (clean_file.h); every other file is the underlying file system's own.
 *
 * Right only with synchronous = FULL, where every commit syncs the log before readers hear of its pages. */
#ifndef STORE_SQLITE_LOG_VFS_H
#define STORE_SQLITE_LOG_VFS_H

/* The name of the file system over `base` (NULL = the default one), registered when it is first asked for. NULL when
 * there is no such base. Any thread. */
const char *log_vfs_over(const char *base);

#endif
