#include "client.h"

#include <stdio.h>
#include <stdlib.h>

#include "domain/prompt.h"
#include "service/ask/ask.h"
#include "service/prompt/prompt.h"
#include "service/turn/turn_close.h"

enum { DEBOUNCE_MS = 40 };

const char *const manner_names[MANNER_COUNT] = {"followup", "steer", "collect", "reject", "append"};
const char *const tempo_names[TEMPO_COUNT] = {"at once", "one by one", "when asked", "when rested"};
static const int modes[MANNER_COUNT] = {QUEUE_FOLLOWUP, QUEUE_STEER, QUEUE_COLLECT, QUEUE_REJECT, -1};

struct slice client_session(const struct client *client)
{
    return slice_of(resume_policy_enum.names[client->script->policy]);
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

static enum status message_run(struct call *call, struct command *command)
{
    return send_once(call, (struct message *)command);
}

/* Busy, in the mode that asks for it; or the session has failed, by the policy that asks for that. */
static bool may_be_refused(const struct message *message, enum status status, const struct failure *failure)
{
    const struct script *script = message->client->script;
    bool busy = failure && strcmp(failure->code, "busy") == 0 && script->manners[message->number] == BY_REJECT;
    return status == STATUS_CONFLICT && (busy || script->policy == RESUME_FAIL);
}

static void message_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct message *message = (struct message *)command;
    message->under_way = false;
    message->client->told++;
    if (may_be_refused(message, status, failure)) {
        message->told = TOLD_REFUSED;
        return;
    }
    world_must(status, failure, "a message");
    message->told = TOLD_ACCEPTED;
}

static void submit(struct client *client, struct command *command)
{
    command->who = &client->world->who;
    if (!writer_submit(client->world->writer, command)) {
        abort();
    }
}

static void submit_message(struct message *message)
{
    message->under_way = true;
    submit(message->client, &message->command);
}

/* --- deciding --- */

static enum status answer_run(struct call *call, struct command *command)
{
    struct decision *answer = (struct decision *)command;
    struct ask after;
    struct ask_reply reply = {.decision = DECISION_ONCE};
    return ask_answer(call, client_session(answer->client), slice_of(answer->ask), &reply, &after);
}

static void answer_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct decision *answer = (struct decision *)command;
    struct client *client = answer->client;
    answer->under_way = false;
    client->told++;
    world_must(status, failure, "an answer");
    if (client->answered_count == ANSWERS_MAX) {
        abort();
    }
    strcpy(client->answered[client->answered_count++], answer->ask);
}

static enum status resume_run(struct call *call, struct command *command)
{
    struct session_access entry;
    return turn_resume(call, client_session(((struct decision *)command)->client), &entry);
}

static void resume_finish(struct command *command, enum status status, const struct failure *failure)
{
    struct decision *resume = (struct decision *)command;
    resume->under_way = false;
    resume->client->told++;
    resume->client->nothing_to_resume = status == STATUS_CONFLICT;
    if (!resume->client->nothing_to_resume) {
        world_must(status, failure, "a resumption");
    }
}

static const struct command_type message_type = {"message", 0, message_run, message_finish},
                                 answer_type = {"answer", 0, answer_run, answer_finish},
                                 resume_type = {"resume", 0, resume_run, resume_finish};

/* --- what he sees --- */

struct sight {
    enum session_status status;
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
    world_must(session_authorize_read(&call, client_session(client), ACTION_READ, &session, NULL), &call.failure,
               "the session");
    world_must(
        store_prompt_list(call.db, session.tenant_key, session.key, &arena, &prompts, &sight.waiting, &call.failure),
        &call.failure, "the queue");
    world_must(store_ask_pending(call.db, session.tenant_key, session.key, &arena, &asks, &sight.asked, &call.failure),
               &call.failure, "the asks");
    sight.status = session.status;
    if (sight.asked > 0) {
        keep_name(sight.ask, asks[0].id);
    }
    arena_release(&arena);
    return sight;
}

static bool rests(const struct sight *sight)
{
    return (session_status_takes_prompt(sight->status) || session_status_is_ended(sight->status)) &&
           sight->waiting == 0 && sight->asked == 0;
}

/* --- what he does --- */

void client_init(struct client *client, const struct script *script, struct world *world)
{
    *client = (struct client){.script = script, .world = world};
    for (int i = 0; i < MESSAGES; i++) {
        client->messages[i] = (struct message){.command = {.type = &message_type}, .client = client, .number = i};
    }
    client->answer = (struct decision){.command = {.type = &answer_type}, .client = client};
    client->resume = (struct decision){.command = {.type = &resume_type}, .client = client};
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
        submit(client, &client->answer.command);
        return ACT_SOMETHING;
    }
    if (message || !rests(&sight)) {
        return ACT_NOTHING;
    }
    if (client->script->policy == RESUME_ASK && !client->nothing_to_resume && !session_status_is_ended(sight.status)) {
        client->resume.under_way = true;
        submit(client, &client->resume.command);
        return ACT_SOMETHING;
    }
    return ACT_DONE;
}
