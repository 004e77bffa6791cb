#include "domain/session.h"

#include "domain/session_details.h"
#include "domain/session_fields.h"

static const char *const visibility_names[VISIBILITY_COUNT] = {
    [VISIBILITY_PRIVATE] = "private",
    [VISIBILITY_ORG_VISIBLE] = "org_visible",
    [VISIBILITY_ORG_JOINABLE] = "org_joinable",
};
const struct enum_names visibility_enum = {visibility_names, VISIBILITY_COUNT};

static const char *const purpose_names[PURPOSE_COUNT] = {
    [PURPOSE_INTERACTIVE] = "interactive",
    [PURPOSE_ORCHESTRATOR] = "orchestrator",
    [PURPOSE_WORKFLOW] = "workflow",
    [PURPOSE_APPROVAL] = "approval",
};
const struct enum_names purpose_enum = {purpose_names, PURPOSE_COUNT};

static const char *const queue_mode_names[QUEUE_COUNT] = {
    [QUEUE_FOLLOWUP] = "followup",
    [QUEUE_STEER] = "steer",
    [QUEUE_COLLECT] = "collect",
    [QUEUE_REJECT] = "reject",
};
const struct enum_names queue_mode_enum = {queue_mode_names, QUEUE_COUNT};

static const char *const chat_type_names[CHAT_COUNT] = {
    [CHAT_NONE] = "",
    [CHAT_DIRECT] = "direct",
    [CHAT_GROUP] = "group",
};
const struct enum_names chat_type_enum = {chat_type_names, CHAT_COUNT};

void session_copy(struct session *to, const struct session *from, struct arena *arena)
{
    struct session copy = *from;
    for (size_t i = 0; i < session_fields_count; i++) {
        const struct session_field *field = &session_fields[i];
        if (field->kind == FIELD_TEXT || field->kind == FIELD_JSON) {
            session_field_set_text(&copy, field, arena_copy(arena, session_field_text(from, field)));
        }
    }
    *to = copy;
}

static bool same_text(struct slice a, struct slice b)
{
    return slice_present(a) == slice_present(b) && slice_eq(a, b);
}

static bool same_field(const struct session *a, const struct session *b, const struct session_field *field)
{
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_JSON:
    case FIELD_PREVIEW:
        return same_text(session_field_text(a, field), session_field_text(b, field));
    case FIELD_I64:
    case FIELD_BOOL:
    case FIELD_ENUM:
        break;
    }
    return session_field_number(a, field) == session_field_number(b, field);
}

const char *session_difference(const struct session *a, const struct session *b)
{
    for (size_t i = 0; i < session_fields_count; i++) {
        if (!same_field(a, b, &session_fields[i])) {
            return session_fields[i].name;
        }
    }
    return NULL;
}

bool session_id_is_valid(struct slice id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && c != '.' && c != '_' && c != ':' && c != '-') {
            return false;
        }
    }
    bool leads_up = slice_is(id, ".") || slice_is(id, ".."); /* no path of the API leads there */
    return id.len >= 1 && id.len <= SESSION_ID_BYTES_MAX && !leads_up;
}

bool session_is_human_bridge(const struct session *session)
{
    return session->type == TYPE_MIXED && slice_is(session->source_kind, SOURCE_HUMAN_BRIDGE);
}

bool session_is_conversation(const struct session *session)
{
    return (session->type == TYPE_AGENT || session->type == TYPE_MIXED) && !session_is_human_bridge(session);
}

bool session_is_from_channel(const struct session *session)
{
    return session->source_type != CHAT_NONE && session_is_conversation(session);
}

bool session_is_limited(const struct session *session)
{
    return session->purpose == PURPOSE_INTERACTIVE && !slice_starts(session->parent_id, SLICE("orchestrator:"));
}

bool session_is_chat(const struct session *session)
{
    return session_is_conversation(session) && session->purpose == PURPOSE_INTERACTIVE &&
           !slice_present(session->initial_prompt) && !slice_present(session->task_id);
}

bool session_purpose_is_private(enum purpose purpose)
{
    return purpose == PURPOSE_ORCHESTRATOR || purpose == PURPOSE_WORKFLOW;
}

bool session_blocks_turns(const struct session *session)
{
    return pause_blocks_turns(session->pause_reason);
}

bool session_can_retry(const struct session *session)
{
    return session_status_is_failing(session->status);
}

bool session_can_reopen(const struct session *session)
{
    return session_is_conversation(session) && session_status_can_reopen(session->status);
}

bool session_takes_prompt(const struct session *session)
{
    return session_status_takes_prompt(session->status) && !session_blocks_turns(session);
}

bool session_is_claimable(const struct session *session)
{
    return session_status_is_claimable(session->status) && !session_blocks_turns(session);
}

bool session_has_snapshot(const struct session *session)
{
    return session_details_has(session, "snapshot_id");
}

enum session_status session_ends_as(const struct session *session, enum stop_reason stop)
{
    /* Draft, where no session ends, stands for: as if it was stopped. */
    static const enum session_status ends[STOP_COUNT] = {
        [STOP_COMPLETED] = SESSION_COMPLETED,    [STOP_FAILED] = SESSION_FAILED,
        [STOP_SUPERSEDED] = SESSION_COMPLETED,   [STOP_EXPIRED] = SESSION_EXPIRED,
        [STOP_ABANDONED] = SESSION_ABANDONED,    [STOP_ATTEMPTS_EXHAUSTED] = SESSION_FAILED,
        [STOP_SNAPSHOT_FAILED] = SESSION_FAILED, [STOP_TURN_LIMIT] = SESSION_COMPLETED,
        [STOP_BUDGET_EXCEEDED] = SESSION_FAILED,
    };
    return ends[stop] == SESSION_DRAFT ? session_status_stopped_as(session->status) : ends[stop];
}
