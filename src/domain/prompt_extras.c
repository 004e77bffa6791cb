#include "domain/input.h"
#include "domain/prompt.h"

enum { ATTACHMENTS_MAX = 32, SENDER_TEXT_CHARS_MAX = 200, ATTACHMENT_TYPE_CHARS_MAX = 100 };

/* Members of user.message that the server writes. */
static const char *const own_names[] = {"prompt_id",   "prompts",   "appended", "message_id",
                                        "attachments", "mentioned", "sender",   "routing"};

enum status prompt_check_metadata(const struct json *metadata, struct failure *failure)
{
    for (size_t i = 0; i < sizeof own_names / sizeof *own_names; i++) {
        if (json_get(metadata, own_names[i])) {
            return failure_set(failure, STATUS_INVALID, "invalid_metadata",
                               "`metadata.%s` is written by the server; choose another name.", own_names[i]);
        }
    }
    return STATUS_OK;
}

static enum status check_sender(const struct json *sender, struct failure *failure)
{
    static const char *const known[] = {"channel", "channel_id", "channel_user_id", "display_name", "email"};
    static const struct enum_names known_enum = {known, 5};
    for (const struct json *member = sender ? sender->child : NULL; member; member = member->next) {
        if (enum_names_find(known_enum, member->key) < 0 || !json_is(member, JSON_STRING)) {
            return failure_set(
                failure, STATUS_INVALID, "invalid_sender",
                "`sender` holds the strings channel, channel_id, channel_user_id, display_name and email, "
                "nothing else.");
        }
        enum status status = input_check_chars(member->text, "sender", 1, SENDER_TEXT_CHARS_MAX, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static bool attachment_is_valid(const struct json *attachment)
{
    struct slice type = json_text_of(attachment, "type");
    bool has_url = json_text_of(attachment, "url").len > 0, has_data = json_text_of(attachment, "data").len > 0;
    bool has_handle = json_text_of(attachment, "handle").len > 0; /* its url, if any, is the server's own */
    return json_is(attachment, JSON_OBJECT) && type.len > 0 && type.len <= ATTACHMENT_TYPE_CHARS_MAX &&
           (has_handle ? !has_data : has_url != has_data);
}

static enum status check_attachments(const struct json *attachments, struct failure *failure)
{
    if (attachments && attachments->count > ATTACHMENTS_MAX) {
        return failure_set(failure, STATUS_INVALID, "invalid_attachments", "A message has at most %d attachments.",
                           ATTACHMENTS_MAX);
    }
    for (const struct json *one = attachments ? attachments->child : NULL; one; one = one->next) {
        if (!attachment_is_valid(one)) {
            return failure_set(
                failure, STATUS_INVALID, "invalid_attachments",
                "Each of `attachments` is an object with `type` and either `url`, `data` or the `handle` of a file.");
        }
    }
    return STATUS_OK;
}

static void put_value(struct json_out *out, const char *key, const struct json *value)
{
    if (value) {
        json_put_raw(out, key, value->raw);
    }
}

static void write_extras(struct json_out *out, const struct prompt_extras *extras)
{
    json_begin_object(out);
    for (const struct json *member = extras->metadata ? extras->metadata->child : NULL; member; member = member->next) {
        json_key_slice(out, member->key);
        json_raw(out, member->raw);
    }
    put_value(out, "sender", extras->sender);
    put_value(out, "attachments", extras->attachments);
    put_value(out, "mentioned", extras->mentioned);
    json_maybe_text(out, "message_id", extras->message_id);
    json_end_object(out);
}

enum status prompt_metadata_of(struct arena *arena, const struct prompt_extras *extras, struct slice *out,
                               struct failure *failure)
{
    enum status status = prompt_check_metadata(extras->metadata, failure);
    if (status == STATUS_OK) {
        status = check_sender(extras->sender, failure);
    }
    if (status == STATUS_OK) {
        status = check_attachments(extras->attachments, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    bool nothing = !extras->metadata && !extras->sender && !extras->attachments && !extras->mentioned &&
                   !slice_present(extras->message_id);
    struct buffer buffer = {0};
    struct json_out json = json_out_to(&buffer);
    write_extras(&json, extras);
    *out = nothing ? (struct slice){0} : arena_copy(arena, buffer_slice(&buffer));
    buffer_release(&buffer);
    return STATUS_OK;
}

static void each_of(const struct json *list, void (*each)(void *owner, const struct json *attachment), void *owner)
{
    for (const struct json *one = json_is(list, JSON_ARRAY) ? list->child : NULL; one; one = one->next) {
        each(owner, one);
    }
}

void prompt_each_attachment(const struct json *metadata, void (*each)(void *owner, const struct json *attachment),
                            void *owner)
{
    const struct json *collected = json_get_value(metadata, "prompts");
    each_of(json_get_value(metadata, "attachments"), each, owner);
    for (const struct json *one = json_is(collected, JSON_ARRAY) ? collected->child : NULL; one; one = one->next) {
        each_of(json_get_value(json_get(one, "metadata"), "attachments"), each, owner);
    }
}
