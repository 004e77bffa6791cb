/* The name of this server among those of one database: given, or made once and kept with its sandboxes. */
#ifndef MAIN_NODE_NAME_H
#define MAIN_NODE_NAME_H

#include "base/id.h"
#include "base/status.h"

enum { NODE_NAME_BYTES = 65 };

/* `given` may be NULL. The data directory is there and locked. */
MUST_CHECK enum status node_name_find(const char *given, const char *data, struct id_source *ids, int64_t now_ms,
                                      char out[NODE_NAME_BYTES], struct failure *failure);

#endif
