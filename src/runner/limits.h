/* The limits of drivers. Each field is filled by its row of main/options_table.c, before anything runs. */
#ifndef RUNNER_LIMITS_H
#define RUNNER_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct acp_limits {
    int64_t start_ms;       /* for the process to come up and open its session */
    int64_t cancel_ms;      /* for a cancelled prompt to end by itself */
    int64_t silence_ms;     /* without a message while a prompt runs and nobody is asked */
    int64_t line_bytes_max; /* one message of the agent */
    int64_t file_bytes_max; /* one file it reads or writes through the server */
};

struct model_limits {
    int64_t gather_us;         /* how long pieces of very busy streams wait for each other; 0 = not */
    int64_t retries;           /* of one model, before it sent anything */
    int64_t backoff_ms;        /* before the first retry; doubled for each further one */
    int64_t wait_ms_max;       /* a provider that wants us to wait longer counts as failed */
    int64_t output_tokens_max; /* of one answer; 0 = the provider's own */
};

struct sandbox_limits {
    int64_t memory_bytes_max, processes_max, disk_bytes_max; /* of one sandbox */
    int64_t prepare_ms_max;                                  /* clone, copy, unpack, pack: each */
    int64_t snapshot_bytes_max;
    int64_t snapshots_kept;
    int64_t grace_ms;        /* from TERM to KILL */
    int64_t stdin_bytes_max; /* that wait for one process */
    int64_t backend_ms_max;  /* http: one call */
};

struct provider_limits {
    int64_t connect_ms;      /* 0 = 30 s */
    int64_t silence_ms;      /* no byte for that long ends a call */
    size_t answer_bytes_max; /* of one call */
    size_t event_bytes_max;  /* of one event of its stream */
};

#endif
