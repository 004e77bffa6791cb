#include <stdlib.h>

#include "service/gateway/gateway_internal.h"

bool gateway_job_runs(struct gateway *gateway, struct slice key)
{
    pthread_mutex_lock(&gateway->lock);
    bool runs = map_get(&gateway->running, key) != NULL;
    pthread_mutex_unlock(&gateway->lock);
    return runs;
}

static void forget(struct gateway_job *job)
{
    struct gateway *gateway = job->gateway;
    pthread_mutex_lock(&gateway->lock);
    map_remove(&gateway->running, job->key);
    pthread_mutex_unlock(&gateway->lock);
    arena_release(&job->arena);
    free(job);
}

static struct gateway_call_row row_of(const struct gateway_job *job, int64_t now_ms)
{
    return (struct gateway_call_row){
        .tenant_key = job->tenant_key,
        .session_key = job->session_key,
        .tool = slice_of(job->tool->spec->name),
        .call_id = job->call_id,
        .arguments_hash = hash_slice(&job->arguments_hash),
        .created_at_ms = now_ms,
        .state = !job->ending  ? TOOL_CALL_RUNNING
                 : job->failed ? TOOL_CALL_FAILED
                               : TOOL_CALL_DONE,
        .result = job->result,
        .ended_at_ms = job->ending ? now_ms : 0,
    };
}

static enum status run(struct call *call, struct command *command)
{
    struct gateway_job *job = (struct gateway_job *)command;
    struct loaded_session *loaded;
    struct gateway_call_row row = row_of(job, call->now_ms);
    enum status status = transaction_load(call->transaction, job->tenant_key, job->session_id, &loaded, &call->failure);
    if (status != STATUS_OK) {
        return status; /* deleted meanwhile */
    }
    if (!job->ending) {
        return store_tool_call_insert(call->db, &row, &call->failure);
    }
    status = store_tool_call_end(call->db, &row, &call->failure);
    if (status == STATUS_OK && !job->failed && job->tool->end) {
        status = job->tool->end(call, loaded, job->arguments, job->result);
    }
    return status == STATUS_OK
               ? gateway_tell(call, loaded, job->tool, job->call_id, job->arguments, !job->failed, job->result)
               : status;
}

/* Whoever waits looks at the row again. */
static void finish(struct command *command, enum status status, const struct failure *failure)
{
    struct gateway_job *job = (struct gateway_job *)command;
    struct writer *writer = job->gateway->options.writer;
    (void)failure;
    if (status == STATUS_OK && !job->ending) {
        job->tool->begin(job);
        return;
    }
    forget(job);
    writer_retry_parked(writer);
}

static const struct command_type write_row = {"gateway.call", 0, run, finish};

bool gateway_job_start(struct gateway_job *job)
{
    struct gateway *gateway = job->gateway;
    pthread_mutex_lock(&gateway->lock);
    map_put(&gateway->running, job->key, job);
    pthread_mutex_unlock(&gateway->lock);
    job->who = (struct principal){.kind = PRINCIPAL_SYSTEM, .tenant_key = job->tenant_key, .name = job->actor};
    job->command.type = &write_row;
    job->command.who = &job->who;
    bool taken = writer_submit(gateway->options.writer, &job->command);
    if (!taken) {
        forget(job);
    }
    return taken;
}

static struct slice error_text(struct arena *arena, struct slice error)
{
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    json_text(&out, error);
    struct slice text = arena_copy(arena, buffer_slice(&buffer));
    buffer_release(&buffer);
    return text;
}

void gateway_job_done(void *owner, struct slice result, struct slice error)
{
    struct gateway_job *job = owner;
    job->failed = slice_present(error);
    struct slice json = job->failed ? error_text(&job->arena, error) : result;
    job->result = gateway_tidy(job->gateway, &job->arena, json);
    job->ending = true;
    if (!writer_submit(job->gateway->options.writer, &job->command)) {
        forget(job); /* the server stops: the row says running, and the next life tells that it is ambiguous */
    }
}
