/* What operators set about tools. */
#ifndef RUNNER_TOOL_SETTINGS_H
#define RUNNER_TOOL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct arena;

/* The same for every call; main fills it from the options. Lives as long as the server. */
struct tool_settings {
    size_t result_bytes_max, result_lines_max; /* that the model reads; the rest goes into a file */
    size_t read_bytes_max, write_bytes_max;    /* of one file */
    size_t list_entries_max;
    size_t search_files_max, search_matches_max;
    int64_t search_ms_max;
    size_t command_bytes_max; /* of output that is kept */
    int64_t command_ms_max;   /* when the agent's sandbox names none */
    size_t http_bytes_max;
    int64_t http_ms_max;
    bool allows_full_scope; /* otherwise `full` counts as `project` */
    const char *data_dir;   /* the server's own files: never shown, whatever the scope; NULL = none */
    /* "HOST:PORT" on this machine that may be called, over http too */
    const char *const *open_hosts;
    size_t open_host_count;
    /* A result without the server's secrets, in the arena when it held one; NULL = there are none. */
    struct slice (*mask)(void *owner, struct arena *arena, struct slice text);
    void *mask_owner;
};
extern const struct tool_settings tool_settings_usual;

#endif
