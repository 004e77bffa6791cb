/* The driver of built-in agents: a loop of calls to a language model and of the tools it asks for, within caps on
 * turns, rounds, cost and silence. */
#ifndef RUNNER_MODEL_H
#define RUNNER_MODEL_H

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
    int64_t gather_us;                 /* how long pieces of very busy streams wait for each other; 0 = not */
    int64_t retries;                   /* of one model, before anything was heard from it */
    int64_t backoff_ms;                /* before the first retry; doubled for each further one */
    int64_t wait_ms_max;               /* a provider that wants us to wait longer counts as failed */
    int64_t output_tokens_max;         /* of one answer; 0 = the provider's own */
};

/* A driver of kind DRIVER_MODEL; `close` frees it. */
struct driver *model_driver_new(const struct model_options *options);

#endif
