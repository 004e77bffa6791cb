/* A definition that a person keeps as a file. */
#ifndef CLI_YAML_FILE_H
#define CLI_YAML_FILE_H

#include "base/arena.h"
#include "base/status.h"

/* Reads a YAML file ("-" is standard input) as JSON text in the arena. INVALID names the file and what is wrong. */
MUST_CHECK enum status yaml_file_read(struct arena *arena, const char *path, struct slice *out,
                                      struct failure *failure);

#endif
