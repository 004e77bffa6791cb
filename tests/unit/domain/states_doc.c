/* Writes docs/states.md from the tables of the domain: `states_doc` prints it, `states_doc --check FILE` fails when the
 * file says something else. */
#include <stdio.h>
#include <string.h>

#include "domain/event.h"
#include "domain/session_details.h"
#include "domain/vocabulary.h"

static void heading(struct buffer *doc, const char *text, const char *below)
{
    buffer_format(doc, "\n## %s\n%s\n\n", text, below);
}

static void table_head(struct buffer *doc, const char *corner, struct enum_names columns)
{
    buffer_format(doc, "| %s |", corner);
    for (int i = 0; i < columns.count; i++) {
        buffer_format(doc, " %s |", columns.names[i]);
    }
    buffer_format(doc, "\n|---|");
    for (int i = 0; i < columns.count; i++) {
        buffer_format(doc, "---|");
    }
    buffer_format(doc, "\n");
}

static void write_work_groups(struct buffer *doc)
{
    static const struct {
        const char *name;
        bool (*in)(enum session_status state);
    } groups[] = {
        {"active", session_status_is_active},
        {"live", session_status_is_live},
        {"failing", session_status_is_failing},
        {"ended", session_status_is_ended},
        {"claimable", session_status_is_claimable},
        {"running", session_status_is_running},
        {"leased", session_status_is_leased},
        {"waiting", session_status_is_waiting},
        {"in a turn", session_status_is_in_turn},
        {"can be reopened", session_status_can_reopen},
        {"cannot be deleted", session_status_blocks_delete},
        {"counts towards the limit", session_status_counts_as_concurrent},
    };
    heading(doc, "Groups of work states", "A dot means: this state belongs to the group.");
    table_head(doc, "", session_status_enum);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        buffer_format(doc, "| %s |", groups[i].name);
        for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
            buffer_format(doc, " %s |", groups[i].in((enum session_status)work) ? "●" : "");
        }
        buffer_format(doc, "\n");
    }
}

static void write_work_edges(struct buffer *doc)
{
    heading(doc, "The work machine",
            "What a session is doing as a piece of work. Rows are from, columns are to. Every change is one\n"
            "`session.status_change` event; anything else is refused with 409 `illegal_transition`.");
    table_head(doc, "from \\ to", session_status_enum);
    for (int from = 0; from < SESSION_STATUS_COUNT; from++) {
        buffer_format(doc, "| **%s** |", session_status_enum.names[from]);
        for (int to = 0; to < SESSION_STATUS_COUNT; to++) {
            buffer_format(doc, " %s |",
                          session_status_allows((enum session_status)from, (enum session_status)to) ? "→" : "");
        }
        buffer_format(doc, "\n");
    }
}

static void write_initials(struct buffer *doc)
{
    heading(
        doc, "Initial work states",
        "By type; `pending` or `running` is the default when there is something to do already (a prompt, a task, a\n"
        "retry). A session with the purpose `approval` begins `waiting_human`, whatever its type.");
    buffer_format(doc, "| type | allowed | default | default with something to do |\n|---|---|---|---|\n");
    for (int type = 0; type < TYPE_COUNT; type++) {
        buffer_format(doc, "| %s |", session_type_enum.names[type]);
        for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
            if (session_status_is_initial((enum session_type)type, false, (enum session_status)work)) {
                buffer_format(doc, " %s", session_status_enum.names[work]);
            }
        }
        buffer_format(doc, " | %s | %s |\n",
                      session_status_enum.names[session_status_initial((enum session_type)type, false)],
                      session_status_enum.names[session_status_initial((enum session_type)type, true)]);
    }
}

static void write_runtime_edges(struct buffer *doc)
{
    heading(
        doc, "The runtime machine",
        "The sandbox or runner under the session. \"snapshot\" means: only with one. Reopening an ended session puts\n"
        "`stopped` and `error` back to `none`.");
    table_head(doc, "from \\ to", runtime_enum);
    for (int from = 0; from < RUNTIME_COUNT; from++) {
        buffer_format(doc, "| **%s** |", runtime_enum.names[from]);
        for (int to = 0; to < RUNTIME_COUNT; to++) {
            bool always = runtime_allows((enum runtime)from, (enum runtime)to, false);
            bool with_snapshot = runtime_allows((enum runtime)from, (enum runtime)to, true);
            buffer_format(doc, " %s |", always ? "→" : with_snapshot ? "snapshot" : "");
        }
        buffer_format(doc, "\n");
    }
}

static void write_display(struct buffer *doc)
{
    heading(doc, "Display status",
            "How it ended decides first, then why it is paused, then its runtime, then its work state.");
    buffer_format(doc, "| when | shown as | because |\n|---|---|---|\n");
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct session session = {.status = (enum session_status)work};
        buffer_format(doc, "| %s | %s | %s |\n", session_status_enum.names[work],
                      display_status_enum.names[display_status(&session)], display_reason(&session));
    }
    for (int pause = 1; pause < PAUSE_COUNT; pause++) {
        struct session session = {.status = SESSION_IDLE, .pause_reason = (enum pause_reason)pause};
        buffer_format(doc, "| paused: %s | %s | %s |\n", pause_reason_enum.names[pause],
                      display_status_enum.names[display_status(&session)], display_reason(&session));
    }
    for (int runtime = 0; runtime < RUNTIME_COUNT; runtime++) {
        struct session session = {.status = SESSION_IDLE, .runtime = (enum runtime)runtime},
                       plain = {.status = SESSION_IDLE};
        if (display_reason(&session) != display_reason(&plain)) {
            buffer_format(doc, "| runtime: %s | %s | %s |\n", runtime_enum.names[runtime],
                          display_status_enum.names[display_status(&session)], display_reason(&session));
        }
    }
    for (int stop = 1; stop < STOP_COUNT; stop++) {
        struct session session = {.status = SESSION_COMPLETED, .stop_reason = (enum stop_reason)stop};
        struct session plain = {.status = SESSION_COMPLETED};
        if (display_reason(&session) != display_reason(&plain)) {
            buffer_format(doc, "| completed, stop reason: %s | %s | %s |\n", stop_reason_enum.names[stop],
                          display_status_enum.names[display_status(&session)], display_reason(&session));
        }
    }
}

static void write_words_by_work(struct buffer *doc)
{
    heading(
        doc, "Words of other vocabularies, by work state",
        "Without a sandbox, a pause or a runner. An archived session is `inactive` as a conversation and `archived`\n"
        "as a live status; `promoted` and `exported` follow the details `promoted_at` and `exported_at`.");
    buffer_format(doc, "| work | response | tool | block | conversation | chat | lifecycle | live status | agent | "
                       "joint |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct session s = {.status = (enum session_status)work};
        buffer_format(doc, "| **%s** | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", session_status_enum.names[work],
                      response_word(&s), tool_word(&s), block_word(&s), conversation_word(&s), chat_word(&s),
                      lifecycle_word(&s), live_status_word(&s), agent_word(&s, false, false, 0),
                      joint_word(&s, false, false, 0));
    }
}

static void write_words_by_runtime(struct buffer *doc)
{
    heading(doc, "Words of other vocabularies, by runtime",
            "Of an idle session; \"queued\" means with prompts waiting.");
    buffer_format(doc,
                  "| runtime | sandbox | lifecycle | live status | agent | agent, queued | joint | joint, queued | "
                  "joint, runner connected | joint, runner busy |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (int runtime = 0; runtime < RUNTIME_COUNT; runtime++) {
        struct session s = {.status = SESSION_IDLE, .runtime = (enum runtime)runtime};
        buffer_format(doc, "| **%s** | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", runtime_enum.names[runtime],
                      sandbox_word(&s), lifecycle_word(&s), live_status_word(&s), agent_word(&s, false, false, 0),
                      agent_word(&s, false, false, 1), joint_word(&s, false, false, 0), joint_word(&s, false, false, 1),
                      joint_word(&s, true, false, 0), joint_word(&s, true, true, 0));
    }
}

static const char *writers_text(enum event_writers writers)
{
    switch (writers) {
    case WRITERS_ANYONE:
        return "collaborators";
    case WRITERS_PEOPLE:
        return "collaborators; not sandboxes and runners";
    case WRITERS_HOLDER:
        return "lease holder, runner, sandbox or owner";
    case WRITERS_HUMAN:
        return "the owner of a running mixed session";
    case WRITERS_SERVER:
        return "the server";
    }
    return "";
}

static void write_event_types(struct buffer *doc)
{
    heading(
        doc, "Event types",
        "\"checked\" types must carry the payload their name promises. Other types are free: `[a-z][a-z0-9_.]*`, at\n"
        "most 64 characters.");
    buffer_format(doc, "| type | written by | role | counts as | audit | checked |\n|---|---|---|---|---|---|\n");
    for (int kind = EVENT_CUSTOM + 1; kind < EVENT_KIND_COUNT; kind++) {
        const struct event_kind_row *type = &event_kinds[kind];
        buffer_format(doc, "| `%s` | %s | %s | %s | %s | %s |\n", type->name, writers_text(type->writers),
                      event_role_enum.names[type->role],
                      type->flags & COUNTS_MESSAGE ? "message"
                      : type->flags & COUNTS_TOOL  ? "tool call"
                                                   : "",
                      type->flags & AUDITED ? "●" : "", type->check ? "●" : "");
    }
    heading(doc, "Reserved beginnings of event types", "Who may write a type of one's own that begins so.");
    buffer_format(doc, "| begins with | written by | role |\n|---|---|---|\n");
    for (const struct event_prefix *row = event_prefixes;; row++) {
        buffer_format(doc, "| %s%s%s | %s | %s |\n", row->prefix ? "`" : "",
                      row->prefix ? row->prefix : "anything else", row->prefix ? "`" : "", writers_text(row->writers),
                      event_role_enum.names[row->role]);
        if (!row->prefix) {
            break;
        }
    }
}

static void write_details(struct buffer *doc)
{
    static const char *const kinds[] = {
        [DETAIL_TEXT] = "text",
        [DETAIL_WORD] = "",
        [DETAIL_COUNT] = "whole number",
        [DETAIL_TIME] = "time",
        [DETAIL_OBJECT] = "object",
        [DETAIL_CONTEXT] =
            "object: working_dir, active_file, selection {file, start_line, end_line}, git_ref, fs_scope, variables",
        [DETAIL_GIT] =
            ("object: source_type, source_repo_url, source_repo_branch, source_pr_number, source_issue_number, "
             "branch, base_branch, pr_number, pr_state, pr_url, commit_count"),
    };
    heading(doc, "Details", "The keys `details` accepts, and what a reader sees when nothing was set.");
    buffer_format(doc, "| key | value | default |\n|---|---|---|\n");
    for (const struct detail *detail = session_details; detail->name; detail++) {
        buffer_format(doc, "| `%s` | %s%s | `%s` |\n", detail->name, detail->kind == DETAIL_WORD ? "one of: " : "",
                      detail->kind == DETAIL_WORD ? detail->accepted : kinds[detail->kind],
                      detail->fallback ? detail->fallback : "every member, empty");
    }
}

static void write_doc(struct buffer *doc)
{
    buffer_format(doc, "# States, words and events\nGenerated from the tables in `src/domain` by `make docs`; a test "
                       "compares this file with them.\n");
    write_work_edges(doc);
    write_work_groups(doc);
    write_initials(doc);
    write_runtime_edges(doc);
    write_display(doc);
    write_words_by_work(doc);
    write_words_by_runtime(doc);
    write_event_types(doc);
    write_details(doc);
}

static bool read_file(const char *path, struct buffer *out)
{
    FILE *file = fopen(path, "rb");
    char chunk[4096];
    size_t count;
    if (!file) {
        return false;
    }
    while ((count = fread(chunk, 1, sizeof chunk, file)) > 0) {
        buffer_add(out, slice_from(chunk, count));
    }
    fclose(file);
    return true;
}

int main(int argc, char **argv)
{
    struct buffer doc = {0}, file = {0};
    int code = 0;
    write_doc(&doc);
    if (argc == 3 && strcmp(argv[1], "--check") == 0) {
        code = !read_file(argv[2], &file) || !slice_eq(buffer_slice(&doc), buffer_slice(&file));
        fprintf(stderr, code ? "%s differs from the tables; run `make docs`\n" : "%s agrees with the tables\n",
                argv[2]);
    } else {
        fwrite(doc.ptr, 1, doc.len, stdout);
    }
    buffer_release(&doc);
    buffer_release(&file);
    return code;
}
