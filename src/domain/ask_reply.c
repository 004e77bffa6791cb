#include "domain/ask.h"

/* --- does it fit? --- */

/* The same members of the same kinds, all the way down; what stands in lists is free. */
static bool same_shape(const struct json *staged, const struct json *edited)
{
    bool flags = (json_is(staged, JSON_TRUE) || json_is(staged, JSON_FALSE)) &&
                 (json_is(edited, JSON_TRUE) || json_is(edited, JSON_FALSE));
    if (flags || staged->kind != edited->kind || staged->kind != JSON_OBJECT) {
        return flags || staged->kind == edited->kind;
    }
    if (staged->count != edited->count) {
        return false;
    }
    for (const struct json *member = staged->child; member; member = member->next) {
        const struct json *other = json_member(edited, member->key);
        if (!other || !same_shape(member, other)) {
            return false;
        }
    }
    return true;
}

static enum status check_edit(struct arena *arena, const struct ask *ask, const struct ask_reply *reply,
                              struct failure *failure)
{
    const struct json *staged;
    if (!reply->answer) {
        return STATUS_OK;
    }
    if (!ask->editable || ask->quorum != 1) {
        return failure_set(failure, STATUS_INVALID, "not_editable",
                           "What is approved here is approved as it stands; leave `answer` out.");
    }
    struct slice arguments = slice_present(ask->arguments) ? ask->arguments : SLICE("{}");
    if (json_parse(arena, arguments, &staged, NULL) != STATUS_OK || !same_shape(staged, reply->answer)) {
        return failure_set(failure, STATUS_INVALID, "edit_does_not_fit",
                           "Edited arguments must have the same members, of the same types, as the staged ones.");
    }
    return STATUS_OK;
}

static enum status check_approval(struct arena *arena, const struct ask *ask, const struct ask_reply *reply,
                                  struct failure *failure)
{
    bool stands = reply->decision == DECISION_SESSION || reply->decision == DECISION_ALWAYS;
    if (reply->decision == DECISION_NONE) {
        return failure_set(failure, STATUS_INVALID, "invalid_decision",
                           "An approval needs a `decision`: once, session, always or deny.");
    }
    if (stands && (ask->quorum != 1 || ask_is_of_output(ask))) {
        return failure_set(failure, STATUS_INVALID, "invalid_decision",
                           "This is decided once or denied: no rule can stand for %s.",
                           ask->quorum != 1 ? "several people" : "an output");
    }
    return check_edit(arena, ask, reply, failure);
}

static enum status check_choice(struct arena *arena, const struct ask *ask, const struct json *answer,
                                struct failure *failure)
{
    const struct json *options;
    if (!json_is(answer, JSON_STRING) || answer->text.len == 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_answer", "The `answer` to a question is a text.");
    }
    if (!slice_present(ask->options) || json_parse(arena, ask->options, &options, NULL) != STATUS_OK) {
        return STATUS_OK;
    }
    for (const struct json *one = options->child; one; one = one->next) {
        if (slice_eq(one->text, answer->text)) {
            return STATUS_OK;
        }
    }
    return failure_set(failure, STATUS_INVALID, "invalid_answer", "The `answer` must be one of %.*s.",
                       SLICE_ARG(slice_utf8_prefix(ask->options, 600)));
}

static enum status check_knowledge(struct arena *arena, const struct ask *ask, const struct ask_reply *reply,
                                   struct failure *failure)
{
    if (reply->decision != DECISION_NONE && reply->decision != DECISION_ONCE) {
        return failure_set(failure, STATUS_INVALID, "invalid_decision",
                           "An ask of kind %s is answered, or declined with the decision deny.",
                           ask_kind_enum.names[ask->kind]);
    }
    if (!reply->answer) {
        return failure_set(failure, STATUS_INVALID, "invalid_answer", "Send the `answer`.");
    }
    if (ask->kind == ASK_ELICITATION && reply->answer->raw.len > ASK_FORM_BYTES_MAX) {
        return failure_set(failure, STATUS_TOO_LARGE, "answer_too_large", "A form has at most %d bytes.",
                           ASK_FORM_BYTES_MAX);
    }
    return ask->kind == ASK_QUESTION ? check_choice(arena, ask, reply->answer, failure) : STATUS_OK;
}

enum status ask_check_reply(struct arena *arena, const struct ask *ask, const struct ask_reply *reply,
                            struct failure *failure)
{
    if (reply->decision == DECISION_DENY && reply->answer) {
        return failure_set(failure, STATUS_INVALID, "invalid_answer", "A denial has no `answer`; give a `reason`.");
    }
    if (slice_present(reply->reason) && reply->decision != DECISION_DENY) {
        return failure_set(failure, STATUS_INVALID, "invalid_decision", "Only a denial has a `reason`.");
    }
    if (reply->decision == DECISION_DENY) {
        return STATUS_OK;
    }
    return ask->kind == ASK_APPROVAL ? check_approval(arena, ask, reply, failure)
                                     : check_knowledge(arena, ask, reply, failure);
}

/* --- what it does --- */

/* An answer without a decision counts as one. */
static enum ask_decision decision_of(const struct ask_reply *reply)
{
    return reply->decision == DECISION_NONE ? DECISION_ONCE : reply->decision;
}

bool ask_reply_repeats(struct arena *arena, const struct ask *ask, const struct ask_reply *reply)
{
    const struct json *answered;
    if (ask->state != ASK_ANSWERED || ask->decision != decision_of(reply) || !slice_eq(ask->answered_by, reply->by) ||
        !slice_eq(ask->reason, reply->reason) || slice_present(ask->answer) != (reply->answer != NULL)) {
        return false;
    }
    return !reply->answer ||
           (json_parse(arena, ask->answer, &answered, NULL) == STATUS_OK && json_equal(answered, reply->answer));
}

static const struct json *vote_of(const struct json *votes, struct slice voter)
{
    const struct json *vote = votes ? votes->child : NULL;
    while (vote && !slice_eq(json_text_of(vote, "by"), voter)) {
        vote = vote->next;
    }
    return vote;
}

static struct slice add_vote(struct arena *arena, const struct json *votes, const struct ask_reply *reply,
                             int64_t now_ms)
{
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    json_begin_array(&out);
    for (const struct json *vote = votes ? votes->child : NULL; vote; vote = vote->next) {
        json_raw(&out, vote->raw);
    }
    json_begin_object(&out);
    json_put_text(&out, "by", reply->voter);
    json_put_text(&out, "decision", slice_of(ask_decision_enum.names[decision_of(reply)]));
    json_put_time(&out, "at", now_ms);
    json_end_object(&out);
    json_end_array(&out);
    struct slice copy = arena_copy(arena, buffer_slice(&buffer));
    buffer_release(&buffer);
    return copy;
}

static void settle(struct arena *arena, struct ask *ask, const struct ask_reply *reply, int64_t now_ms)
{
    ask->state = ASK_ANSWERED;
    ask->decision = decision_of(reply);
    ask->answer = reply->answer ? arena_copy(arena, reply->answer->raw) : (struct slice){0};
    ask->reason = arena_copy(arena, reply->reason);
    ask->answered_by = arena_copy(arena, reply->by);
    ask->answered_at_ms = now_ms;
}

enum status ask_apply(struct arena *arena, struct ask *ask, const struct ask_reply *reply, int64_t now_ms,
                      enum ask_effect *out, struct failure *failure)
{
    const struct json *votes = NULL;
    *out = ASK_WAS_ANSWERED;
    if (ask->state != ASK_PENDING) {
        return ask_not_pending(ask, failure);
    }
    if (ask->quorum == 1) {
        settle(arena, ask, reply, now_ms);
        return STATUS_OK;
    }
    if (slice_present(ask->votes) && json_parse(arena, ask->votes, &votes, NULL) != STATUS_OK) {
        return failure_set(failure, STATUS_INTERNAL, "ask_broken", "The votes of this ask cannot be read.");
    }
    bool denies = reply->decision == DECISION_DENY;
    if (!denies && vote_of(votes, reply->voter)) {
        *out = ASK_WAS_REPEATED;
        return STATUS_OK;
    }
    ask->votes = add_vote(arena, votes, reply, now_ms);
    if (denies || (votes ? votes->count : 0) + 1 >= ask->quorum) { /* who denies decides for all */
        settle(arena, ask, reply, now_ms);
    } else {
        *out = ASK_WAS_VOTED;
    }
    return STATUS_OK;
}

enum status ask_not_pending(const struct ask *ask, struct failure *failure)
{
    enum status status = failure_set(failure, STATUS_CONFLICT, "ask_not_pending",
                                     "This is %s already; an ask is decided once.", ask_state_enum.names[ask->state]);
    if (failure) {
        failure_members(failure, "\"state\":\"%s\"", ask_state_enum.names[ask->state]);
    }
    return status;
}
