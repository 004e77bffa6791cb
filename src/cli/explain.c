#include "cli/client_commands.h"
#include "cli/relative_time.h"
#include "cli/remote.h"

const struct option *const sessions_explain_tables[] = {output_option_table, remote_option_table, NULL};

/* What to type for the request that goes on; requests that no command makes are shown as they are. */
static const struct {
    const char *tail; /* of the request's path */
    const char *command;
    const char *rest;
} typed[] = {
    {"/messages", "messages send", " TEXT"}, {"/stop", "sessions stop", ""},   {"/interrupt", "sessions interrupt", ""},
    {"/reopen", "sessions reopen", ""},      {"/retry", "sessions retry", ""}, {"/unpause", "sessions unpause", ""},
    {"/answer", "asks allow", ""},
};

static void write_how(struct slice how, struct slice session, struct buffer *text)
{
    for (size_t i = 0; i < sizeof typed / sizeof typed[0]; i++) {
        struct slice tail = slice_of(typed[i].tail);
        if (how.len > tail.len && slice_eq(slice_after(how, how.len - tail.len), tail)) {
            buffer_format(text, ": sojourn %s %.*s%s", typed[i].command, SLICE_ARG(session), typed[i].rest);
            return;
        }
    }
    buffer_format(text, ": %.*s", SLICE_ARG(how));
}

static void write_unblockers(const struct json *explained, struct slice session, struct buffer *text)
{
    const struct json *list = json_get(explained, "unblocked_by");
    for (const struct json *one = list ? list->child : NULL; one; one = one->next) {
        struct slice kind = json_text_of(one, "kind"), how = json_text_of(one, "how");
        buffer_format(text, "  %.*s", SLICE_ARG(kind));
        if (slice_present(how)) {
            write_how(how, session, text);
        }
        buffer_add_byte(text, '\n');
    }
}

static void write_asks(const struct json *explained, const char *key, const char *before, struct buffer *text)
{
    const struct json *list = json_get(explained, key);
    for (const struct json *ask = list ? list->child : NULL; ask; ask = ask->next) {
        buffer_format(text, "%s: ", before);
        text_add_plain(text, json_text_of(ask, "text"));
        buffer_add_byte(text, '\n');
    }
}

static void write_timer(const struct json *explained, int64_t now_ms, struct buffer *text)
{
    char moment[RELATIVE_TIME_BYTES];
    const struct json *timer = json_get_value(explained, "next_timer");
    if (timer) {
        struct slice due = relative_time_of_text(json_text_of(timer, "due_at"), now_ms, moment);
        buffer_format(text, "next timer: %.*s, %.*s\n", SLICE_ARG(json_text_of(timer, "kind")), SLICE_ARG(due));
    }
}

static int print_explanation(struct remote *remote, const struct json *explained, const void *detail)
{
    char moment[RELATIVE_TIME_BYTES];
    struct buffer text = {0};
    (void)detail;
    struct slice since = relative_time_of_text(json_text_of(explained, "since"), remote->now_ms, moment);
    buffer_format(&text, "%.*s, waits for %.*s, since %.*s\n", SLICE_ARG(json_text_of(explained, "status")),
                  SLICE_ARG(json_text_of(explained, "waits_for")), SLICE_ARG(since));
    text_add_plain(&text, json_text_of(explained, "detail"));
    buffer_add_byte(&text, '\n');
    write_asks(explained, "asks", "asks", &text);
    write_asks(explained, "child_asks", "a part asks", &text);
    write_timer(explained, remote->now_ms, &text);
    buffer_format(&text, "unblocked by\n");
    write_unblockers(explained, slice_of(remote->invocation->arguments->positionals[0]), &text);
    int code = remote_print(buffer_slice(&text));
    buffer_release(&text);
    return code;
}

int command_sessions_explain(const struct invocation *invocation)
{
    struct remote remote;
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        struct slice session = slice_of(invocation->arguments->positionals[0]);
        struct client_request request = {.method = "GET",
                                         .target = remote_path(&remote, "sessions", session, "/explain")};
        code = remote_show(&remote, &request, print_explanation, NULL);
    }
    remote_close(&remote);
    return code;
}
