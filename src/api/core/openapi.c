#include <stdio.h>

#include "api/core/handlers.h"
#include "api/core/schema.h"

static const char *method_name(enum http_method method)
{
    switch (method) {
    case HTTP_GET:
        return "get";
    case HTTP_POST:
        return "post";
    case HTTP_PUT:
        return "put";
    case HTTP_PATCH:
        return "patch";
    case HTTP_DELETE:
        return "delete";
    case HTTP_HEAD:
    case HTTP_OPTIONS:
    case HTTP_METHOD_OTHER:
        break;
    }
    return "get";
}

static void write_bounds(struct json_out *out, const struct field *field, const char *least, const char *most)
{
    if (field->min == 0 && field->max == 0) {
        return;
    }
    json_put_i64(out, least, field->min);
    if (field->max != INT64_MAX) {
        json_put_i64(out, most, field->max);
    }
}

static void write_field_schema(struct json_out *out, const struct field *field)
{
    static const char *const types[] = {
        [FIELD_STRING] = "string", [FIELD_INTEGER] = "integer", [FIELD_BOOLEAN] = "boolean",  [FIELD_OBJECT] = "object",
        [FIELD_LIST] = "array",    [FIELD_WORD] = "string",     [FIELD_TIMESTAMP] = "string", [FIELD_ANY] = NULL,
        [FIELD_LABEL] = "string",  [FIELD_TEXTS] = "array",
    };
    json_begin_object(out);
    if (types[field->kind]) {
        json_put_text(out, "type", slice_of(types[field->kind]));
    }
    if (field->kind == FIELD_TIMESTAMP) {
        json_put_text(out, "format", SLICE("date-time"));
    }
    if (field->kind == FIELD_STRING) {
        write_bounds(out, field, "minLength", "maxLength");
    }
    if (field->kind == FIELD_INTEGER) {
        write_bounds(out, field, "minimum", "maximum");
    }
    if (field->kind == FIELD_OBJECT) {
        json_put_bool(out, "additionalProperties", true);
    }
    if (field->kind == FIELD_WORD) {
        schema_words_write(out, field->words, false);
    }
    if (field->kind == FIELD_LIST) {
        json_put_raw(out, "items", SLICE("{}"));
    }
    if (field->kind == FIELD_TEXTS) {
        json_key(out, "items");
        schema_text_write(out, field->words);
    }
    json_put_text(out, "description", slice_of(field->text));
    json_end_object(out);
}

static void write_parameter(struct json_out *out, struct slice name, const char *in, bool required,
                            const struct field *field)
{
    json_begin_object(out);
    json_put_text(out, "name", name);
    json_put_text(out, "in", slice_of(in));
    json_put_bool(out, "required", required);
    json_key(out, "schema");
    if (field) {
        write_field_schema(out, field);
    } else {
        json_raw(out, SLICE("{\"type\":\"string\"}"));
    }
    json_end_object(out);
}

static void write_path_parameters(struct json_out *out, const char *path)
{
    struct slice rest = slice_of(path), name;
    while (slice_cut(rest, '{', &name, &rest)) {
        slice_cut(rest, '}', &name, &rest);
        write_parameter(out, name, "path", true, NULL);
    }
}

static void write_headers(struct json_out *out, const struct route *route)
{
    static const struct field key = {"Idempotency-Key",
                                     FIELD_STRING,
                                     false,
                                     "A repeated request with the same key gets the same answer.",
                                     NULL,
                                     1,
                                     255};
    static const struct field lease = {
        "Sojourn-Lease", FIELD_STRING, false, "The lease token of the claim's holder.", NULL, 0, 0};
    static const struct field sequence = {
        "If-Sequence", FIELD_INTEGER, false, "Append only if the log ends at this sequence.", NULL, 0, INT64_MAX};
    static const struct field prefer = {
        "Prefer", FIELD_STRING, false, "return=minimal: only the members that a worker needs.", NULL, 0, 0};
    if (route->idempotent) {
        write_parameter(out, slice_of(key.name), "header", false, &key);
    }
    if (route->run_on == RUN_WRITER && strstr(route->path, "/{id}")) {
        write_parameter(out, slice_of(lease.name), "header", false, &lease);
    }
    if (route->headers & HEADER_PREFER) {
        write_parameter(out, slice_of(prefer.name), "header", false, &prefer);
    }
    if (route->headers & HEADER_IF_SEQUENCE) {
        write_parameter(out, slice_of(sequence.name), "header", false, &sequence);
    }
}

static void write_parameters(struct json_out *out, const struct route *route)
{
    json_key(out, "parameters");
    json_begin_array(out);
    write_path_parameters(out, route->path);
    for (const struct field *field = route->query; field && field->name && *field->name; field++) {
        write_parameter(out, slice_of(field->name), "query", false, field);
    }
    write_headers(out, route);
    json_end_array(out);
}

static void write_body(struct json_out *out, const struct route *route)
{
    bool any_required = false;
    json_key(out, "requestBody");
    json_begin_object(out);
    json_key(out, "content");
    json_begin_object(out);
    json_key(out, "application/json");
    json_begin_object(out);
    json_key(out, "schema");
    json_begin_object(out);
    json_put_text(out, "type", SLICE("object"));
    json_put_bool(out, "additionalProperties", false);
    json_key(out, "properties");
    json_begin_object(out);
    for (const struct field *field = route->body; field->name; field++) {
        json_key(out, field->name);
        write_field_schema(out, field);
        any_required |= field->required;
    }
    json_end_object(out);
    if (any_required) {
        json_key(out, "required");
        json_begin_array(out);
        for (const struct field *field = route->body; field->name; field++) {
            if (field->required) {
                json_text(out, slice_of(field->name));
            }
        }
        json_end_array(out);
    }
    json_end_object(out);
    json_end_object(out);
    json_end_object(out);
    json_put_bool(out, "required", any_required);
    json_end_object(out);
}

static void write_schema_reference(struct json_out *out, const char *media, const char *name)
{
    json_key(out, "content");
    json_begin_object(out);
    json_key(out, media);
    json_begin_object(out);
    json_key(out, "schema");
    json_begin_object(out);
    json_key(out, "$ref");
    buffer_format(out->buffer, "\"#/components/schemas/%s\"", name);
    out->need_comma = true;
    json_end_object(out);
    json_end_object(out);
    json_end_object(out);
}

static void write_responses(struct json_out *out, const struct route *route)
{
    json_key(out, "responses");
    json_begin_object(out);
    char code[12];
    snprintf(code, sizeof code, "%d", route->success);
    json_key(out, code);
    json_begin_object(out);
    json_put_text(out, "description", slice_of(route->summary));
    if (route->answer) {
        write_schema_reference(out, "application/json", route->answer);
    }
    json_end_object(out);
    json_key(out, "default");
    json_begin_object(out);
    json_put_text(out, "description", SLICE("What went wrong."));
    write_schema_reference(out, "application/problem+json", "Problem");
    json_end_object(out);
    json_end_object(out);
}

/* "get_api_sessions_id_events" */
static void write_operation_id(struct json_out *out, const struct route *route)
{
    struct buffer id = {0};
    buffer_format(&id, "%s", method_name(route->method));
    for (const char *at = route->path; *at; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        if (letter) {
            buffer_add_byte(&id, *at);
        } else if (id.ptr[id.len - 1] != '_') {
            buffer_add_byte(&id, '_');
        }
    }
    while (id.ptr[id.len - 1] == '_') {
        id.len--;
    }
    json_put_text(out, "operationId", buffer_slice(&id));
    buffer_release(&id);
}

static void write_tag(struct json_out *out, const struct route *route)
{
    json_key(out, "tags");
    json_begin_array(out);
    json_text(out, slice_of(route->tag));
    json_end_array(out);
}

static void write_operation(struct json_out *out, const struct route *route)
{
    json_key(out, method_name(route->method));
    json_begin_object(out);
    write_operation_id(out, route);
    write_tag(out, route);
    json_put_text(out, "summary", slice_of(route->summary));
    write_parameters(out, route);
    if (route->body && route->body != any_body) {
        write_body(out, route);
    }
    write_responses(out, route);
    json_key(out, "security");
    json_raw(out, route->auth == AUTH_NONE ? SLICE("[]") : SLICE("[{\"token\":[]},{\"cookie\":[]}]"));
    json_end_object(out);
}

static bool path_came_before(const struct route *rows, const struct route *route)
{
    for (const struct route *earlier = rows; earlier < route; earlier++) {
        if (strcmp(earlier->path, route->path) == 0) {
            return true;
        }
    }
    return false;
}

/* The groups in their order; routes of one group may stand in several tables. */
static void write_tags(struct json_out *out)
{
    json_key(out, "tags");
    json_begin_array(out);
    for (const struct route_table *table = route_tables; table->rows; table++) {
        if (table == route_tables || strcmp(table->tag, table[-1].tag) != 0) {
            json_begin_object(out);
            json_put_text(out, "name", slice_of(table->tag));
            json_end_object(out);
        }
    }
    json_end_array(out);
}

static void write_paths(struct json_out *out, const struct route *rows)
{
    json_key(out, "paths");
    json_begin_object(out);
    for (const struct route *route = rows; route->path; route++) {
        if (path_came_before(rows, route)) {
            continue;
        }
        json_key(out, route->path);
        json_begin_object(out);
        for (const struct route *same = route; same->path; same++) {
            if (strcmp(same->path, route->path) == 0) {
                write_operation(out, same);
            }
        }
        json_end_object(out);
    }
    json_end_object(out);
}

enum status system_openapi(struct request *request)
{
    struct json_out *out = &request->out;
    const struct route_index *index;
    (void)doors_find(request->api->doors, SLICE("/api"), &index);
    json_begin_object(out);
    json_put_text(out, "openapi", SLICE("3.1.0"));
    json_key(out, "info");
    json_begin_object(out);
    json_put_text(out, "title", SLICE("Sojourn"));
    json_put_text(out, "version", slice_of(request->api->version));
    json_put_text(out, "description",
                  SLICE("The session server for AI agents. JSON is snake_case, times are RFC 3339 with milliseconds. "
                        "Query parameters and members of bodies that are unknown, or mean nothing for what is asked, "
                        "are refused with 400 and the names that are accepted; so is a body where none is taken."));
    json_end_object(out);
    write_tags(out);
    write_paths(out, route_index_rows(index));
    json_key(out, "components");
    json_begin_object(out);
    json_put_raw(out, "securitySchemes",
                 SLICE("{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"},"
                       "\"cookie\":{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":\"sojourn_session\"}}"));
    json_key(out, "schemas");
    schemas_write(out);
    json_end_object(out);
    json_key(out, "x-vocabularies");
    vocabularies_write(out);
    json_key(out, "x-states");
    states_write(out);
    json_end_object(out);
    return STATUS_OK;
}
