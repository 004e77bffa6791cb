#include <stdio.h>

#include "cli/client_commands.h"
#include "cli/confirm.h"
#include "cli/listed.h"
#include "cli/relative_time.h"
#include "cli/forwarded_options.h"

struct field_options {
    struct text_list field;
};

/* clang-format off */
static const struct option list_table[] = {
    {.name = "Which entities", .type = OPTION_SECTION},
    PASS_TEXT("type", "TYPE", "Only of this type."),
    PASS_TEXT("q", "TEXT", "Only with this text in id, type or fields."),
    PASS_NUMBER("limit", 1, 1000, "Maximum number of results."),
    PASS_TEXT("after", "ENTITY", "Only entities after this id."),
    {0},
};
static const struct option create_table[] = {
    {.name = "The entity", .type = OPTION_SECTION},
    PASS_TEXT("type", "TYPE", "The type, such as ticket (required)."),
    {0},
};
static const struct option update_table[] = {
    {.name = "What changes", .type = OPTION_SECTION},
    PASS_NUMBER("version", 1, INT64_MAX, "Only if it still has this version."),
    {0},
};
static const struct option field_table[] = {
    {.name = "field", .type = OPTION_LIST, .offset = OPTION_FIELD(struct field_options, field, struct text_list),
     .value = "NAME=TEXT|NAME:=JSON", .help = "A field: text after =, or any JSON after :=. NAME:=null removes it."},
    {0},
};
static const struct option sessions_table[] = {
    {.name = "Which sessions", .type = OPTION_SECTION},
    PASS_NUMBER("limit", 1, 100, "Maximum number of results. Default: 20."),
    PASS_SWITCH("parents-only", "Only the parent session of each run, without its steps."),
    {0},
};
/* clang-format on */

const struct option *const entities_list_tables[] = {list_table, output_option_table, remote_option_table, NULL};
const struct option *const entities_create_tables[] = {create_table, field_table, output_option_table,
                                                       remote_option_table, NULL};
const struct option *const entities_update_tables[] = {update_table, field_table, output_option_table,
                                                       remote_option_table, NULL};
const struct option *const entities_remove_tables[] = {confirm_table, output_option_table, remote_option_table, NULL};
const struct option *const entities_sessions_tables[] = {sessions_table, output_option_table, remote_option_table,
                                                         NULL};

static const struct table_column columns[] = {
    {"ENTITY", false, 0}, {"TYPE", false, 0}, {"FIELDS", false, 1}, {"VERSION", true, 0}, {"UPDATED", true, 0}, {0},
};
static const char *const keys[] = {"id", "type", "fields", "version", "updated_at"};
static const struct listed lists[] = {{"entities", columns, keys, "no entities; add one with: sojourn entities create"},
                                      {0}};

int command_entities_list(const struct invocation *invocation)
{
    return listed_show_with(invocation, "/api/entities", list_table, lists);
}

/* --- one entity --- */

static int print_entity(struct remote *remote, const struct json *entity, const void *detail)
{
    (void)detail;
    struct buffer text = {0};
    char moment[RELATIVE_TIME_BYTES];
    const struct json *fields = json_get(entity, "fields");
    text_add_plain(&text, json_text_of(entity, "id"));
    buffer_format(&text, "\n  type          %.*s\n  version       %lld\n  updated       %.*s by ",
                  SLICE_ARG(json_text_of(entity, "type")), (long long)json_i64_of(entity, "version"),
                  SLICE_ARG(relative_time_of_text(json_text_of(entity, "updated_at"), remote->now_ms, moment)));
    text_add_plain(&text, json_text_of(entity, "updated_by"));
    buffer_add(&text, SLICE("\n"));
    for (const struct json *field = fields ? fields->child : NULL; field; field = field->next) {
        buffer_add(&text, SLICE("  "));
        text_add_plain(&text, field->key);
        buffer_add(&text, SLICE(": "));
        text_add_plain(&text, field->kind == JSON_STRING ? field->text : field->raw);
        buffer_add_byte(&text, '\n');
    }
    int code = remote_print(buffer_slice(&text));
    buffer_release(&text);
    return code;
}

int command_entities_show(const struct invocation *invocation)
{
    struct remote remote;
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        struct slice path = remote_path(&remote, "entities", slice_of(invocation->arguments->positionals[0]), "");
        code = remote_show(&remote, &(struct client_request){.method = "GET", .target = path}, print_entity, NULL);
    }
    remote_close(&remote);
    return code;
}

/* --- fields --- */

static enum status write_field(struct remote *remote, const char *given, struct json_out *out, struct failure *failure)
{
    struct slice name, value;
    const struct json *json;
    if (!slice_cut(slice_of(given), '=', &name, &value) || name.len == 0 || slice_is(name, ":")) {
        return failure_set(failure, STATUS_INVALID, "bad_option",
                           "--field: \"%.80s\" is not accepted; give NAME=TEXT or NAME:=JSON", given);
    }
    bool as_json = name.ptr[name.len - 1] == ':';
    name.len -= as_json;
    if (as_json && json_parse(remote->arena, value, &json, failure) != STATUS_OK) {
        return failure_set(failure, STATUS_INVALID, "bad_option", "--field: \"%.80s\" has no JSON behind :=", given);
    }
    json_key_slice(out, name);
    if (as_json) {
        json_raw(out, value);
    } else {
        json_text(out, value);
    }
    return STATUS_OK;
}

static int write_fields(struct remote *remote, const struct field_options *options, struct json_out *out)
{
    enum status status = STATUS_OK;
    struct failure failure;
    json_key(out, "fields");
    json_begin_object(out);
    for (size_t i = 0; i < options->field.count && status == STATUS_OK; i++) {
        status = write_field(remote, options->field.items[i], out, &failure);
    }
    json_end_object(out);
    return status == STATUS_OK ? EXIT_DONE : command_refuse(remote->invocation->command, &failure);
}

/* A new entity may have its id among the members; a known one stands in the path. */
static int write_body(struct remote *remote, const struct option *table, const struct field_options *options,
                      struct slice id, struct buffer *body)
{
    struct json_out out = json_out_to(body);
    json_begin_object(&out);
    if (slice_present(id)) {
        json_put_text(&out, "id", id);
    }
    int code = remote_members(remote, table, &out);
    if (code == EXIT_DONE) {
        code = write_fields(remote, options, &out);
    }
    json_end_object(&out);
    return code;
}

int command_entities_create(const struct invocation *invocation)
{
    struct remote remote;
    struct buffer body = {0};
    struct field_options options = {0};
    const struct arguments *arguments = invocation->arguments;
    struct slice id = arguments->positional_count ? slice_of(arguments->positionals[0]) : (struct slice){0};
    int code = remote_open(invocation, &(struct remote_setup){field_table, &options, -1, NULL}, &remote);
    if (code == EXIT_DONE) {
        code = write_body(&remote, create_table, &options, id, &body);
    }
    if (code == EXIT_DONE) {
        struct client_request request = {
            .method = "POST", .target = SLICE("/api/entities"), .body = buffer_slice(&body)};
        code = remote_show(&remote, &request, remote_print_member, "id");
    }
    buffer_release(&body);
    remote_close(&remote);
    return code;
}

int command_entities_update(const struct invocation *invocation)
{
    struct remote remote;
    struct buffer body = {0};
    struct field_options options = {0};
    int code = remote_open(invocation, &(struct remote_setup){field_table, &options, -1, NULL}, &remote);
    if (code == EXIT_DONE) {
        code = write_body(&remote, update_table, &options, (struct slice){0}, &body);
    }
    if (code == EXIT_DONE) {
        struct slice path = remote_path(&remote, "entities", slice_of(invocation->arguments->positionals[0]), "");
        struct client_request request = {.method = "PATCH", .target = path, .body = buffer_slice(&body)};
        code = remote_show(&remote, &request, print_entity, NULL);
    }
    buffer_release(&body);
    remote_close(&remote);
    return code;
}

int command_entities_remove(const struct invocation *invocation)
{
    return remote_do_each(invocation, &(struct remote_deed){.method = "DELETE",
                                                            .collection = "entities",
                                                            .tail = "",
                                                            .done = "removed",
                                                            .verb = "Remove",
                                                            .rest = "and what is known of it?"});
}

/* --- what ran for it --- */

static const struct table_column ran_columns[] = {
    {"SESSION", false, 0},
    {"STATUS", false, 0},
    {"TASK", false, 2},
    {"TITLE", false, 1},
    {"CHILDREN", true, 0},
    {"STARTED", true, 0},
    {0},
};
static const char *const ran_keys[] = {"id", "status", "task_id", "title", "child_count", "started_at"};
static const struct listed ran_lists[] = {
    {"sessions", ran_columns, ran_keys,
     "nothing ran for it; start something with: sojourn sessions create --entity-id ENTITY"},
    {0}};

int command_entities_sessions(const struct invocation *invocation)
{
    return listed_show_of(invocation, "entities", "/sessions", sessions_table, ran_lists);
}
