/* The database file of a writing connection. SQLite's secure_delete leaves one place out: when rows move to another
 * page, their old copies stay in the unused middle of the page they came from, and stay there when the rows are
 * deleted. Here the middle of every page is zeroes when it is written, so that no copy reaches the disk. */
#ifndef STORE_SQLITE_CLEAN_FILE_H
#define STORE_SQLITE_CLEAN_FILE_H

#include <sqlite3.h>

/* What SQLite must allocate beyond the underlying file. */
int clean_file_bytes(void);
/* For xOpen: opens the file of `base` behind `file`. */
int clean_file_open(sqlite3_vfs *base, const char *name, sqlite3_file *file, int flags, int *out_flags);
/* Zeroes the unused middle of a page of a b-tree in place; `offset` is where in the file it stands. True when it was
 * one. */
int clean_page(unsigned char *page, int len, sqlite3_int64 offset);

#endif
