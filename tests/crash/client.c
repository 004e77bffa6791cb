#include "client.h"

#include <stdio.h>
#include <stdlib.h>

#include "domain/prompt.h"
#include "service/ask.h"
#include "service/prompt.h"
#include "service/turn_close.h"

enum { DEBOUNCE_MS = 40 };

const char *const manner_names[MANNER_COUNT] = {"followup", "steer", "collect", "reject", "append"};
const char *const tempo_names[TEMPO_COUNT] = {"at once", "one by one", "when asked", "when rested"};
static const int modes[MANNER_COUNT] = {QUEUE_FOLLOWUP, QUEUE_STEER, QUEUE_COLLECT, QUEUE_REJECT, -1};

struct slice client_session(const struct client *client)
{
    return slice_of(resume_policy_words.names[client->script->policy]);
}

static void keep_name(char out[NAME_BYTES], struct slice name)
{
    snprintf(out, NAME_BYTES, "%.*s", SLICE_ARG(name));
}

/* --- sending --- */

static enum status send_now(struct call *call, struct message *message, struct slice *out_name)
{
    enum manner manner = message->client->script->manners[message->number];
    struct slice session = client_session(message->client);
    struct prompt_request request = {.mode = modes[manner], .debounce_ms = DEBOUNCE_MS};
    struct prompt_receipt receipt;
    int64_t sequence;
    request.content = prompt_content_of(call->arena, arena_format(call->arena, "m%d", message->number));
    if (manner == BY_APPEND) {
        *out_name = SLICE("");
        return prompt_append(call, session, &request, &sequence);
    }
    enum status status = prompt_send(call, session, &request, &receipt);
    *out_name = status == STATUS_OK ? receipt.id : SLICE("");
    return status;
}

/* As the API does it: the answer is kept under the key of the request, in the same transaction. */
static enum status send_once(struct call *call, struct message *message)
{
    struct idempotent_reply reply = {
        .fingerprint = SLICE("00000000000000000000000000000000"), .status = 202, .body = SLICE("")};
    struct slice key = arena_format(call->arena, "key-%d", message->number);
    const struct principal *who = call->who;
    enum status status =
        store_idempotency_get(call->db, who->tenant_key, who->name, key, call->arena, &reply, &call->failure);
    if (status == STATUS_NOT_FOUND) {
        status = send_now(call, message, &reply.body);
        if (status == STATUS_OK) {
            status =
                store_idempotency_put(call->db, who->tenant_key, who->name, key, &reply, call->now_ms, &call->failure);
        }
    }
    keep_name(message->name, reply.body);
    return status;
}

static enum job_outcome message_run(struct write_job *job, struct unit *unit)
{
    struct message *message = (struct message *)job;
    struct arena arena = {0};
    int64_t writes_before = unit_writes(unit);
    struct call call = unit_call(unit, &arena, &message->client->world->who);
    message->status = send_once(&call, message);
    message->failure = call.failure;
    arena_release(&arena);
    return message->status != STATUS_OK && unit_writes(unit) != writes_before ? JOB_SPOILED : JOB_DONE;
}

/* Busy, in the mode that asks for it; or the session has failed, by the policy that asks for that. */
static bool may_be_refused(const struct message *message)
{
    const struct script *script = message->client->script;
    bool busy = strcmp(message->failure.code, "busy") == 0 && script->manners[message->number] == BY_REJECT;
    return message->status == STATUS_CONFLICT && (busy || script->policy == RESUME_FAIL);
}

static void message_finish(struct write_job *job, enum status status, const struct failure *failure)
{
    struct message *message = (struct message *)job;
    message->under_way = false;
    message->client->told++;
    world_must(status, failure, "the commit of a message");
    if (may_be_refused(message)) {
        message->told = TOLD_REFUSED;
        return;
    }
    world_must(message->status, &message->failure, "a message");
    message->told = TOLD_ACCEPTED;
}

static void submit(struct client *client, struct write_job *job)
{
    if (!writer_submit(client->world->writer, job)) {
        abort();
    }
}

static void submit_message(struct message *message)
{
    message->under_way = true;
    submit(message->client, &message->job);
}

/* --- deciding --- */

static enum job_outcome answer_run(struct write_job *job, struct unit *unit)
{
    struct decision *answer = (struct decision *)job;
    struct arena arena = {0};
    struct ask after;
    int64_t writes_before = unit_writes(unit);
    struct ask_reply reply = {.decision = DECISION_ONCE};
    struct call call = unit_call(unit, &arena, &answer->client->world->who);
    answer->status = ask_answer(&call, client_session(answer->client), slice_of(answer->ask), &reply, &after);
    answer->failure = call.failure;
    arena_release(&arena);
    return answer->status != STATUS_OK && unit_writes(unit) != writes_before ? JOB_SPOILED : JOB_DONE;
}

static void answer_finish(struct write_job *job, enum status status, const struct failure *failure)
{
    struct decision *answer = (struct decision *)job;
    struct client *client = answer->client;
    answer->under_way = false;
    client->told++;
    world_must(status, failure, "the commit of an answer");
    world_must(answer->status, &answer->failure, "an answer");
    if (client->answered_count == ANSWERS_MAX) {
        abort();
    }
    strcpy(client->answered[client->answered_count++], answer->ask);
}

static enum job_outcome resume_run(struct write_job *job, struct unit *unit)
{
    struct decision *resume = (struct decision *)job;
    struct arena arena = {0};
    struct session_entry entry;
    int64_t writes_before = unit_writes(unit);
    struct call call = unit_call(unit, &arena, &resume->client->world->who);
    resume->status = turn_resume(&call, client_session(resume->client), &entry);
    resume->failure = call.failure;
    arena_release(&arena);
    return resume->status != STATUS_OK && unit_writes(unit) != writes_before ? JOB_SPOILED : JOB_DONE;
}

static void resume_finish(struct write_job *job, enum status status, const struct failure *failure)
{
    struct decision *resume = (struct decision *)job;
    resume->under_way = false;
    resume->client->told++;
    world_must(status, failure, "the commit of a resumption");
    resume->client->nothing_to_resume = resume->status == STATUS_CONFLICT;
    if (!resume->client->nothing_to_resume) {
        world_must(resume->status, &resume->failure, "a resumption");
    }
}

/* --- what he sees --- */

struct sight {
    enum work work;
    size_t waiting, asked;
    char ask[NAME_BYTES]; /* the oldest */
};

static struct sight look(struct client *client)
{
    struct arena arena = {0};
    struct session session;
    struct prompt *prompts;
    struct ask *asks;
    struct sight sight = {0};
    struct call call = world_look(client->world, &arena);
    world_must(session_view(&call, client_session(client), ACTION_READ, &session, NULL), &call.failure, "the session");
    world_must(
        store_prompt_list(call.db, session.tenant_key, session.key, &arena, &prompts, &sight.waiting, &call.failure),
        &call.failure, "the queue");
    world_must(store_ask_pending(call.db, session.tenant_key, session.key, &arena, &asks, &sight.asked, &call.failure),
               &call.failure, "the asks");
    sight.work = session.work;
    if (sight.asked > 0) {
        keep_name(sight.ask, asks[0].id);
    }
    arena_release(&arena);
    return sight;
}

static bool rests(const struct sight *sight)
{
    return (work_takes_prompt(sight->work) || work_is_ended(sight->work)) && sight->waiting == 0 && sight->asked == 0;
}

/* --- what he does --- */

void client_init(struct client *client, const struct script *script, struct world *world)
{
    *client = (struct client){.script = script, .world = world};
    for (int i = 0; i < MESSAGES; i++) {
        client->messages[i] =
            (struct message){.job = {.run = message_run, .finish = message_finish}, .client = client, .number = i};
    }
    client->answer = (struct decision){.job = {.run = answer_run, .finish = answer_finish}, .client = client};
    client->resume = (struct decision){.job = {.run = resume_run, .finish = resume_finish}, .client = client};
}

void client_begin_again(struct client *client, struct world *world)
{
    client->world = world;
    client->nothing_to_resume = false;
    client->answer.under_way = client->resume.under_way = false;
    for (int i = 0; i < MESSAGES; i++) {
        client->messages[i].under_way = false;
    }
}

static bool is_under_way(const struct client *client)
{
    bool any = client->answer.under_way || client->resume.under_way;
    for (int i = 0; i < MESSAGES; i++) {
        any |= client->messages[i].under_way;
    }
    return any;
}

static struct message *next_message(struct client *client)
{
    for (int i = 0; i < MESSAGES; i++) {
        if (client->messages[i].told == TOLD_NOTHING && !client->messages[i].under_way) {
            return &client->messages[i];
        }
    }
    return NULL;
}

static bool is_time_to_send(const struct client *client, const struct sight *sight, bool quiet)
{
    switch (client->script->tempo) {
    case AT_ONCE:
        return true;
    case ONE_BY_ONE:
        return !is_under_way(client);
    case WHEN_ASKED:
        return !is_under_way(client) && quiet && (sight->asked > 0 || rests(sight));
    case WHEN_RESTED:
        return !is_under_way(client) && quiet && rests(sight);
    case TEMPO_COUNT:
        break;
    }
    return false;
}

enum act client_act(struct client *client, bool quiet)
{
    struct sight sight = quiet ? look(client) : (struct sight){0};
    struct message *message = next_message(client);
    bool sent = false;
    while (message && is_time_to_send(client, &sight, quiet)) {
        submit_message(message);
        message = next_message(client);
        sent = true;
    }
    if (sent || !quiet || is_under_way(client)) {
        return sent ? ACT_SOMETHING : ACT_NOTHING;
    }
    if (sight.asked > 0) {
        strcpy(client->answer.ask, sight.ask);
        client->answer.under_way = true;
        submit(client, &client->answer.job);
        return ACT_SOMETHING;
    }
    if (message || !rests(&sight)) {
        return ACT_NOTHING;
    }
    if (client->script->policy == RESUME_ASK && !client->nothing_to_resume && !work_is_ended(sight.work)) {
        client->resume.under_way = true;
        submit(client, &client->resume.job);
        return ACT_SOMETHING;
    }
    return ACT_DONE;
}
