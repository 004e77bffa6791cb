/* Files that people write: configuration and agents. */
#ifndef MAIN_READ_FILE_H
#define MAIN_READ_FILE_H

#include "base/buffer.h"
#include "base/status.h"

/* The whole file, appended; INVALID `bad_file` when it can't be read or has more than `bytes_max`. */
MUST_CHECK enum status read_file(const char *path, size_t bytes_max, struct buffer *out, struct failure *failure);

#endif
