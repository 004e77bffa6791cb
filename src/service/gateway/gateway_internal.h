/* The gateway inside. Private to gateway.c, gateway_job.c, gateway_tools.c and gateway_verify.c. */
#ifndef SERVICE_GATEWAY_INTERNAL_H
#define SERVICE_GATEWAY_INTERNAL_H

#include <pthread.h>

#include "base/hash.h"
#include "base/map.h"
#include "domain/tool_spec.h"
#include "service/gateway/gateway.h"

struct gateway_job;

/* One row of the registry: either `run` or `begin`. */
struct gateway_tool {
    const struct tool_spec *spec;
    /* Writer: a command. The result is JSON in the call's arena. What it refuses is not remembered. */
    enum status (*run)(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                       struct slice *out);
    /* Writer: can it begin? May be NULL. */
    enum status (*check)(const struct gateway *gateway, struct call *call, const struct session *session,
                         const struct json *arguments);
    /* After the commit of its row, writer thread: gateway_job_done follows. */
    void (*begin)(struct gateway_job *job);
    /* Writer: what follows from its result, in the transaction that writes it down. May be NULL. */
    enum status (*end)(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                       struct slice result);
};
extern const struct gateway_tool gateway_tools[]; /* ends with a NULL spec */

/* A call that works outside the store. Owned by itself from gateway_job_start to the commit of its end. */
struct gateway_job {
    struct command command; /* first: writes its row, at the beginning and at the end */
    struct principal who;
    struct read_job read; /* for tools that work on a reader thread */
    struct gateway *gateway;
    struct arena arena;
    const struct gateway_tool *tool;
    struct slice key;
    int64_t tenant_key, session_key;
    struct slice session_id, actor, call_id;
    const struct json *arguments;
    struct hash arguments_hash;
    bool ending;
    struct slice result; /* JSON */
    bool failed;
};

struct gateway {
    struct gateway_options options;
    pthread_mutex_t lock;
    struct map running; /* jobs by key */
};

/* tool.NAME {call_id, success, result, arguments}, and who follows the session sees it. */
MUST_CHECK enum status gateway_tell(struct call *call, struct loaded_session *loaded, const struct gateway_tool *tool,
                                    struct slice call_id, const struct json *arguments, bool success,
                                    struct slice result);
/* Redacted and bounded; in the arena. */
struct slice gateway_tidy(const struct gateway *gateway, struct arena *arena, struct slice json);

/* gateway_job.c */
bool gateway_job_runs(struct gateway *gateway, struct slice key);
/* False when the writer takes nothing: the job is gone. */
MUST_CHECK bool gateway_job_start(struct gateway_job *job);
void gateway_job_done(void *job, struct slice result, struct slice error);

/* gateway_verify.c */
MUST_CHECK enum status gateway_verify_check(const struct gateway *gateway, struct call *call,
                                            const struct session *session, const struct json *arguments);
void gateway_verify_begin(struct gateway_job *job);
MUST_CHECK enum status gateway_verify_end(struct call *call, struct loaded_session *loaded,
                                          const struct json *arguments, struct slice result);

#endif
