/* The driver of built-in agents: a loop of calls to a language model and of the tools it asks for, within caps on
 * turns, rounds, cost and silence. */
#ifndef RUNNER_MODEL_H
#define RUNNER_MODEL_H

#include "runner/limits.h"
#include "runner/driver.h"
#include "runner/model/model_context.h"
#include "runner/model/provider.h"
#include "runner/tool/tool.h"

/* Texts are borrowed for as long as the driver lives. */
struct model_options {
    struct provider_options provider;
    const char *ca_file;               /* certificates to trust; NULL = the system's */
    const struct tool_settings *tools; /* NULL = the usual ones */
    struct slice files_dir;            /* where large tool results are kept */
    struct model_limits limits;
};

/* A driver of kind DRIVER_MODEL; `close` frees it. */
struct driver *model_driver_new(const struct model_options *options);

#endif
