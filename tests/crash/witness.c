#include "witness.h"

#include <stdio.h>

#include "domain/prompt.h"
#include "service/session/session.h"

enum { ASKS_MAX = 64 };

/* What the log says about one ask. */
struct asked {
    struct slice id;
    int64_t turn;
    int answered, cancelled, resumed;
    bool answered_late; /* its turn had ended */
    bool turn_interrupted;
    bool needed; /* a later turn of its message came to its end */
};

/* A message that begins turns, and what came of it. */
struct exchange {
    bool open;
    int turns, stops, interrupts, offers;
    bool withdrawn;
};

struct story {
    struct client *client;
    struct arena arena;
    char *problem;
    int64_t last_sequence;
    int said[MESSAGES], withdrawn[MESSAGES], waiting[MESSAGES];
    int64_t turn; /* the last that began */
    bool turn_open, turn_interrupted;
    struct exchange exchange;
    struct asked asks[ASKS_MAX];
    size_t ask_count, asks_before_exchange;
    int answers, results;
    bool failed; /* the session did */
};

static void note_problem(struct story *story, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note_problem(struct story *story, const char *format, ...)
{
    va_list arguments;
    if (story->problem[0]) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(story->problem, PROBLEM_BYTES, format, arguments);
    va_end(arguments);
}

/* --- messages --- */

static void count_parts(struct story *story, struct slice content, int counts[MESSAGES])
{
    const struct json *parts = NULL;
    if (json_parse(&story->arena, content, &parts, NULL) != STATUS_OK) {
        note_problem(story, "a message has no content");
        return;
    }
    for (const struct json *part = parts->child; part; part = part->next) {
        struct slice text = json_text_of(part, "text");
        int number = text.len == 2 ? text.ptr[1] - '0' : -1;
        if (number < 0 || number >= MESSAGES) {
            note_problem(story, "somebody said \"%.*s\"", SLICE_ARG(text));
            return;
        }
        counts[number]++;
    }
}

static void note_withdrawn(struct story *story, struct slice prompt_id)
{
    for (int i = 0; i < MESSAGES; i++) {
        if (slice_is(prompt_id, story->client->messages[i].name)) {
            story->withdrawn[i]++;
            return;
        }
    }
}

/* Run to its end once; or interrupted, withdrawn, offered again or failed, and the log says so. */
static void end_exchange(struct story *story)
{
    const struct exchange *exchange = &story->exchange;
    if (!exchange->open) {
        return;
    }
    bool told = exchange->interrupts > 0 || exchange->withdrawn || exchange->offers > 0 || story->failed;
    if (exchange->stops > 1) {
        note_problem(story, "a message was answered %d times", exchange->stops);
    }
    if (exchange->stops == 0 && !told) {
        note_problem(story, "a message was never answered, after %d turns", exchange->turns);
    }
    story->exchange = (struct exchange){0};
}

static void on_message(struct story *story, const struct event *event)
{
    count_parts(story, event->content, story->said);
    if (!prompt_begins_turn(event)) {
        return;
    }
    if (story->turn_open) {
        note_problem(story, "a message begins a turn while turn %lld runs", (long long)story->turn);
    }
    end_exchange(story);
    story->exchange.open = true;
    story->asks_before_exchange = story->ask_count;
}

/* --- turns --- */

static void on_claimed(struct story *story, const struct json *metadata)
{
    int64_t fence = json_i64_of(metadata, "fence");
    if (story->turn_open || fence != story->turn + 1) {
        note_problem(story, "turn %lld follows turn %lld, which %s", (long long)fence, (long long)story->turn,
                     story->turn_open ? "has no end" : "ended");
    }
    if (!story->exchange.open || story->exchange.stops > 0) {
        note_problem(story, "turn %lld has no message to answer", (long long)fence);
    }
    if (story->exchange.interrupts > 0) {
        note_problem(story, "turn %lld answers a message whose turn was told to end", (long long)fence);
    }
    story->turn = fence;
    story->turn_open = true;
    story->turn_interrupted = false;
    story->exchange.turns++;
}

static void on_turn_ended(struct story *story, const struct json *metadata)
{
    int64_t turn = json_i64_of(metadata, "turn");
    if (!story->turn_open || turn != story->turn) {
        note_problem(story, "turn %lld ends, but the last to begin is %lld, which %s", (long long)turn,
                     (long long)story->turn, story->turn_open ? "runs" : "has ended");
    }
    story->turn_open = false;
    if (!slice_is(json_text_of(metadata, "stop_reason"), turn_stop_enum.names[TURN_STOP])) {
        return;
    }
    story->exchange.stops++;
    for (size_t i = story->asks_before_exchange; i < story->ask_count; i++) {
        story->asks[i].needed |= story->asks[i].turn < turn;
    }
}

static void on_interrupt(struct story *story, const struct json *metadata)
{
    int64_t turn = json_i64_of(metadata, "turn");
    story->exchange.interrupts++;
    for (size_t i = 0; i < story->ask_count; i++) {
        story->asks[i].turn_interrupted |= story->asks[i].turn == turn;
    }
    story->turn_interrupted |= turn == story->turn;
}

/* --- asks --- */

static struct asked *ask_of(struct story *story, const struct json *metadata)
{
    struct slice id = json_text_of(metadata, "id");
    for (size_t i = 0; i < story->ask_count; i++) {
        if (slice_eq(story->asks[i].id, id)) {
            return &story->asks[i];
        }
    }
    note_problem(story, "nobody asked %.*s", SLICE_ARG(id));
    return &story->asks[ASKS_MAX - 1];
}

static void on_asked(struct story *story, const struct json *metadata)
{
    int64_t turn = json_i64_of(metadata, "turn");
    if (!story->turn_open || turn != story->turn || story->ask_count == ASKS_MAX - 1) {
        note_problem(story, "turn %lld asks and does not run", (long long)turn);
        return;
    }
    story->asks[story->ask_count++] = (struct asked){
        .id = arena_copy(&story->arena, json_text_of(metadata, "id")),
        .turn = turn,
        .turn_interrupted = story->turn_interrupted,
    };
}

static void on_answered(struct story *story, const struct json *metadata)
{
    struct asked *asked = ask_of(story, metadata);
    asked->answered++;
    asked->answered_late = !story->turn_open || story->turn != asked->turn;
    story->answers++;
}

static void check_ask(struct story *story, const struct asked *asked, bool at_rest)
{
    int over = asked->answered + asked->cancelled;
    if (over > 1 || (at_rest && over == 0)) {
        note_problem(story, "%.*s was decided %d times", SLICE_ARG(asked->id), over);
    }
    if (asked->cancelled && !asked->turn_interrupted && !story->failed) {
        note_problem(story, "%.*s was cancelled, and nobody wanted that", SLICE_ARG(asked->id));
    }
    if (asked->resumed > asked->answered || (asked->resumed && !asked->answered_late)) {
        note_problem(story, "the answer to %.*s was given again", SLICE_ARG(asked->id));
    }
    if (asked->answered_late && asked->needed && !asked->resumed) {
        note_problem(story, "nobody heard the answer to %.*s", SLICE_ARG(asked->id));
    }
}

static void check_asks(struct story *story, bool at_rest)
{
    for (size_t i = 0; i < story->ask_count; i++) {
        check_ask(story, &story->asks[i], at_rest);
    }
    if (story->results > story->answers) {
        note_problem(story, "%d answers allowed %d calls", story->answers, story->results);
    }
    for (size_t i = 0; i < story->client->answered_count; i++) {
        bool stands = false;
        for (size_t k = 0; k < story->ask_count; k++) {
            stands |= story->asks[k].answered && slice_is(story->asks[k].id, story->client->answered[i]);
        }
        if (!stands) {
            note_problem(story, "the answer to %s is lost", story->client->answered[i]);
        }
    }
}

/* --- the log --- */

static void feed(struct story *story, const struct event *event, const struct json *metadata)
{
    struct slice type = event_type(event);
    if (slice_is(type, "user.message")) {
        on_message(story, event);
    } else if (slice_is(type, "session.claimed")) {
        on_claimed(story, metadata);
    } else if (slice_is(type, "turn.ended")) {
        on_turn_ended(story, metadata);
    } else if (slice_is(type, "turn.interrupt_requested")) {
        on_interrupt(story, metadata);
    } else if (slice_is(type, "prompt.interrupted")) {
        story->exchange.offers++;
    } else if (slice_is(type, "prompt.withdrawn")) {
        note_withdrawn(story, json_text_of(metadata, "prompt_id"));
        story->exchange.withdrawn |= slice_is(json_text_of(metadata, "reason"), "interrupted");
    } else if (slice_is(type, "ask.requested")) {
        on_asked(story, metadata);
    } else if (slice_is(type, "ask.answered")) {
        on_answered(story, metadata);
    } else if (slice_is(type, "ask.cancelled") || slice_is(type, "ask.expired")) {
        ask_of(story, metadata)->cancelled++;
    } else if (slice_is(type, "ask.resumed")) {
        ask_of(story, metadata)->resumed++;
    } else if (slice_is(type, "agent.tool_result")) {
        story->results += !slice_present(json_text_of(metadata, "outcome"));
    } else if (slice_is(type, "session.status_change")) {
        story->failed = slice_is(json_text_of(metadata, "to"), session_status_enum.names[SESSION_FAILED]);
    }
}

static bool note_event(void *owner, const struct event *event)
{
    struct story *story = owner;
    const struct json *metadata = NULL;
    if (event->sequence != story->last_sequence + 1) {
        note_problem(story, "event %lld follows %lld", (long long)event->sequence, (long long)story->last_sequence);
    }
    story->last_sequence = event->sequence;
    if (json_parse(&story->arena, arena_copy(&story->arena, event->metadata), &metadata, NULL) == STATUS_OK) {
        feed(story, event, metadata);
    }
    return true;
}

static void read_all(struct story *story)
{
    struct session session;
    struct prompt *prompts;
    size_t count;
    struct call call = world_look(story->client->world, &story->arena);
    world_must(session_authorize_read(&call, client_session(story->client), ACTION_READ, &session, NULL), &call.failure,
               "the session");
    struct event_filter filter = {.tenant_key = session.tenant_key, .session_key = session.key, .limit = 10000};
    world_must(store_event_read(call.db, &filter, note_event, story, &call.failure), &call.failure, "the log");
    world_must(store_prompt_list(call.db, session.tenant_key, session.key, call.arena, &prompts, &count, &call.failure),
               &call.failure, "the queue");
    for (size_t i = 0; i < count; i++) {
        count_parts(story, prompts[i].content, story->waiting);
    }
}

static void check_message(struct story *story, int i, bool at_rest)
{
    static const char *const told[] = {"nothing", "accepted", "refused"};
    const struct message *message = &story->client->messages[i];
    /* A message that is withdrawn before it runs may have been said already; it is not said after. */
    int places = story->said[i] + story->waiting[i] + (story->said[i] ? 0 : story->withdrawn[i]);
    bool right = message->told == TOLD_ACCEPTED  ? places == 1
                 : message->told == TOLD_REFUSED ? places == 0
                                                 : places <= 1 && !at_rest;
    if (!right || story->withdrawn[i] > 1) {
        note_problem(story,
                     "message %d, of which was told %s, was said %d times, waits %d times, was withdrawn %d times", i,
                     told[message->told], story->said[i], story->waiting[i], story->withdrawn[i]);
    }
    if (story->withdrawn[i] && !story->failed) {
        note_problem(story, "message %d was withdrawn, and nobody wanted that", i);
    }
}

bool witness_check(struct client *client, bool at_rest, char out_problem[PROBLEM_BYTES])
{
    struct story story = {.client = client, .problem = out_problem};
    out_problem[0] = 0;
    read_all(&story);
    for (int i = 0; i < MESSAGES; i++) {
        check_message(&story, i, at_rest);
    }
    check_asks(&story, at_rest);
    if (at_rest) {
        end_exchange(&story);
    }
    if (at_rest && story.turn_open) {
        note_problem(&story, "turn %lld has no end", (long long)story.turn);
    }
    arena_release(&story.arena);
    return out_problem[0] == 0;
}

static bool print_event(void *owner, const struct event *event)
{
    (void)owner;
    fprintf(stderr, "  %3lld %s %.*s %.*s %.*s\n", (long long)event->sequence, "", SLICE_ARG(event_type(event)),
            SLICE_ARG(event->content), SLICE_ARG(event->metadata));
    return true;
}

void witness_print(struct client *client)
{
    struct arena arena = {0};
    struct session session;
    struct call call = world_look(client->world, &arena);
    if (session_authorize_read(&call, client_session(client), ACTION_READ, &session, NULL) == STATUS_OK) {
        struct event_filter filter = {.tenant_key = session.tenant_key, .session_key = session.key, .limit = 10000};
        enum status status = store_event_read(call.db, &filter, print_event, NULL, &call.failure);
        (void)status;
    }
    arena_release(&arena);
}
