#include "api/core/handlers.h"
#include "domain/session_details.h"
#include "service/session/file.h"

static const struct field git_state_body[] = {
    {"source_type", FIELD_ANY, false, "What the work came from: pr, issue, branch or manual.", NULL, 0, 0},
    {"source_repo_url", FIELD_ANY, false, "The repository it came from.", NULL, 0, 0},
    {"source_repo_branch", FIELD_ANY, false, "The branch it came from.", NULL, 0, 0},
    {"source_pr_number", FIELD_ANY, false, "The pull request it came from.", NULL, 0, 0},
    {"source_issue_number", FIELD_ANY, false, "The issue it came from.", NULL, 0, 0},
    {"branch", FIELD_ANY, false, "The branch the work is on.", NULL, 0, 0},
    {"base_branch", FIELD_ANY, false, "The branch it goes to.", NULL, 0, 0},
    {"pr_number", FIELD_ANY, false, "Its pull request.", NULL, 0, 0},
    {"pr_state", FIELD_ANY, false, "open, closed or merged.", NULL, 0, 0},
    {"pr_url", FIELD_ANY, false, "Where its pull request is.", NULL, 0, 0},
    {"commit_count", FIELD_ANY, false, "Commits on the branch.", NULL, 0, 0},
    {0},
};

static const struct field files_changed_query[] = {
    {"after", FIELD_STRING, false, "Only paths behind this one (next_cursor of the page before).", NULL, 1,
     FILE_PATH_BYTES_MAX},
    {"limit", FIELD_INTEGER, false, "Files per page.", NULL, 1, 1000},
    {0},
};

static enum status git_state_get(struct request *request)
{
    struct session session;
    enum status status = session_authorize_read(&request->call, request->params[0], ACTION_READ, &session, NULL);
    if (status == STATUS_OK) {
        session_git_state_write(&request->out, &session);
    }
    return status;
}

static enum status git_state_update(struct request *request)
{
    struct session_access entry;
    enum status status = session_set_git_state(&request->call, request->params[0], request->body, &entry);
    if (status == STATUS_OK) {
        session_git_state_write(&request->out, &entry.loaded->session);
    }
    return status;
}

static void write_file(struct json_out *out, const struct changed_file *file)
{
    json_begin_object(out);
    json_put_text(out, "path", file->change.path);
    json_put_text(out, "previous_path", file->change.previous_path);
    json_put_text(out, "status", slice_of(file_status_enum.names[file->change.status]));
    json_put_i64(out, "additions", file->change.additions);
    json_put_i64(out, "deletions", file->change.deletions);
    json_put_i64(out, "sequence", file->sequence);
    json_put_time(out, "changed_at", file->changed_at_ms);
    json_end_object(out);
}

static void write_files(struct json_out *out, const struct changed_file *files, size_t count, bool has_more)
{
    json_begin_object(out);
    json_key(out, "files");
    json_begin_array(out);
    for (size_t i = 0; i < count; i++) {
        write_file(out, &files[i]);
    }
    json_end_array(out);
    json_put_bool(out, "has_more", has_more);
    json_put_text(out, "next_cursor", has_more ? files[count - 1].change.path : (struct slice){0});
    json_end_object(out);
}

static enum status files_changed_list(struct request *request)
{
    struct changed_file *files;
    size_t count = 0, limit = (size_t)request_page_limit(request);
    enum status status = file_change_list(&request->call, request->params[0], request_param(request, "after"),
                                          (int64_t)limit + 1, &files, &count);
    if (status == STATUS_OK) {
        write_files(&request->out, files, count < limit ? count : limit, count > limit);
    }
    return status;
}

const struct route workspace_routes[] = {
    {HTTP_GET, "/api/sessions/{id}/git-state", git_state_get, .answer = "GitState",
     .summary = "The git state of the session's work."},
    {HTTP_PATCH, "/api/sessions/{id}/git-state", git_state_update, .body = git_state_body, .answer = "GitState",
     .summary = "Update the git state, as collaborator or lease holder."},
    {HTTP_GET, "/api/sessions/{id}/files-changed", files_changed_list, .query = files_changed_query,
     .answer = "FilesChanged", .summary = "The files the session changed, each path once."},
    {0},
};
