#include "domain/session_details.h"

#include "base/clock.h"
#include "domain/context.h"
#include "domain/git_state.h"
#include "domain/merge.h"

const struct detail session_details[] = {
    {"repo_id", DETAIL_TEXT, "null", NULL},
    {"session_kind", DETAIL_WORD, "\"coding\"", "setup coding terminal"},
    {"origin", DETAIL_WORD, "\"web\"", "web cli"},
    {"client_type", DETAIL_WORD, "null", "slack web cli"},
    {"branch_name", DETAIL_TEXT, "null", NULL},
    {"base_commit_sha", DETAIL_TEXT, "null", NULL},
    {"git_state", DETAIL_GIT, NULL, NULL},
    {"sandbox_id", DETAIL_TEXT, "null", NULL},
    {"sandbox_provider", DETAIL_TEXT, "\"local\"", NULL},
    {"sandbox_expires_at", DETAIL_TIME, "null", NULL},
    {"container_id", DETAIL_TEXT, "null", NULL},
    {"snapshot_id", DETAIL_TEXT, "null", NULL},
    {"coding_agent_session_id", DETAIL_TEXT, "null", NULL},
    {"agent_tunnel_url", DETAIL_TEXT, "null", NULL},
    {"preview_tunnel_url", DETAIL_TEXT, "null", NULL},
    {"tunnel_urls", DETAIL_OBJECT, "{}", NULL},
    {"configuration_id", DETAIL_TEXT, "null", NULL},
    {"agent_config", DETAIL_OBJECT, "{}", NULL},
    {"context", DETAIL_CONTEXT, "{}", NULL},
    {"system_prompt", DETAIL_TEXT, "null", NULL},
    {"persona_id", DETAIL_TEXT, "null", NULL},
    {"persona", DETAIL_OBJECT, "null", NULL},
    {"automation_id", DETAIL_TEXT, "null", NULL},
    {"trigger_event_id", DETAIL_TEXT, "null", NULL},
    {"idle_timeout_minutes", DETAIL_COUNT, "30", NULL},
    {"idle_timeout_ms", DETAIL_COUNT, "null", NULL},
    {"auto_delete_days", DETAIL_COUNT, "7", NULL},
    {"client_metadata", DETAIL_OBJECT, "{}", NULL},
    {"local_path_hash", DETAIL_TEXT, "null", NULL},
    {"metered_through_at", DETAIL_TIME, "null", NULL},
    {"billing_token_version", DETAIL_COUNT, "1", NULL},
    {"last_seen_alive_at", DETAIL_TIME, "null", NULL},
    {"alive_check_failures", DETAIL_COUNT, "0", NULL},
    {"description", DETAIL_TEXT, "null", NULL},
    {"description_source", DETAIL_WORD, "null", "fallback ai"},
    {"working_memory", DETAIL_TEXT, "null", NULL},
    {"draft_values", DETAIL_OBJECT, "{}", NULL},
    {"promoted_at", DETAIL_TIME, "null", NULL},
    {"exported_at", DETAIL_TIME, "null", NULL},
    {NULL, DETAIL_TEXT, NULL, NULL},
};

static const struct detail *detail_find(struct slice name)
{
    for (const struct detail *detail = session_details; detail->name; detail++) {
        if (slice_is(name, detail->name)) {
            return detail;
        }
    }
    return NULL;
}

static enum status refuse_unknown(struct slice name, struct failure *failure)
{
    char list[900];
    const char *names[64];
    int count = 0;
    for (const struct detail *detail = session_details; detail->name; detail++) {
        names[count++] = detail->name;
    }
    enum_names_list((struct enum_names){names, count}, list, sizeof list);
    return failure_set(failure, STATUS_INVALID, "unknown_detail", "`details.%.*s` is not known; accepted: %s.",
                       SLICE_ARG(slice_utf8_prefix(name, 60)), list);
}

/* One of the words in a list separated by spaces. */
static bool is_accepted_word(const char *accepted, struct slice word)
{
    struct slice rest = slice_of(accepted), one;
    bool more = true;
    while (more) {
        more = slice_cut(rest, ' ', &one, &rest);
        if (slice_eq(one, word)) {
            return true;
        }
    }
    return false;
}

/* NULL when the value is fine, else what it must be. */
static const char *detail_problem(const struct detail *detail, const struct json *value)
{
    int64_t number;
    switch (detail->kind) {
    case DETAIL_TEXT:
        return json_is(value, JSON_STRING) ? NULL : "a string";
    case DETAIL_WORD:
        return json_is(value, JSON_STRING) && is_accepted_word(detail->accepted, value->text) ? NULL : detail->accepted;
    case DETAIL_COUNT:
        return json_as_i64(value, &number) && number >= 0 ? NULL : "a whole number, 0 or more";
    case DETAIL_TIME:
        return json_is(value, JSON_STRING) && time_parse(value->text, &number) ? NULL : "a time (RFC 3339)";
    case DETAIL_GIT:
    case DETAIL_CONTEXT:
    case DETAIL_OBJECT:
        return json_is(value, JSON_OBJECT) ? NULL : "an object";
    }
    return "nothing";
}

static enum status check_object(enum detail_kind kind, const struct json *value, struct failure *failure)
{
    return kind == DETAIL_CONTEXT ? context_check(value, failure)
           : kind == DETAIL_GIT   ? git_state_check(value, failure)
                                  : STATUS_OK;
}

static enum status check_patch(const struct json *patch, struct failure *failure)
{
    for (const struct json *one = patch->child; one; one = one->next) {
        const struct detail *detail = detail_find(one->key);
        if (!detail) {
            return refuse_unknown(one->key, failure);
        }
        const char *problem = json_is(one, JSON_NULL) ? NULL : detail_problem(detail, one);
        if (problem) {
            return failure_set(failure, STATUS_INVALID, "invalid_detail", "`details.%s` must be %s%s, or null.",
                               detail->name, detail->kind == DETAIL_WORD ? "one of: " : "", problem);
        }
        enum status status = json_is(one, JSON_NULL) ? STATUS_OK : check_object(detail->kind, one, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

/* What is told of git replaces only what it names. */
static struct slice merge_git_state(struct arena *arena, struct slice old, struct slice merged,
                                    const struct json *git_state)
{
    const struct json *before = NULL, *patch = NULL;
    if (!git_state || !slice_present(old) || json_parse(arena, old, &before, NULL) != STATUS_OK) {
        return merged;
    }
    struct slice one = merge_objects(arena, json_raw_of(before, "git_state"), git_state);
    struct slice text = arena_format(arena, "{\"git_state\":%.*s}", SLICE_ARG(one));
    return json_parse(arena, text, &patch, NULL) == STATUS_OK ? merge_objects(arena, merged, patch) : merged;
}

enum status session_details_merge(struct arena *arena, struct slice old, const struct json *patch, struct slice *out,
                                  struct failure *failure)
{
    if (!patch || json_is(patch, JSON_NULL)) {
        *out = old;
        return STATUS_OK;
    }
    if (!json_is(patch, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_details", "`details` must be an object, not %s.",
                           json_kind_name(patch->kind));
    }
    enum status status = check_patch(patch, failure);
    if (status != STATUS_OK) {
        return status;
    }
    struct slice merged =
        merge_git_state(arena, old, merge_objects(arena, old, patch), json_get_value(patch, "git_state"));
    if (merged.len > DETAILS_BYTES_MAX) {
        return failure_set(failure, STATUS_TOO_LARGE, "details_too_large",
                           "`details` would take %zu bytes of at most %d.", merged.len, DETAILS_BYTES_MAX);
    }
    *out = slice_is(merged, "{}") ? (struct slice){NULL, 0} : merged;
    return STATUS_OK;
}

enum status session_details_check_own(const struct json *patch, bool hosted, struct failure *failure)
{
    static const struct {
        const char *name;
        bool hosted_only;
        const char *how;
    } served[] = {
        {"sandbox_id", true, "which runs this session's agent"},
        {"snapshot_id", true, "which runs this session's agent"},
        {"tunnel_urls", true, "as the sandbox has them and /tunnels is told"},
        {"persona", false, "from the `persona` that the creation names"},
    };
    for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
        if (json_get(patch, served[i].name) && (hosted || !served[i].hosted_only)) {
            return failure_set(failure, STATUS_INVALID, "served_detail", "`details.%s` is set by the server, %s.",
                               served[i].name, served[i].how);
        }
    }
    return STATUS_OK;
}

bool session_details_has(const struct session *session, const char *key)
{
    /* Most sessions have few details and lists ask for every row: parse only what could hold the key. */
    struct slice details = session->details;
    if (!slice_present(details) || !memmem(details.ptr, details.len, key, strlen(key))) {
        return false;
    }
    struct arena scratch = {0};
    const struct json *object = NULL;
    bool found = json_parse(&scratch, details, &object, NULL) == STATUS_OK && json_get_value(object, key) != NULL;
    arena_release(&scratch);
    return found;
}

static const struct json *stored_details(struct arena *scratch, const struct session *session)
{
    const struct json *stored = NULL;
    bool readable =
        slice_present(session->details) && json_parse(scratch, session->details, &stored, NULL) == STATUS_OK;
    return readable ? stored : NULL;
}

int64_t session_details_number(const struct session *session, const char *key)
{
    struct arena scratch = {0};
    int64_t number = 0;
    if (session_details_has(session, key)) {
        number = json_i64_of(stored_details(&scratch, session), key);
    }
    arena_release(&scratch);
    return number;
}

struct slice session_prompt_with_persona(struct arena *arena, const struct session *session, struct slice prompt)
{
    struct arena scratch = {0};
    struct slice whole = prompt;
    if (session_details_has(session, "persona")) {
        struct slice persona = json_text_of(json_get(stored_details(&scratch, session), "persona"), "prompt");
        whole = arena_format(arena, "%.*s%s%.*s", SLICE_ARG(prompt), prompt.len > 0 ? "\n\n" : "", SLICE_ARG(persona));
    }
    arena_release(&scratch);
    return whole;
}

void session_git_state_write(struct json_out *out, const struct session *session)
{
    struct arena scratch = {0};
    git_state_write(out, json_get_value(stored_details(&scratch, session), "git_state"));
    arena_release(&scratch);
}

void session_details_write(struct json_out *out, const struct session *session)
{
    struct arena scratch = {0};
    const struct json *stored = stored_details(&scratch, session);
    json_begin_object(out);
    for (const struct detail *detail = session_details; detail->name; detail++) {
        if (detail->kind == DETAIL_GIT) {
            json_key(out, detail->name);
            git_state_write(out, json_get_value(stored, detail->name));
            continue;
        }
        struct slice raw = json_raw_of(stored, detail->name);
        json_put_raw(out, detail->name, slice_present(raw) ? raw : slice_of(detail->fallback));
    }
    json_end_object(out);
    arena_release(&scratch);
}
