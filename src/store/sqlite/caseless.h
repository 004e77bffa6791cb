/* The function caseless(text) in SQL: text as a search compares it. */
#ifndef STORE_SQLITE_CASELESS_H
#define STORE_SQLITE_CASELESS_H

#include <sqlite3.h>

/* A SQLite result code. */
int sqlite_add_caseless(sqlite3 *handle);

#endif
