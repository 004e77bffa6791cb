/* Lists that the server answers, as tables: which member of a row goes into which column. */
#ifndef CLI_LISTED_H
#define CLI_LISTED_H

#include "cli/remote.h"

struct listed {
    const char *member; /* of the answer: the array */
    const struct table_column *columns;
    const char *const *keys; /* one per column; those that end with _at are times */
    const char *nothing;     /* what is said when the list is empty */
};

/* A whole command: GETs the target and prints each of the lists, which end with one without a member. */
int listed_show(const struct invocation *invocation, const char *target, const struct listed *lists);
/* The same, with the options of a table passed on in the query. */
int listed_show_with(const struct invocation *invocation, const char *target, const struct option *table,
                     const struct listed *lists);

/* The same for what belongs to the thing that is the command's first word: /api/COLLECTION/WORD and the tail. */
int listed_show_of(const struct invocation *invocation, const char *collection, const char *tail,
                   const struct option *table, const struct listed *lists);

#endif
