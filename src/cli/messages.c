#include <stdio.h>
#include <unistd.h>

#include "cli/client_commands.h"
#include "cli/listed.h"
#include "cli/forwarded_options.h"
#include "cli/resolve.h"
#include "domain/session.h"

/* clang-format off */
static const struct option message_table[] = {
    {.name = "The message", .type = OPTION_SECTION},
    PASS_CHOICE("mode", queue_mode_enum, "While a turn is running: followup queues the message, steer interrupts the turn, collect waits for more messages, reject refuses. Default: the session's mode."),
    PASS_NUMBER("priority", -100, 100, "Priority in the queue; higher goes first."),
    PASS_TEXT("thread-id", "THREAD", "The thread it belongs to."),
    PASS_TEXT("message-id", "ID", "An id of your own; a message with the same id is sent only once."),
    PASS_WORDS(PASSED_PAIRS, "KEY=VALUE", "A key of its metadata."),
    {0},
};
static const struct option answer_table[] = {
    {.name = "The answer", .type = OPTION_SECTION},
    PASS_SWITCH("wait", "Wait for the end of the turn and print the agent's answer."),
    PASS_SWITCH("append", "Only write the message into the log; no turn starts."),
    {0},
};
/* clang-format on */

const struct option *const messages_send_tables[] = {message_table, answer_table, output_option_table,
                                                     remote_option_table, NULL};

/* --- send --- */

/* On a terminal, text of the agent is prose that must not steer it. */
static int print_answer(struct slice text)
{
    struct buffer plain = {0};
    if (!isatty(STDOUT_FILENO)) {
        return remote_print_line(text);
    }
    text_add_lines(&plain, text);
    buffer_add_byte(&plain, '\n');
    int code = remote_print(buffer_slice(&plain));
    buffer_release(&plain);
    return code;
}

static int print_receipt(struct remote *remote, const struct json *answer, const void *detail)
{
    (void)remote;
    (void)detail;
    struct slice text = json_text_of(answer, "text"), id = json_text_of(answer, "prompt_id");
    if (slice_present(text)) {
        return print_answer(text);
    }
    if (json_i64_of(answer, "position") > 0) {
        fprintf(stderr, "it waits, at place %lld\n", (long long)json_i64_of(answer, "position"));
    }
    return slice_present(id) ? remote_print_line(id) : EXIT_DONE;
}

static int send_message(struct remote *remote)
{
    const struct arguments *arguments = remote->invocation->arguments;
    struct buffer body = {0}, query = {0};
    struct json_out out = json_out_to(&body);
    json_begin_object(&out);
    json_put_text(&out, "text", slice_of(arguments->positionals[1]));
    int code = remote_members(remote, message_table, &out);
    json_end_object(&out);
    code = code == EXIT_DONE ? remote_query(remote, answer_table, &query) : code;
    if (code == EXIT_DONE) {
        struct slice path = remote_path(remote, "sessions", slice_of(arguments->positionals[0]), "/messages");
        struct client_request request = {
            .method = "POST", .target = remote_target(remote, path, &query), .body = buffer_slice(&body)};
        code = remote_show(remote, &request, print_receipt, NULL);
    }
    buffer_release(&body);
    buffer_release(&query);
    return code;
}

int command_messages_send(const struct invocation *invocation)
{
    struct remote remote;
    int code = remote_open_plain(invocation, &remote);
    code = code == EXIT_DONE ? send_message(&remote) : code;
    remote_close(&remote);
    return code;
}

/* --- what waits --- */

static const struct table_column waiting_columns[] = {
    {"PLACE", true, 0},   {"MESSAGE", false, 2}, {"MODE", false, 0},    {"AUTHOR", false, 1},
    {"THREAD", false, 3}, {"SENT", true, 0},     {"REVISION", true, 0}, {0},
};
static const char *const waiting_keys[] = {"position",  "prompt_id",  "mode",    "actor",
                                           "thread_id", "created_at", "revision"};
static const struct listed waiting_lists[] = {
    {"prompts", waiting_columns, waiting_keys,
     "nothing waits; send a message with: sojourn messages send SESSION TEXT"},
    {0}};

static struct slice queue_path(struct remote *remote, const char *tail)
{
    return remote_path(remote, "sessions", slice_of(remote->invocation->arguments->positionals[0]), tail);
}

int command_messages_queue(const struct invocation *invocation)
{
    struct remote remote;
    int code = remote_open_plain(invocation, &remote);
    struct slice target = {0};
    if (code == EXIT_DONE) {
        target = queue_path(&remote, "/queue");
    }
    remote_close(&remote);
    return code == EXIT_DONE ? listed_show(invocation, target.ptr, waiting_lists) : code;
}

int command_messages_withdraw(const struct invocation *invocation)
{
    struct remote remote;
    struct slice answer;
    int code = remote_open_plain(invocation, &remote);
    for (size_t i = 1; i < invocation->arguments->positional_count && code == EXIT_DONE; i++) {
        struct slice id = slice_of(invocation->arguments->positionals[i]);
        code = resolve_in_list(&remote, queue_path(&remote, "/queue"), "prompts", "prompt_id", id, &id);
        struct slice tail = arena_format(remote.arena, "/queue/%.*s", SLICE_ARG(id));
        struct client_request request = {.method = "DELETE", .target = queue_path(&remote, tail.ptr)};
        code = code == EXIT_DONE ? remote_call(&remote, &request, &answer) : code;
    }
    remote_close(&remote);
    return code;
}
