#include <stdio.h>

#include "cli/client_commands.h"
#include "cli/confirm.h"
#include "cli/remote.h"
#include "cli/session_options.h"
#include "cli/session_view.h"
#include "domain/session_status.h"
#include "wire/url.h"

struct list_options {
    const char *cursor;
    bool all;
};

struct create_options {
    const char *idempotency_key;
};

/* clang-format off */
static const struct option list_table[] = {
    {.name = "cursor", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct list_options, cursor, const char *),
     .value = "CURSOR", .help = "Continue after an earlier page."},
    {.name = "all", .type = OPTION_SWITCH, .offset = OPTION_FIELD(struct list_options, all, bool),
     .help = "All pages; with --json one session per line."},
    {0},
};
static const struct option create_table[] = {
    {.name = "idempotency-key", .type = OPTION_TEXT, .value = "KEY",
     .offset = OPTION_FIELD(struct create_options, idempotency_key, const char *),
     .help = "An id for this call; a repeated call returns the same answer and changes nothing."},
    {0},
};
/* clang-format on */

const struct option *const sessions_list_tables[] = {session_filter_table, list_table, output_option_table,
                                                     remote_option_table, NULL};
const struct option *const sessions_show_tables[] = {session_view_table, output_option_table, remote_option_table,
                                                     NULL};
const struct option *const sessions_create_tables[] = {session_create_table, create_table, output_option_table,
                                                       remote_option_table, NULL};
const struct option *const sessions_update_tables[] = {session_update_table, output_option_table, remote_option_table,
                                                       NULL};
const struct option *const sessions_archive_tables[] = {output_option_table, remote_option_table, NULL};
const struct option *const sessions_delete_tables[] = {confirm_table, output_option_table, remote_option_table, NULL};

/* --- list --- */

struct listing {
    struct remote *remote;
    struct buffer filter;
    struct table table;
    struct slice cursor; /* of the next page; absent = there is none */
};

static int take_page(struct listing *listing, const struct json *page)
{
    const struct json *list = json_get(page, "sessions");
    for (const struct json *session = list ? list->child : NULL; session; session = session->next) {
        if (!listing->remote->wants_json) {
            session_row_add(&listing->table, session, listing->remote->now_ms);
            continue;
        }
        int code = remote_print_line(session->raw);
        if (code != EXIT_DONE) {
            return code;
        }
    }
    return EXIT_DONE;
}

static int read_page(struct listing *listing, const struct json **out)
{
    struct buffer query = {0};
    buffer_add(&query, buffer_slice(&listing->filter));
    if (slice_present(listing->cursor)) {
        form_add(&query, SLICE("cursor"), listing->cursor);
    }
    struct slice target = remote_target(listing->remote, SLICE("/api/sessions"), &query);
    buffer_release(&query);
    int code = remote_call_json(listing->remote, &(struct client_request){.method = "GET", .target = target}, out);
    listing->cursor = code == EXIT_DONE ? json_text_of(*out, "next_cursor") : (struct slice){0};
    return code;
}

static int show_table(const struct listing *listing)
{
    int code = remote_print_table(
        &listing->table, listing->filter.len ? "no sessions match; sojourn sessions list --archived all shows every one"
                                             : "no sessions; start one with: sojourn chat");
    if (slice_present(listing->cursor)) {
        fprintf(stderr, "more with --cursor %.*s, everything with --all\n", SLICE_ARG(listing->cursor));
    }
    return code;
}

static int list_pages(struct listing *listing, bool all)
{
    const struct json *page;
    bool wants_json = listing->remote->wants_json;
    int code;
    do {
        code = read_page(listing, &page);
        if (code == EXIT_DONE && wants_json && !all) {
            return remote_print_line(page->raw);
        }
        if (code == EXIT_DONE) {
            code = take_page(listing, page);
        }
    } while (code == EXIT_DONE && all && slice_present(listing->cursor));
    return code == EXIT_DONE && !wants_json ? show_table(listing) : code;
}

int command_sessions_list(const struct invocation *invocation)
{
    struct remote remote;
    struct list_options options = {0};
    struct listing listing = {.remote = &remote};
    int code = remote_open(invocation, &(struct remote_setup){list_table, &options, -1, NULL}, &remote);
    if (code == EXIT_DONE) {
        code = remote_query(&remote, session_filter_table, &listing.filter);
    }
    if (code == EXIT_DONE) {
        table_init(&listing.table, session_columns, remote.arena);
        listing.cursor = slice_of(options.cursor);
        code = list_pages(&listing, options.all);
    }
    buffer_release(&listing.filter);
    remote_close(&remote);
    return code;
}

/* --- one session --- */

static int print_session(struct remote *remote, const struct json *session, const void *detail)
{
    (void)detail;
    struct buffer text = {0};
    session_page_write(session, remote->now_ms, terminal_has_colours(stdout), &text);
    int code = remote_print_drawn(buffer_slice(&text));
    buffer_release(&text);
    return code;
}

int command_sessions_show(const struct invocation *invocation)
{
    struct remote remote;
    struct buffer query = {0};
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        code = remote_query(&remote, session_view_table, &query);
    }
    if (code == EXIT_DONE) {
        struct slice path = remote_path(&remote, "sessions", slice_of(invocation->arguments->positionals[0]), "");
        struct client_request request = {.method = "GET", .target = remote_target(&remote, path, &query)};
        code = remote_show(&remote, &request, print_session, NULL);
    }
    buffer_release(&query);
    remote_close(&remote);
    return code;
}

static int write_new_session(struct remote *remote, struct buffer *body)
{
    const struct arguments *arguments = remote->invocation->arguments;
    struct json_out out = json_out_to(body);
    json_begin_object(&out);
    if (arguments->positional_count) {
        json_put_text(&out, "id", slice_of(arguments->positionals[0]));
    }
    if (!slice_present(arguments_text(arguments, "type"))) {
        json_put_text(&out, "type", slice_of(session_type_enum.names[TYPE_AGENT]));
    }
    int code = remote_members(remote, session_create_table, &out);
    json_end_object(&out);
    return code;
}

/* For people the id alone: it is what the next command needs. */
int command_sessions_create(const struct invocation *invocation)
{
    struct remote remote;
    struct buffer body = {0};
    struct create_options options = {0};
    int code = remote_open(invocation, &(struct remote_setup){create_table, &options, -1, NULL}, &remote);
    if (code == EXIT_DONE) {
        code = write_new_session(&remote, &body);
    }
    if (code == EXIT_DONE) {
        struct client_request request = {
            .method = "POST",
            .target = SLICE("/api/sessions"),
            .body = buffer_slice(&body),
            .headers = {{"Idempotency-Key", slice_of(options.idempotency_key)}},
        };
        code = remote_show(&remote, &request, remote_print_member, "id");
    }
    buffer_release(&body);
    remote_close(&remote);
    return code;
}

int command_sessions_update(const struct invocation *invocation)
{
    struct remote remote;
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    json_begin_object(&out);
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        code = remote_members(&remote, session_update_table, &out);
    }
    json_end_object(&out);
    if (code == EXIT_DONE) {
        struct slice path = remote_path(&remote, "sessions", slice_of(invocation->arguments->positionals[0]), "");
        struct client_request request = {.method = "PATCH", .target = path, .body = buffer_slice(&body)};
        code = remote_show(&remote, &request, print_session, NULL);
    }
    buffer_release(&body);
    remote_close(&remote);
    return code;
}

/* --- many sessions --- */

int command_sessions_archive(const struct invocation *invocation)
{
    return remote_do_each(
        invocation,
        &(struct remote_deed){.method = "POST", .collection = "sessions", .tail = "/archive", .done = "archived"});
}

int command_sessions_unarchive(const struct invocation *invocation)
{
    return remote_do_each(
        invocation,
        &(struct remote_deed){.method = "POST", .collection = "sessions", .tail = "/unarchive", .done = "unarchived"});
}

int command_sessions_stop(const struct invocation *invocation)
{
    return remote_do_each(
        invocation,
        &(struct remote_deed){.method = "POST", .collection = "sessions", .tail = "/stop", .done = "stopped"});
}

int command_sessions_interrupt(const struct invocation *invocation)
{
    return remote_do_each(
        invocation,
        &(struct remote_deed){.method = "POST", .collection = "sessions", .tail = "/interrupt", .done = "interrupted"});
}

int command_sessions_reopen(const struct invocation *invocation)
{
    return remote_do_each(
        invocation,
        &(struct remote_deed){.method = "POST", .collection = "sessions", .tail = "/reopen", .done = "reopened"});
}

int command_sessions_retry(const struct invocation *invocation)
{
    struct remote remote;
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        struct slice path = remote_path(&remote, "sessions", slice_of(invocation->arguments->positionals[0]), "/retry");
        struct client_request request = {.method = "POST", .target = path, .body = SLICE("{}")};
        code = remote_show(&remote, &request, remote_print_member, "id");
    }
    remote_close(&remote);
    return code;
}

int command_sessions_pause(const struct invocation *invocation)
{
    return remote_do_each(
        invocation,
        &(struct remote_deed){.method = "POST", .collection = "sessions", .tail = "/pause", .done = "paused"});
}

int command_sessions_unpause(const struct invocation *invocation)
{
    return remote_do_each(
        invocation,
        &(struct remote_deed){.method = "POST", .collection = "sessions", .tail = "/unpause", .done = "unpaused"});
}

int command_sessions_delete(const struct invocation *invocation)
{
    return remote_do_each(invocation, &(struct remote_deed){.method = "DELETE",
                                                            .collection = "sessions",
                                                            .tail = "",
                                                            .done = "deleted",
                                                            .verb = "Delete",
                                                            .rest = "with all events? They can't be brought back."});
}
