#include "domain/git_state.h"

#include "base/enum_names.h"

enum git_kind { GIT_TEXT, GIT_COUNT, GIT_SOURCE, GIT_PR_STATE };
enum { GIT_TEXT_BYTES_MAX = 2000 };

static const char *const source_names[] = {"pr", "issue", "branch", "manual"};
static const struct enum_names source_enum = {source_names, 4};
static const char *const pr_state_names[] = {"open", "closed", "merged"};
static const struct enum_names pr_state_enum = {pr_state_names, 3};

static const struct git_member {
    const char *name;
    enum git_kind kind;
    const char *fallback;
} members[] = {
    {"source_type", GIT_SOURCE, "null"},        {"source_repo_url", GIT_TEXT, "null"},
    {"source_repo_branch", GIT_TEXT, "null"},   {"source_pr_number", GIT_COUNT, "null"},
    {"source_issue_number", GIT_COUNT, "null"}, {"branch", GIT_TEXT, "null"},
    {"base_branch", GIT_TEXT, "null"},          {"pr_number", GIT_COUNT, "null"},
    {"pr_state", GIT_PR_STATE, "null"},         {"pr_url", GIT_TEXT, "null"},
    {"commit_count", GIT_COUNT, "0"},           {NULL, GIT_TEXT, NULL},
};

/* NULL when the value is fine, else what it must be. */
static const char *problem_of(enum git_kind kind, const struct json *value)
{
    int64_t number;
    struct slice text = {0};
    bool is_text = json_as_text(value, &text);
    switch (kind) {
    case GIT_TEXT:
        return is_text && text.len > 0 && text.len <= GIT_TEXT_BYTES_MAX ? NULL : "a string of 1 to 2000 bytes";
    case GIT_COUNT:
        return json_as_i64(value, &number) && number >= 0 ? NULL : "a whole number, 0 or more";
    case GIT_SOURCE:
        return is_text && enum_names_find(source_enum, text) >= 0 ? NULL : "one of: pr issue branch manual";
    case GIT_PR_STATE:
        return is_text && enum_names_find(pr_state_enum, text) >= 0 ? NULL : "one of: open closed merged";
    }
    return "nothing";
}

static const struct git_member *member_find(struct slice name)
{
    for (const struct git_member *member = members; member->name; member++) {
        if (slice_is(name, member->name)) {
            return member;
        }
    }
    return NULL;
}

static enum status refuse_unknown(struct slice name, struct failure *failure)
{
    char list[400];
    const char *names[16];
    int count = 0;
    for (const struct git_member *member = members; member->name; member++) {
        names[count++] = member->name;
    }
    enum_names_list((struct enum_names){names, count}, list, sizeof list);
    return failure_set(failure, STATUS_INVALID, "invalid_git_state", "`%.*s` is not known of git; accepted: %s.",
                       SLICE_ARG(slice_utf8_prefix(name, 60)), list);
}

enum status git_state_check(const struct json *patch, struct failure *failure)
{
    for (const struct json *one = patch->child; one; one = one->next) {
        const struct git_member *member = member_find(one->key);
        if (!member) {
            return refuse_unknown(one->key, failure);
        }
        const char *problem = json_is(one, JSON_NULL) ? NULL : problem_of(member->kind, one);
        if (problem) {
            return failure_set(failure, STATUS_INVALID, "invalid_git_state", "`%s` must be %s, or null.", member->name,
                               problem);
        }
    }
    return STATUS_OK;
}

void git_state_write(struct json_out *out, const struct json *stored)
{
    json_begin_object(out);
    for (const struct git_member *member = members; member->name; member++) {
        const struct json *value = json_get_value(stored, member->name);
        json_put_raw(out, member->name, value ? value->raw : slice_of(member->fallback));
    }
    json_end_object(out);
}
