/* Ids by their first characters. Only people may shorten them: a script that names something which is gone must not hit
 * its neighbour, so that a command that changes something takes whole ids unless a person types it on a terminal. */
#ifndef CLI_RESOLVE_H
#define CLI_RESOLVE_H

#include "cli/remote.h"

enum { SHORT_ID_CHARS_MIN = 3 };

/* `given` itself when there is such a thing, or when nothing begins so: the call it is meant for then says what it says
 * for every unknown id. Several: they are listed, and EXIT_USAGE. */
MUST_CHECK int resolve_id(struct remote *remote, const char *collection, struct slice given, struct slice *out);
/* The same among the rows of a list that the server answers at `path`: `member` holds them, `key` is their id. */
MUST_CHECK int resolve_in_list(struct remote *remote, struct slice path, const char *member, const char *key,
                               struct slice given, struct slice *out);
/* The words of the command that name things (SESSION, AGENT, ...) become whole ids. */
MUST_CHECK int resolve_positionals(struct remote *remote);

#endif
