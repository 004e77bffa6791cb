/* Live output of a turn: shown as it comes, but for what may be the beginning of a secret or of a mark of silence. */
#include <assert.h>

#include "service/identity/secret.h"
#include "service/turn/turn_run.h"

enum { DELTA_ROOM_BYTES = 80 };

void turn_publish_delta(const struct turn *turn, enum delta_kind kind, struct slice id, struct slice text)
{
    assert(loop_is_mine(turn->input.loop));
    struct publication *publication = publication_new();
    struct buffer json = {0};
    struct json_out out = json_out_to(&json);
    buffer_reserve(&json, id.len + text.len + DELTA_ROOM_BYTES);
    json_begin_object(&out);
    json_put_text(&out, "kind", slice_of(delta_kind_enum.names[kind]));
    if (slice_present(id)) {
        json_put_text(&out, "id", id);
    }
    json_put_text(&out, "text", text);
    json_maybe_text(&out, "thread_id", turn->input.thread_id);
    json_end_object(&out);
    publication_add(publication, &(struct publication_entry){
                                     .kind = PUBLISH_DELTA,
                                     .tenant_key = turn->input.tenant_key,
                                     .session_key = turn->input.session_key,
                                     .session_id = turn->input.session_id,
                                     .sequence = turn->sequence,
                                     .delta_kind = kind,
                                     .thread_id = turn->input.thread_id,
                                     .json = buffer_slice(&json),
                                 });
    buffer_release(&json);
    fanout_publish(turn->host->options.fanout, publication);
}

/* At once, unless something before it is not yet durable. */
static void show(struct turn *turn, enum delta_kind kind, struct slice id, struct slice text)
{
    turn_text_add(turn, kind, text);
    if (!turn->is_writing && !turn->queue) {
        turn_publish_delta(turn, kind, id, text);
        return;
    }
    struct turn_op *op = turn_op_new(TURN_OP_DELTA);
    op->delta_kind = kind;
    op->id = arena_copy(&op->arena, id);
    op->text = arena_copy(&op->arena, text);
    op->bytes = text.len;
    turn_enqueue(turn, op);
}

/* --- secrets --- */

/* A letter for the kind, then the id. */
static struct slice key_of(struct buffer *to, enum delta_kind kind, struct slice id)
{
    to->len = 0;
    buffer_add_byte(to, (char)('a' + (int)kind));
    buffer_add(to, id);
    return buffer_slice(to);
}

static void show_key(void *owner, struct slice key, struct slice text)
{
    struct slice id = slice_after(key, 1);
    show(owner, (enum delta_kind)(key.ptr[0] - 'a'), id.len > 0 ? id : (struct slice){0}, text);
}

void turn_show_held(struct turn *turn)
{
    assert(loop_is_mine(turn->input.loop));
    if (turn->live.map.count > 0) {
        secret_streams_flush(&turn->live, show_key, turn);
    }
}

static void show_masked(struct turn *turn, struct secrets *secrets, bool hides_marks, enum delta_kind kind,
                        struct slice id, struct slice text)
{
    struct buffer scratch = {0};
    struct slice key = key_of(&turn->live_key, kind, id);
    struct slice shown = secret_streams_pass(&turn->live, secrets, hides_marks, key, 0, text, &scratch);
    if (shown.len > 0) {
        show(turn, kind, id, shown);
    }
    buffer_release(&scratch);
}

void turn_take_delta(struct turn *turn, enum delta_kind kind, struct slice id, struct slice text)
{
    assert(loop_is_mine(turn->input.loop));
    struct secrets *secrets = turn->host->options.service->secrets;
    if (!turn_is_open(turn) || turn->introspects) {
        return;
    }
    bool hides_marks = turn->hides_marks && kind == DELTA_TEXT;
    if (hides_marks || secrets_any(secrets)) {
        show_masked(turn, secrets, hides_marks, kind, id, text);
    } else {
        show(turn, kind, id, text);
    }
}
