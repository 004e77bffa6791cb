#include "domain/ask.h"

#include "domain/ask_grant.h"
#include "domain/change_payload.h"

static void put_word(struct json_out *out, const char *key, struct enum_names words, int index)
{
    if (*words.names[index]) {
        json_put_text(out, key, slice_of(words.names[index]));
    }
}

static void put_time(struct json_out *out, const char *key, int64_t wall_ms)
{
    if (wall_ms != 0) {
        json_put_time(out, key, wall_ms);
    }
}

static void write_question(struct json_out *out, const struct ask *ask)
{
    json_put_text(out, "text", ask->text);
    json_maybe_text(out, "tool", ask->tool);
    json_maybe_text(out, "call_id", ask->call_id);
    json_maybe_raw(out, "arguments", ask->arguments);
    if (ask->kind == ASK_APPROVAL) {
        json_put_bool(out, "editable", ask->editable);
    }
    json_maybe_raw(out, "options", ask->options);
    json_maybe_raw(out, "schema", ask->schema);
    json_maybe_raw(out, "details", ask->details);
}

static void write_answer(struct json_out *out, const struct ask *ask)
{
    json_maybe_raw(out, "votes", ask->votes);
    put_word(out, "decision", ask_decision_enum, (int)ask->decision);
    json_maybe_raw(out, "answer", ask->answer);
    json_maybe_text(out, "reason", ask->reason);
    json_maybe_text(out, "answered_by", ask->answered_by);
    put_time(out, "answered_at", ask->answered_at_ms);
}

void ask_write_members(struct json_out *out, const struct ask *ask)
{
    json_put_text(out, "id", ask->id);
    put_word(out, "kind", ask_kind_enum, (int)ask->kind);
    put_word(out, "state", ask_state_enum, (int)ask->state);
    json_put_i64(out, "turn", ask->turn);
    write_question(out, ask);
    put_word(out, "role", access_role_enum, (int)ask->role);
    json_put_i64(out, "quorum", ask->quorum);
    json_put_time(out, "created_at", ask->created_at_ms);
    json_put_time(out, "expires_at", ask->expires_at_ms);
    write_answer(out, ask);
    ask_grants_write(out, ask);
}

void ask_write(struct json_out *out, const struct ask *ask)
{
    json_begin_object(out);
    ask_write_members(out, ask);
    json_end_object(out);
}

void ask_rule_write(struct json_out *out, const struct ask_rule *rule)
{
    struct arena arena = {0};
    struct ask_subject subject = rule->subject;
    subject.tool = rule->tool.len > 0 ? rule->tool : (struct slice){0};
    json_begin_object(out);
    json_put_text(out, "id", rule->id);
    json_put_text(out, "tool", rule->tool);
    json_put_text(out, "agent", rule->agent);
    json_put_text(out, "user_id", rule->user_id);
    json_put_raw(out, "arguments", rule->arguments);
    json_key(out, "subject");
    ask_subject_write(out, &subject);
    json_put_text(out, "text", ask_rule_text(&arena, rule));
    json_put_text(out, "scope",
                  slice_of(ask_decision_enum.names[rule->session_key ? DECISION_SESSION : DECISION_ALWAYS]));
    json_put_text(out, "session_id", rule->session_id);
    json_put_text(out, "ask_id", rule->ask_id);
    json_put_text(out, "created_by", rule->created_by);
    json_put_time(out, "created_at", rule->created_at_ms);
    json_end_object(out);
    arena_release(&arena);
}

/* --- events --- */

/* What every event about an ask begins with. */
static void begin(struct payload *payload, const struct ask *ask)
{
    payload_begin(payload);
    json_put_text(&payload->out, "id", ask->id);
    payload_word(payload, "kind", ask_kind_enum, (int)ask->kind);
    json_put_i64(&payload->out, "turn", ask->turn);
}

void change_ask_requested(struct arena *arena, const struct ask *ask, struct changes *out)
{
    struct payload payload;
    struct ask asked = *ask; /* as it was before a rule answered it */
    asked.state = ASK_PENDING;
    asked.decision = DECISION_NONE;
    asked.answered_by = (struct slice){0};
    asked.answered_at_ms = 0;
    begin(&payload, ask);
    json_key(&payload.out, "ask");
    ask_write(&payload.out, &asked);
    payload_end(&payload, arena, EVENT_ASK_REQUESTED, out);
}

void change_ask_voted(struct arena *arena, const struct ask *ask, const struct ask_reply *reply, struct changes *out)
{
    struct payload payload;
    begin(&payload, ask);
    json_put_text(&payload.out, "by", reply->voter);
    payload_word(&payload, "decision", ask_decision_enum, (int)reply->decision);
    json_put_raw(&payload.out, "votes", ask->votes);
    json_put_i64(&payload.out, "quorum", ask->quorum);
    payload_end(&payload, arena, EVENT_ASK_VOTED, out);
}

void change_ask_resumed(struct arena *arena, const struct ask *ask, const struct ask *as, struct changes *out)
{
    struct payload payload;
    payload_begin(&payload);
    json_put_text(&payload.out, "id", ask->id);
    payload_word(&payload, "kind", ask_kind_enum, (int)ask->kind);
    json_put_i64(&payload.out, "turn", as->turn);
    json_put_text(&payload.out, "as", as->id);
    json_maybe_text(&payload.out, "call_id", as->call_id);
    payload_end(&payload, arena, EVENT_ASK_RESUMED, out);
}

static void write_over(struct payload *payload, const struct ask *ask)
{
    json_maybe_text(&payload->out, "tool", ask->tool);
    json_maybe_text(&payload->out, "call_id", ask->call_id);
    payload_word(payload, "decision", ask_decision_enum, (int)ask->decision);
    json_maybe_raw(&payload->out, "answer", ask->answer);
    json_maybe_text(&payload->out, "reason", ask->reason);
    json_maybe_text(&payload->out, "by", ask->answered_by);
}

static void add_output_approval(struct arena *arena, const struct ask *ask, struct changes *out)
{
    struct payload payload;
    payload_begin(&payload);
    json_put_text(&payload.out, "ask_id", ask->id);
    json_put_bool(&payload.out, "approved", ask->decision != DECISION_DENY);
    json_maybe_text(&payload.out, "reason", ask->reason);
    payload_end(&payload, arena, EVENT_USER_OUTPUT_APPROVAL, out);
    out->events[out->count - 1].role = ROLE_USER;
}

void change_ask_over(struct arena *arena, const struct ask *ask, struct changes *out)
{
    static const enum event_kind kinds[ASK_STATE_COUNT] = {
        [ASK_PENDING] = EVENT_ASK_REQUESTED,
        [ASK_ANSWERED] = EVENT_ASK_ANSWERED,
        [ASK_EXPIRED] = EVENT_ASK_EXPIRED,
        [ASK_CANCELLED] = EVENT_ASK_CANCELLED,
    };
    struct payload payload;
    begin(&payload, ask);
    write_over(&payload, ask);
    payload_end(&payload, arena, kinds[ask->state], out);
    if (ask->state == ASK_ANSWERED && ask_is_of_output(ask)) {
        add_output_approval(arena, ask, out);
    }
}
