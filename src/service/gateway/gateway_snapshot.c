#include "service/gateway/gateway_snapshot.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"

/* One snapshot: the sandbox is held while it is taken. */
struct taking {
    struct loop_message message;
    struct gateway_snapshots *snapshots;
    struct sandbox_ref use;
    int64_t tenant_key, session_key;
    struct gateway_done done;
};

/* The host of sandboxes may still look at the use it told: it goes with the next message. */
static void on_over(struct loop_message *message)
{
    struct taking *taking = (struct taking *)message;
    runtime_host_release(&taking->use);
    free(taking);
}

static void conclude(struct taking *taking, struct slice result, struct slice error)
{
    taking->done.done(taking->done.owner, result, error);
    taking->message.run = on_over;
    loop_post(taking->snapshots->loop, &taking->message);
}

static void on_taken(void *owner, const struct sandbox_result *news)
{
    struct taking *taking = owner;
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    if (news->outcome != SANDBOX_OK) {
        struct slice detail = slice_of(news->failure.detail);
        conclude(taking, (struct slice){0}, detail.len ? detail : SLICE("The sandbox is gone."));
        return;
    }
    json_begin_object(&out);
    json_put_text(&out, "snapshot", news->snapshot);
    json_put_i64(&out, "bytes", news->snapshot_bytes);
    json_end_object(&out);
    conclude(taking, buffer_slice(&text), (struct slice){0});
    buffer_release(&text);
}

static void on_ready(void *owner, struct sandbox *sandbox, const struct failure *failure)
{
    struct taking *taking = owner;
    if (!sandbox) { /* the use was not given: nobody looks at it any more */
        struct slice why = failure ? slice_of(failure->detail) : SLICE("There is no sandbox.");
        taking->done.done(taking->done.owner, (struct slice){0}, why);
        free(taking);
        return;
    }
    sandboxes_snapshot(taking->snapshots->sandboxes, sandbox, (struct sandbox_callback){taking, on_taken});
}

static void on_begin(struct loop_message *message)
{
    struct taking *taking = (struct taking *)message;
    taking->use.owner = taking;
    taking->use.ready = on_ready;
    runtime_host_acquire(taking->snapshots->runtimes, taking->tenant_key, taking->session_key, &taking->use);
}

void gateway_snapshot_take(void *owner, int64_t tenant_key, int64_t session_key, struct gateway_done done)
{
    struct gateway_snapshots *snapshots = owner;
    struct taking *taking = memory_zeroed(sizeof *taking);
    *taking = (struct taking){{.run = on_begin}, snapshots, {0}, tenant_key, session_key, done};
    loop_post(snapshots->loop, &taking->message);
}

enum status gateway_snapshot_keep(struct call *call, struct loaded_session *loaded, const struct json *snapshot)
{
    assert(call_writes(call));
    const struct session *session = &loaded->session;
    struct changes changes = {0};
    struct runtime_update news = {
        .snapshot_id = json_text_of(snapshot, "snapshot"),
        .snapshot_bytes = json_i64_of(snapshot, "bytes"),
    };
    enum status status = change_sandbox(call->arena, session, session->runtime, session->pause_reason, "snapshot taken",
                                        &news, &changes, &call->failure);
    return status == STATUS_OK ? session_append_changes(call, loaded, &changes) : status;
}
