#include "domain/input.h"

/* What an id says about where the session comes from, when the client does not say more (S2-004 to S2-009). */
static const struct {
    const char *prefix;
    const char *kind;
    const char *platform; /* NULL = none */
    bool names_trigger;   /* the rest of the id is what triggers it */
} source_schemes[] = {
    {"cli:", "cli", NULL, false},
    {"web:", "web", NULL, false},
    {"telegram:", "channel", "telegram", false},
    {"discord:", "channel", "discord", false},
    {"slack:", "channel", "slack", false},
    {"schedule:", "schedule", NULL, true},
};

static struct source source_of_id(struct slice id)
{
    for (size_t i = 0; i < sizeof source_schemes / sizeof source_schemes[0]; i++) {
        struct slice prefix = slice_of(source_schemes[i].prefix);
        if (slice_starts(id, prefix)) {
            return (struct source){
                .kind = slice_of(source_schemes[i].kind),
                .platform = slice_of(source_schemes[i].platform),
                .trigger_id = source_schemes[i].names_trigger ? slice_after(id, prefix.len) : (struct slice){NULL, 0},
            };
        }
    }
    return (struct source){.kind = SLICE("api")};
}

/* Nobody sits before a schedule. */
static bool usually_interactive(struct slice kind)
{
    return !slice_is(kind, "schedule");
}

static enum status read_source_text(const struct json *member, size_t most, struct slice *out, struct failure *failure)
{
    if (json_is(member, JSON_NULL)) {
        return STATUS_OK;
    }
    if (!json_as_text(member, out)) {
        return failure_set(failure, STATUS_INVALID, "invalid_source", "`source.%.*s` must be a string.",
                           SLICE_ARG(member->key));
    }
    return input_check_name(*out, "source", most, failure);
}

static enum status read_source_member(const struct json *member, struct source *source, bool *interactive_given,
                                      struct failure *failure)
{
    struct slice type = {NULL, 0};
    if (slice_is(member->key, "kind")) {
        return read_source_text(member, NAME_BYTES_MAX, &source->kind, failure);
    }
    if (slice_is(member->key, "platform")) {
        return read_source_text(member, NAME_BYTES_MAX, &source->platform, failure);
    }
    if (slice_is(member->key, "trigger_id") || slice_is(member->key, "triggerId")) {
        return read_source_text(member, REFERENCE_BYTES_MAX, &source->trigger_id, failure);
    }
    if (slice_is(member->key, "interactive") && json_as_bool(member, &source->interactive)) {
        *interactive_given = true;
        return STATUS_OK;
    }
    if (slice_is(member->key, "type") && (json_as_text(member, &type) || json_is(member, JSON_NULL))) {
        return input_read_word(type, "source.type", chat_type_enum, &source->type, failure);
    }
    return failure_set(failure, STATUS_INVALID, "invalid_source",
                       "`source.%.*s` is not accepted; a source has kind, platform, trigger_id (strings), interactive "
                       "(a boolean) and type (direct or group).",
                       SLICE_ARG(slice_utf8_prefix(member->key, 60)));
}

enum status input_read_source(const struct json *json, struct slice id, struct source *out, struct failure *failure)
{
    bool interactive_given = false;
    *out = source_of_id(id);
    if (json && !json_is(json, JSON_NULL) && !json_is(json, JSON_STRING) && !json_is(json, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_source", "`source` must be an object or a string, not %s.",
                           json_kind_name(json->kind));
    }
    if (json_as_text(json, &out->kind)) {
        enum status status = input_check_name(out->kind, "source", NAME_BYTES_MAX, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    for (const struct json *one = json_is(json, JSON_OBJECT) ? json->child : NULL; one; one = one->next) {
        enum status status = read_source_member(one, out, &interactive_given, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (!interactive_given) {
        out->interactive = usually_interactive(out->kind);
    }
    return STATUS_OK;
}
