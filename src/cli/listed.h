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

int listed_print(struct remote *remote, const struct json *answer, const struct listed *listed);
/* GETs the target and prints it: as it is with --json, else each of the lists, ended by one without a member. */
int listed_show(struct remote *remote, const char *target, const struct listed *lists);

#endif
