#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/chat_terminal.h"
#include "cli/completing.h"

enum { FILES_MAX = 2000 };

/* --- where candidates come from --- */

static void add_commands(struct chat *chat, struct slice typed, struct candidates *out)
{
    (void)chat;
    (void)typed;
    for (size_t i = 0; chat_command_word(i); i++) {
        candidates_add(out, slice_of(chat_command_word(i)), " ");
    }
}

static void add_ids(struct chat *chat, const char *path, const char *member, struct candidates *out)
{
    const struct json *list;
    int status = 0;
    if (remote_ask(&chat->remote, path, &status, &list) != EXIT_DONE || status != 200) {
        return;
    }
    const struct json *rows = json_get(list, member);
    for (const struct json *row = rows ? rows->child : NULL; row; row = row->next) {
        candidates_add(out, json_text_of(row, "id"), " ");
    }
}

static void add_sessions(struct chat *chat, struct slice typed, struct candidates *out)
{
    struct slice path = SLICE("/api/sessions?kind=chat&limit=200");
    (void)typed;
    add_ids(chat, path.ptr, "sessions", out);
}

static void add_agents(struct chat *chat, struct slice typed, struct candidates *out)
{
    (void)typed;
    add_ids(chat, "/api/agents?limit=1000", "agents", out);
}

static bool is_directory(struct chat *chat, struct slice folder, const char *name)
{
    struct stat info;
    struct slice path = arena_format(chat->remote.arena, "%.*s%s", SLICE_ARG(folder), name);
    return stat(path.ptr, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Names in the folder that was typed so far; hidden ones only when they are asked for. */
static void add_files(struct chat *chat, struct slice typed, struct candidates *out)
{
    const char *slash = typed.len ? memrchr(typed.ptr, '/', typed.len) : NULL;
    struct slice folder = slash ? slice_from(typed.ptr, (size_t)(slash - typed.ptr) + 1) : SLICE("");
    struct slice start = slice_after(typed, folder.len);
    DIR *directory = opendir(folder.len ? arena_copy(chat->remote.arena, folder).ptr : ".");
    size_t count = 0;
    for (struct dirent *entry; directory && count < FILES_MAX && (entry = readdir(directory)); count++) {
        bool is_hidden = entry->d_name[0] == '.' && !slice_starts(start, SLICE("."));
        if (is_hidden || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        struct slice path = arena_format(chat->remote.arena, "%.*s%s", SLICE_ARG(folder), entry->d_name);
        candidates_add(out, path, is_directory(chat, folder, entry->d_name) ? "/" : " ");
    }
    if (directory) {
        closedir(directory);
    }
}

static void (*const sources[])(struct chat *chat, struct slice typed, struct candidates *out) = {
    [COMPLETES_COMMAND] = add_commands,
    [COMPLETES_FILE] = add_files,
    [COMPLETES_AGENT] = add_agents,
    [COMPLETES_SESSION] = add_sessions,
};

/* --- Tab --- */

static void show_candidates(struct chat *chat, const struct candidates *found)
{
    struct buffer text = {0};
    candidates_list(found, chat->terminal->console.columns, &text);
    chat_screen_note(&chat->screen, COLOUR_DIM, buffer_slice(&text));
    buffer_release(&text);
}

void chat_complete(struct chat *chat)
{
    struct editor *editor = &chat->terminal->editor;
    struct completing word;
    struct candidates found = {0};
    struct buffer whole = {0};
    if (!completing_find(editor_text(editor), editor->cursor, &word)) {
        return;
    }
    struct slice typed = arena_copy(chat->remote.arena, word.typed);
    sources[word.kind](chat, typed, &found);
    candidates_keep(&found, typed);
    if (candidates_common(&found, typed, &whole)) {
        editor_replace(editor, word.start, buffer_slice(&whole));
    } else if (found.count) {
        show_candidates(chat, &found);
    }
    buffer_release(&whole);
    candidates_release(&found);
}
