#include <stdio.h>

#include "cli/client_commands.h"
#include "cli/listed.h"
#include "cli/forwarded_options.h"
#include "cli/resolve.h"
#include "cli/terminal.h"
#include "domain/ask.h"
#include "wire/url.h"

struct which {
    const char *ask;
};

/* clang-format off */
static const struct option list_table[] = {
    PASS_NUMBER("limit", 1, 200, "Maximum number of results."),
    PASS_TEXT("cursor", "CURSOR", "Continue after an earlier page."),
    {0},
};
static const struct option which_table[] = {
    {.name = "ask", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct which, ask, const char *), .value = "ASK",
     .help = "The ask to reply to, if the session has several; asks list shows them."},
    {0},
};
static const struct option allow_table[] = {
    PASS_CHOICE("decision", ask_allow_enum,
                "How far it goes: this once, or exactly this call for the session, or always. [once]"),
    PASS_TEXT("grant", "ID", "The id of one of the ask's grants: what is allowed (asks --json shows them)."),
    PASS_SWITCH("these-arguments", "No effect; accepted from older scripts."),
    {0},
};
static const struct option deny_table[] = {
    PASS_TEXT("reason", "TEXT", "The reason, which the agent sees."),
    {0},
};
/* clang-format on */

const struct option *const asks_list_tables[] = {list_table, output_option_table, remote_option_table, NULL};
const struct option *const asks_allow_tables[] = {which_table, allow_table, output_option_table, remote_option_table,
                                                  NULL};
const struct option *const asks_deny_tables[] = {which_table, deny_table, output_option_table, remote_option_table,
                                                 NULL};
const struct option *const asks_answer_tables[] = {which_table, output_option_table, remote_option_table, NULL};

/* --- list --- */

static const struct table_column ask_columns[] = {
    {"SESSION", false, 0}, {"ASK", false, 3},   {"KIND", false, 0},   {"TOOL", false, 2},
    {"AGENT", false, 4},   {"ASKED", false, 1}, {"EXPIRES", true, 0}, {0},
};
static const char *const ask_keys[] = {"session_id", "id", "kind", "tool", "agent", "text", "expires_at"};
static const struct listed ask_lists[] = {
    {"asks", ask_columns, ask_keys, "nothing is asked; sojourn sessions list shows what is running"}, {0}};

int command_asks_list(const struct invocation *invocation)
{
    return listed_show_with(invocation, "/api/asks", list_table, ask_lists);
}

/* --- answers --- */

/* One line for the person; what is asked came from an agent. */
static void tell(const char *word, struct slice asked)
{
    struct buffer line = {0};
    buffer_format(&line, "%s: ", word);
    text_add_plain(&line, asked);
    fprintf(stderr, "%.*s\n", SLICE_ARG(buffer_slice(&line)));
    buffer_release(&line);
}

/* The one thing the session asks; a person who is to choose is told between what. */
static int find_only(struct remote *remote, struct slice session, struct slice *out_ask)
{
    const struct json *page;
    struct client_request request = {.method = "GET", .target = remote_path(remote, "sessions", session, "/asks")};
    int code = remote_call_json(remote, &request, &page);
    if (code != EXIT_DONE) {
        return code;
    }
    const struct json *asks = json_get(page, "asks");
    if (asks && asks->count == 1) {
        *out_ask = json_text_of(asks->child, "id");
        return EXIT_DONE;
    }
    if (!asks || asks->count == 0) {
        fprintf(stderr, "sojourn: %.*s asks nothing\n", SLICE_ARG(session));
        return EXIT_MISSING;
    }
    fprintf(stderr, "sojourn: %.*s asks %u things; say which with --ask:\n", SLICE_ARG(session), asks->count);
    for (const struct json *ask = asks->child; ask; ask = ask->next) {
        struct slice id = json_text_of(ask, "id");
        tell(arena_format(remote->arena, "  %.*s", SLICE_ARG(id)).ptr, json_text_of(ask, "text"));
    }
    return EXIT_REFUSED;
}

static int print_outcome(struct remote *remote, const struct json *ask, const void *said)
{
    (void)remote;
    tell(said, json_text_of(ask, "text"));
    return EXIT_DONE;
}

/* What one of the commands sends: a fixed member, the options of a table, or the command's second word. */
struct reply {
    enum ask_decision decision; /* DECISION_NONE = as the table says, or none */
    const struct option *table;
    bool has_answer;
    const char *said; /* what is said afterwards */
};

static int write_reply(struct remote *remote, const struct reply *reply, struct buffer *body)
{
    const struct arguments *arguments = remote->invocation->arguments;
    struct json_out out = json_out_to(body);
    json_begin_object(&out);
    if (reply->decision != DECISION_NONE && !slice_present(arguments_text(arguments, "decision"))) {
        json_put_text(&out, "decision", slice_of(ask_decision_enum.names[reply->decision]));
    }
    if (reply->has_answer) {
        struct slice answer = slice_of(arguments->positionals[1]);
        const struct json *form;
        struct failure ignored; /* what is no object is a text */
        bool is_form =
            slice_starts(answer, SLICE("{")) && json_parse(remote->arena, answer, &form, &ignored) == STATUS_OK;
        if (is_form) {
            json_put_raw(&out, "answer", answer);
        } else {
            json_put_text(&out, "answer", answer);
        }
    }
    int code = reply->table ? remote_members(remote, reply->table, &out) : EXIT_DONE;
    json_end_object(&out);
    return code;
}

static int send_reply(struct remote *remote, const struct reply *reply, const struct which *which)
{
    struct slice session = slice_of(remote->invocation->arguments->positionals[0]);
    struct slice ask = slice_of(which->ask);
    int code = slice_present(ask)
                   ? resolve_in_list(remote, remote_path(remote, "sessions", session, "/asks"), "asks", "id", ask, &ask)
                   : find_only(remote, session, &ask);
    struct buffer body = {0}, tail = {0};
    if (code == EXIT_DONE) {
        code = write_reply(remote, reply, &body);
    }
    if (code == EXIT_DONE) {
        buffer_add(&tail, SLICE("/asks/"));
        url_encode(&tail, ask);
        buffer_add(&tail, SLICE("/answer"));
        struct slice path = arena_copy(remote->arena, buffer_slice(&tail));
        struct client_request request = {.method = "POST",
                                         .target = remote_path(remote, "sessions", session, path.ptr),
                                         .body = buffer_slice(&body)};
        code = remote_show(remote, &request, print_outcome, reply->said);
    }
    buffer_release(&body);
    buffer_release(&tail);
    return code;
}

static int reply_to(const struct invocation *invocation, const struct reply *reply)
{
    struct remote remote;
    struct which which = {0};
    int code = remote_open(invocation, &(struct remote_setup){which_table, &which, -1, NULL}, &remote);
    if (code == EXIT_DONE) {
        code = send_reply(&remote, reply, &which);
    }
    remote_close(&remote);
    return code;
}

int command_asks_allow(const struct invocation *invocation)
{
    return reply_to(invocation, &(struct reply){DECISION_ONCE, allow_table, false, "allowed"});
}

int command_asks_deny(const struct invocation *invocation)
{
    return reply_to(invocation, &(struct reply){DECISION_DENY, deny_table, false, "denied"});
}

int command_asks_answer(const struct invocation *invocation)
{
    return reply_to(invocation, &(struct reply){DECISION_NONE, NULL, true, "answered"});
}
