/* What can be said about sessions on the command line: the options of the session commands, each passed on to the
 * server under its own name. A test compares the words with those of the server. */
#ifndef CLI_SESSION_OPTIONS_H
#define CLI_SESSION_OPTIONS_H

#include "cli/option.h"

extern const struct option session_filter_table[]; /* of lists */
extern const struct option session_create_table[];
extern const struct option session_update_table[];
extern const struct option session_view_table[];

#endif
