#include "cli/chat.h"

/* --- commands --- */

static void leave(struct chat *chat, struct slice rest)
{
    (void)rest;
    chat_leave(chat, EXIT_DONE);
}

static void cancel(struct chat *chat, struct slice rest)
{
    (void)rest;
    chat_interrupt(chat);
}

static void show_status(struct chat *chat, struct slice rest)
{
    const struct json *session;
    (void)rest;
    if (chat_call(chat, "GET", chat_path(chat, ""), (struct slice){0}, &session)) {
        chat_screen_note(&chat->screen, COLOUR_NONE,
                         arena_format(chat->remote.arena, "session %.*s, agent %.*s: %.*s (%.*s), %lld turns",
                                      SLICE_ARG(json_text_of(session, "id")), SLICE_ARG(json_text_of(session, "agent")),
                                      SLICE_ARG(json_text_of(session, "display_status")),
                                      SLICE_ARG(json_text_of(session, "display_reason")),
                                      (long long)json_i64_of(session, "turn_count")));
    }
}

static void show_queue(struct chat *chat, struct slice rest)
{
    const struct json *list;
    (void)rest;
    if (!chat_call(chat, "GET", chat_path(chat, "/queue"), (struct slice){0}, &list)) {
        return;
    }
    const struct json *prompts = json_get(list, "prompts");
    for (const struct json *prompt = prompts ? prompts->child : NULL; prompt; prompt = prompt->next) {
        struct buffer text = {0};
        event_text(prompt, &text);
        chat_screen_note(&chat->screen, COLOUR_NONE,
                         arena_format(chat->remote.arena, "  %lld  %.*s", (long long)json_i64_of(prompt, "position"),
                                      SLICE_ARG(buffer_slice(&text))));
        buffer_release(&text);
    }
    if (!prompts || prompts->count == 0) {
        chat_screen_note(&chat->screen, COLOUR_NONE, SLICE("nothing waits"));
    }
}

static void stop(struct chat *chat, struct slice rest)
{
    const struct json *session;
    (void)rest;
    (void)chat_call(chat, "POST", chat_path(chat, "/status"), SLICE("{\"status\":\"completed\"}"), &session);
}

static void set_title(struct chat *chat, struct slice rest)
{
    const struct json *session;
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    if (rest.len == 0) {
        chat_screen_note(&chat->screen, COLOUR_RED, SLICE("Give the title: /title TEXT"));
        return;
    }
    json_begin_object(&out);
    json_put_text(&out, "title", rest);
    json_end_object(&out);
    if (chat_call(chat, "PATCH", chat_path(chat, ""), buffer_slice(&body), &session)) {
        chat_screen_note(&chat->screen, COLOUR_DIM, SLICE("(titled)"));
    }
    buffer_release(&body);
}

static void deny(struct chat *chat, struct slice rest)
{
    if (chat->ask_count) {
        chat_ask_deny(chat, rest);
    } else {
        chat_screen_note(&chat->screen, COLOUR_RED, SLICE("Nothing is asked."));
    }
}

static void help(struct chat *chat, struct slice rest);

static const struct slash {
    const char *word, *help; /* without help: another word for the one above */
    void (*run)(struct chat *chat, struct slice rest);
} slashes[] = {
    {"help", "these commands", help},
    {"exit", "leave; the session stays (so does Ctrl-D, or Ctrl-C twice)", leave},
    {"quit", NULL, leave},
    {"cancel", "interrupt the running turn (so does Ctrl-C)", cancel},
    {"status", "how the session is", show_status},
    {"queue", "messages that wait for the running turn", show_queue},
    {"deny", "decline what is asked; a reason may follow", deny},
    {"title", "name the session: /title TEXT", set_title},
    {"stop", "end the session", stop},
};

static void help(struct chat *chat, struct slice rest)
{
    (void)rest;
    for (size_t i = 0; i < sizeof slashes / sizeof slashes[0]; i++) {
        if (slashes[i].help) {
            chat_screen_note(&chat->screen, COLOUR_NONE,
                             arena_format(chat->remote.arena, "  /%-8s %s", slashes[i].word, slashes[i].help));
        }
    }
}

static void run_slash(struct chat *chat, struct slice line)
{
    struct slice word, rest = {0};
    (void)slice_cut(slice_after(line, 1), ' ', &word, &rest);
    for (size_t i = 0; i < sizeof slashes / sizeof slashes[0]; i++) {
        if (slice_is(word, slashes[i].word)) {
            slashes[i].run(chat, slice_trim(rest));
            return;
        }
    }
    chat_screen_note(&chat->screen, COLOUR_RED,
                     arena_format(chat->remote.arena, "/%.*s is not known; /help lists the commands.",
                                  SLICE_ARG(slice_utf8_prefix(word, 40))));
}

/* --- messages --- */

static void send_message(struct chat *chat, struct slice text)
{
    const struct json *receipt;
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    json_begin_object(&out);
    json_put_text(&out, "text", text);
    json_end_object(&out);
    if (chat_call(chat, "POST", chat_path(chat, "/messages"), buffer_slice(&body), &receipt)) {
        bool waits = json_i64_of(receipt, "position") > 0;
        chat->told_prompt = waits || !chat->screen.editor ? (struct slice){0} : json_text_of(receipt, "prompt_id");
        chat->is_busy = true;
        if (waits) {
            chat_screen_note(&chat->screen, COLOUR_DIM,
                             arena_format(chat->remote.arena, "(waits, at place %lld)",
                                          (long long)json_i64_of(receipt, "position")));
        }
    } else if (!chat->screen.editor) {
        chat_leave(chat, EXIT_REFUSED); /* a script must not go on as if it had been said */
    }
    buffer_release(&body);
}

void chat_take_line(struct chat *chat, struct slice raw)
{
    struct slice line = arena_copy(chat->remote.arena, slice_trim(raw));
    if (line.len == 0) {
        return;
    }
    if (chat->screen.editor) {
        line_editor_remember(chat->screen.editor, line);
    }
    if (line.ptr[0] == '/' && !slice_starts(line, SLICE("//"))) {
        run_slash(chat, line);
    } else if (chat->ask_count) {
        chat_ask_answer(chat, line);
    } else {
        send_message(chat, slice_after(line, line.ptr[0] == '/'));
    }
}
