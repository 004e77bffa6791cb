#include <assert.h>

#include "service/ask/ask_internal.h"

/* Of one message; what lies further back is asked anew. */
enum { ASKS_LOOKED_AT = 64, EVENTS_LOOKED_AT = 5000 };

/* What the log says about one ask. A session waits until its asks are decided, so that no attempt finds one open. */
struct trace {
    struct slice id;
    bool answered;           /* and nobody heard it, unless: */
    bool over;               /* whoever asked has heard, or nobody will */
    int64_t resumed_in;      /* the turn that took the answer; 0 = none */
    struct slice resumed_as; /* what it called its own ask */
};

struct traces {
    struct arena *arena;
    struct trace all[ASKS_LOOKED_AT];
    size_t count;
    int64_t ended_turn;
};

static struct trace *find_trace(struct traces *traces, struct slice id)
{
    for (size_t i = 0; i < traces->count; i++) {
        if (slice_eq(traces->all[i].id, id)) {
            return &traces->all[i];
        }
    }
    return NULL;
}

static void note_requested(struct traces *traces, struct slice id, const struct json *metadata)
{
    (void)metadata;
    if (traces->count < ASKS_LOOKED_AT) {
        traces->all[traces->count++] = (struct trace){.id = arena_copy(traces->arena, id)};
    }
}

/* A turn that lives hears it, and may have acted on it. */
static void note_answered(struct traces *traces, struct slice id, const struct json *metadata)
{
    struct trace *trace = find_trace(traces, id);
    if (trace) {
        trace->answered = true;
        trace->over |= json_i64_of(metadata, "turn") > traces->ended_turn;
    }
}

static void note_resumed(struct traces *traces, struct slice id, const struct json *metadata)
{
    struct trace *trace = find_trace(traces, id);
    if (trace) {
        trace->over = true;
        trace->resumed_in = json_i64_of(metadata, "turn");
        trace->resumed_as = arena_copy(traces->arena, json_text_of(metadata, "as"));
    }
}

static void note_turn_ended(struct traces *traces, struct slice id, const struct json *metadata)
{
    (void)id;
    traces->ended_turn = json_i64_of(metadata, "turn");
}

static const enum event_kind kinds[] = {EVENT_ASK_REQUESTED, EVENT_ASK_ANSWERED, EVENT_ASK_RESUMED, EVENT_TURN_ENDED};
enum { TYPES = sizeof kinds / sizeof *kinds };
static void (*const notes[TYPES])(struct traces *traces, struct slice id, const struct json *metadata) = {
    note_requested,
    note_answered,
    note_resumed,
    note_turn_ended,
};

static bool note_event(void *owner, const struct event *event)
{
    struct traces *traces = owner;
    struct arena arena = {0};
    const struct json *metadata;
    if (json_parse(&arena, event->metadata, &metadata, NULL) == STATUS_OK) {
        for (size_t i = 0; i < TYPES; i++) {
            if (event->kind == kinds[i]) {
                notes[i](traces, json_text_of(metadata, "id"), metadata);
            }
        }
    }
    arena_release(&arena);
    return true;
}

static enum status read_traces(struct call *call, const struct session *session, int64_t after, struct traces *out)
{
    struct event_filter filter = {.tenant_key = session->tenant_key,
                                  .session_key = session->key,
                                  .kinds = kinds,
                                  .kind_count = TYPES,
                                  .after = after,
                                  .limit = EVENTS_LOOKED_AT};
    out->arena = call->arena;
    enum status status = transaction_flush(call->transaction, &call->failure);
    return status == STATUS_OK ? store_event_read(call->db, &filter, note_event, out, &call->failure) : status;
}

/* Not yet heard, or heard by this very ask, which is repeated. */
static bool is_for(const struct trace *trace, const struct ask *ask)
{
    bool repeats = trace->resumed_in == ask->turn && slice_eq(trace->resumed_as, ask->id);
    return trace->answered && (!trace->over || repeats);
}

static enum status find_same(struct call *call, const struct session *session, const struct ask *ask,
                             const struct traces *traces, struct ask *out, const struct trace **out_found)
{
    enum status status = STATUS_OK;
    *out_found = NULL;
    for (size_t i = traces->count; i > 0 && status == STATUS_OK && !*out_found; i--) {
        const struct trace *trace = &traces->all[i - 1];
        if (is_for(trace, ask)) {
            status = ask_load(call, session, trace->id, out);
            *out_found = status == STATUS_OK && ask_is_same(call->arena, out, ask) ? trace : NULL;
        }
    }
    return status;
}

static enum status take_answer(struct call *call, struct loaded_session *loaded, const struct trace *trace,
                               const struct ask *stored, struct ask *ask)
{
    struct changes changes = {0};
    enum status status = STATUS_OK;
    if (!trace->over) {
        change_ask_resumed(call->arena, stored, ask, &changes);
        status = session_append_changes(call, loaded, &changes);
    }
    *ask = *stored;
    return status;
}

/* An earlier attempt used its name for something that is over. */
static enum status rename_if_taken(struct call *call, const struct session *session, struct ask *ask)
{
    struct ask stored;
    enum status status =
        store_ask_by_id(call->db, session->tenant_key, session->key, ask->id, call->arena, &stored, &call->failure);
    if (status == STATUS_OK && stored.turn < ask->turn) {
        ask->id = arena_format(call->arena, "%.*s~%lld", SLICE_ARG(ask->id), (long long)ask->turn);
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status ask_open_again(struct call *call, struct loaded_session *loaded, int64_t after, struct ask *ask)
{
    assert(call_writes(call));
    struct traces traces = {0};
    struct ask stored;
    const struct trace *found = NULL;
    const struct session *session = &loaded->session;
    enum status status = ask_fill(call, session, ask);
    if (status == STATUS_OK) {
        status = read_traces(call, session, after, &traces);
    }
    if (status == STATUS_OK) {
        status = find_same(call, session, ask, &traces, &stored, &found);
    }
    if (status == STATUS_OK && found) {
        return take_answer(call, loaded, found, &stored, ask);
    }
    if (status == STATUS_OK) {
        status = rename_if_taken(call, session, ask);
    }
    return status == STATUS_OK ? ask_open(call, loaded, ask) : status;
}
