#include "domain/input.h"

#include "domain/merge.h"
#include "domain/text.h"

enum { METADATA_KEY_BYTES_MAX = 128 };

enum status input_check_chars(struct slice text, const char *name, size_t least, size_t most, struct failure *failure)
{
    size_t chars = text_chars(text);
    if (slice_present(text) && (chars < least || chars > most)) {
        return failure_set(failure, STATUS_INVALID, "invalid_length",
                           "`%s` must have %zu to %zu characters; it has %zu.", name, least, most, chars);
    }
    return STATUS_OK;
}

enum status input_check_name(struct slice text, const char *name, size_t most, struct failure *failure)
{
    bool ok = text.len >= 1 && text.len <= most;
    for (size_t i = 0; ok && i < text.len; i++) {
        ok = (unsigned char)text.ptr[i] > ' ' && text.ptr[i] != 0x7F;
    }
    if (slice_present(text) && !ok) {
        return failure_set(failure, STATUS_INVALID, "invalid_value",
                           "`%s` must have 1 to %zu bytes and no white space.", name, most);
    }
    return STATUS_OK;
}

enum status input_check_id(struct slice id, const char *name, struct failure *failure)
{
    if (slice_present(id) && !session_id_is_valid(id)) {
        return failure_set(
            failure, STATUS_INVALID, "invalid_id",
            "`%s` must have 1 to 128 characters of A-Z, a-z, 0-9, \".\", \"_\", \":\" and \"-\", and not "
            "only one or two dots.",
            name);
    }
    return STATUS_OK;
}

enum status input_read_word(struct slice word, const char *name, struct enum_names words, int *out,
                            struct failure *failure)
{
    if (!slice_present(word)) {
        return STATUS_OK;
    }
    int index = word.len ? enum_names_find(words, word) : -1;
    if (index < 0) {
        char list[160];
        int unnamed = *words.names[0] ? 0 : 1;
        enum_names_list((struct enum_names){words.names + unnamed, words.count - unnamed}, list, sizeof list);
        return failure_set(failure, STATUS_INVALID, "invalid_value", "`%s` must be one of: %s.", name, list);
    }
    *out = index;
    return STATUS_OK;
}

static enum status check_metadata_member(const struct json *member, struct failure *failure)
{
    if (member->key.len == 0 || member->key.len > METADATA_KEY_BYTES_MAX) {
        return failure_set(failure, STATUS_INVALID, "invalid_metadata", "A key of `metadata` must have 1 to %d bytes.",
                           METADATA_KEY_BYTES_MAX);
    }
    if (json_is(member, JSON_ARRAY) || json_is(member, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_metadata",
                           "`metadata.%.*s` must be a string, a number or a boolean (or null, to remove it), not %s.",
                           SLICE_ARG(slice_utf8_prefix(member->key, 60)), json_kind_name(member->kind));
    }
    return STATUS_OK;
}

enum status input_merge_metadata(struct arena *arena, struct slice old, const struct json *patch,
                                 const struct session_limits *limits, struct slice *out, struct failure *failure)
{
    *out = old;
    if (!patch || json_is(patch, JSON_NULL)) {
        return STATUS_OK;
    }
    if (!json_is(patch, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_metadata", "`metadata` must be an object, not %s.",
                           json_kind_name(patch->kind));
    }
    for (const struct json *member = patch->child; member; member = member->next) {
        enum status status = check_metadata_member(member, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    struct slice merged = merge_objects(arena, old, patch);
    if (merged.len > limits->metadata_bytes_max) {
        return failure_set(failure, STATUS_TOO_LARGE, "metadata_too_large",
                           "`metadata` would take %zu bytes of at most %zu.", merged.len, limits->metadata_bytes_max);
    }
    *out = slice_is(merged, "{}") ? (struct slice){NULL, 0} : merged;
    return STATUS_OK;
}
