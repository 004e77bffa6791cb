/* What was deleted can be read nowhere any more, without a master key too.
 *
 * secure_delete writes zeroes over rows and pages that are given up. The write-ahead log still holds the pages as they
 * were: some time after a commit it is brought into the database file and cut to nothing. A database that was written
 * by a program that did neither may have remains in its free pages; one that cannot is marked so in its header
 * (user_version). Copies are always without remains. */
#ifndef STORE_SQLITE_ERASE_H
#define STORE_SQLITE_ERASE_H

#include "store/sqlite/connection.h"

enum { WITHOUT_REMAINS = 1 };

/* Marks a new database, and warns of one that may have remains. */
MUST_CHECK enum status remains_begin(struct sqlite_db *self, struct failure *failure);
/* After a commit: the log is to be erased within log_ms. */
void erase_log_later(struct sqlite_db *self);
/* Between two transactions of the writer. Waits for readers for some milliseconds only, and is tried again. */
void erase_log_when_due(struct sqlite_db *self);

#endif
