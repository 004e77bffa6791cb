#include "cli/chat.h"

#include "domain/ask.h"
#include "wire/url.h"

#define APPROVAL_PROMPT "allow? y once, s session, a always, n deny: "

static struct slice id_of(const struct json *ask)
{
    return json_text_of(ask, "id");
}

static size_t find(const struct chat *chat, struct slice id)
{
    size_t at = 0;
    while (at < chat->ask_count && !slice_eq(id_of(chat->asks[at]), id)) {
        at++;
    }
    return at;
}

void chat_ask_add(struct chat *chat, const struct json *ask)
{
    const struct json *copy;
    struct failure failure;
    if (!ask || chat->ask_count == CHAT_ASKS_MAX || find(chat, id_of(ask)) < chat->ask_count) {
        return;
    }
    if (json_parse(chat->remote.arena, arena_copy(chat->remote.arena, ask->raw), &copy, &failure) == STATUS_OK) {
        chat->asks[chat->ask_count++] = copy;
    }
}

void chat_ask_remove(struct chat *chat, struct slice id)
{
    size_t at = find(chat, id);
    if (at == chat->ask_count) {
        return;
    }
    memmove(&chat->asks[at], &chat->asks[at + 1], (chat->ask_count - at - 1) * sizeof chat->asks[0]);
    chat->ask_count--;
    if (slice_eq(id, chat->asked)) {
        chat->asked = (struct slice){0};
    }
}

/* --- asking --- */

static void show_options(struct chat *chat, const struct json *options)
{
    int number = 1;
    for (const struct json *option = options->child; option; option = option->next, number++) {
        chat_screen_note(&chat->screen, COLOUR_NONE,
                         arena_format(chat->remote.arena, "  %d  %.*s", number, SLICE_ARG(option->text)));
    }
}

static struct slice value_of(const struct json *member)
{
    return json_is(member, JSON_STRING) ? member->text : member->raw;
}

static void show_values(struct chat *chat, const struct json *object)
{
    for (const struct json *member = object ? object->child : NULL; member; member = member->next) {
        chat_screen_value(&chat->screen, member->key, value_of(member));
    }
}

/* What is approved is shown complete and exact, however long it is. */
static const char *show_approval(struct chat *chat, const struct json *ask)
{
    struct slice tool = json_text_of(ask, "tool"), text = json_text_of(ask, "text");
    const struct json *details = json_get_value(ask, "details"), *arguments = json_get_value(ask, "arguments");
    bool is_high = slice_is(json_text_of(details, "risk"), "high");
    struct buffer head = {0};
    buffer_format(&head, "? %s", is_high ? "HIGH RISK " : "");
    text_add_exact_line(&head, tool);
    buffer_add(&head, tool.len && text.len ? SLICE(": ") : SLICE(""));
    text_add_plain(&head, text); /* on one line: it must not look like lines of ours */
    chat_screen_note(&chat->screen, is_high ? COLOUR_RED : COLOUR_YELLOW, buffer_slice(&head));
    buffer_release(&head);
    show_values(chat, arguments);
    show_values(chat, details);
    if (!arguments || arguments->count == 0) {
        chat_screen_note(&chat->screen, COLOUR_YELLOW, SLICE("  the agent did not say with which arguments"));
    }
    return APPROVAL_PROMPT;
}

static const char *show_question(struct chat *chat, const struct json *ask)
{
    const struct json *options = json_get_value(ask, "options");
    chat_screen_note(&chat->screen, COLOUR_YELLOW,
                     arena_format(chat->remote.arena, "? %.*s", SLICE_ARG(json_text_of(ask, "text"))));
    if (options) {
        show_options(chat, options);
    }
    return options ? "number: " : "answer: ";
}

static const char *show_form(struct chat *chat, const struct json *ask)
{
    chat_screen_note(&chat->screen, COLOUR_YELLOW,
                     arena_format(chat->remote.arena, "? %.*s", SLICE_ARG(json_text_of(ask, "text"))));
    chat_screen_note(&chat->screen, COLOUR_NONE,
                     arena_format(chat->remote.arena, "  schema: %.*s", SLICE_ARG(json_raw_of(ask, "schema"))));
    return "JSON object, or /deny: ";
}

/* --- answering --- */

static void send_answer(struct chat *chat, struct buffer *body)
{
    const struct json *answer;
    struct slice id = chat->asks[0] ? id_of(chat->asks[0]) : (struct slice){0};
    struct buffer tail = {0};
    buffer_add(&tail, SLICE("/asks/"));
    url_encode(&tail, id);
    buffer_add(&tail, SLICE("/answer"));
    buffer_add_byte(&tail, '\0');
    chat->asked = (struct slice){0}; /* a refused answer is asked for again */
    if (chat_call(chat, "POST", chat_path(chat, tail.ptr), buffer_slice(body), &answer)) {
        chat_screen_fold(&chat->screen, "  ↳", buffer_slice(body));
        chat_ask_remove(chat, arena_copy(chat->remote.arena, id));
    }
    buffer_release(&tail);
    buffer_release(body);
}

static void decide(struct chat *chat, enum ask_decision decision, struct slice reason)
{
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    json_begin_object(&out);
    json_put_text(&out, "decision", slice_of(ask_decision_enum.names[decision]));
    if (reason.len) {
        json_put_text(&out, "reason", reason);
    }
    json_end_object(&out);
    send_answer(chat, &body);
}

static void answer_with(struct chat *chat, const struct json *value, struct slice text)
{
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    json_begin_object(&out);
    json_key(&out, "answer");
    if (value) {
        json_raw(&out, value->raw);
    } else {
        json_text(&out, text);
    }
    json_end_object(&out);
    send_answer(chat, &body);
}

static void ask_again(struct chat *chat, const char *accepted)
{
    chat_screen_note(&chat->screen, COLOUR_RED, slice_of(accepted));
}

static const struct {
    const char *word;
    enum ask_decision decision;
} short_words[] = {
    {"y", DECISION_ONCE},   {"yes", DECISION_ONCE}, {"s", DECISION_SESSION},
    {"a", DECISION_ALWAYS}, {"n", DECISION_DENY},   {"no", DECISION_DENY},
};

/* The name of a decision, or a short word for it. */
static enum ask_decision decision_of(struct slice word)
{
    for (size_t i = 0; i < sizeof short_words / sizeof short_words[0]; i++) {
        if (slice_eq_nocase(word, slice_of(short_words[i].word))) {
            return short_words[i].decision;
        }
    }
    for (int i = DECISION_ONCE; i < DECISION_COUNT; i++) {
        if (slice_eq_nocase(word, slice_of(ask_decision_enum.names[i]))) {
            return (enum ask_decision)i;
        }
    }
    return DECISION_NONE;
}

static void answer_approval(struct chat *chat, const struct json *ask, struct slice line)
{
    struct slice word, reason = {0};
    (void)ask;
    (void)slice_cut(line, ' ', &word, &reason);
    enum ask_decision decision = decision_of(word);
    if (decision == DECISION_DENY || (decision != DECISION_NONE && reason.len == 0)) {
        decide(chat, decision, slice_trim(reason));
        return;
    }
    ask_again(chat, "Answer y (once), s (for the session), a (always) or n (deny; a reason may follow).");
}

static void answer_question(struct chat *chat, const struct json *ask, struct slice line)
{
    const struct json *options = json_get_value(ask, "options");
    int64_t number = 0, at = 1;
    if (!options) {
        answer_with(chat, NULL, line);
        return;
    }
    (void)slice_to_i64(line, &number);
    for (const struct json *option = options->child; option; option = option->next, at++) {
        if (at == number || slice_eq_nocase(line, option->text)) {
            answer_with(chat, option, (struct slice){0});
            return;
        }
    }
    ask_again(chat, "Answer with the number of an option, or /deny.");
}

static void answer_form(struct chat *chat, const struct json *ask, struct slice line)
{
    const struct json *form;
    struct failure failure;
    (void)ask;
    if (json_parse(chat->remote.arena, arena_copy(chat->remote.arena, line), &form, &failure) == STATUS_OK &&
        json_is(form, JSON_OBJECT)) {
        answer_with(chat, form, (struct slice){0});
    } else {
        ask_again(chat, "Answer with a JSON object, or /deny.");
    }
}

/* --- kinds --- */

static const struct ask_manner {
    const char *(*show)(struct chat *chat, const struct json *ask);
    void (*answer)(struct chat *chat, const struct json *ask, struct slice line);
} manners[ASK_KIND_COUNT] = {
    [ASK_APPROVAL] = {show_approval, answer_approval},
    [ASK_QUESTION] = {show_question, answer_question},
    [ASK_ELICITATION] = {show_form, answer_form},
};

static const struct ask_manner *manner_of(const struct json *ask)
{
    int kind = enum_names_find(ask_kind_enum, json_text_of(ask, "kind"));
    return &manners[kind >= 0 ? kind : ASK_ELICITATION];
}

const char *chat_ask_show(struct chat *chat)
{
    const struct json *ask = chat->asks[0];
    if (!slice_eq(chat->asked, id_of(ask)) || !slice_present(chat->asked)) {
        chat->asked = id_of(ask);
        chat->ask_prompt = manner_of(ask)->show(chat, ask);
    }
    return chat->ask_prompt;
}

void chat_ask_answer(struct chat *chat, struct slice line)
{
    manner_of(chat->asks[0])->answer(chat, chat->asks[0], line);
}

void chat_ask_deny(struct chat *chat, struct slice reason)
{
    decide(chat, DECISION_DENY, reason);
}
