#include "store/session/label.h"

#include "base/json.h"
#include "store/statement.h"

/* Text as it reads, numbers and booleans as they are written; nothing else is a label. */
static struct slice label_value(const struct json *value)
{
    switch (value->kind) {
    case JSON_STRING:
        return value->text;
    case JSON_NUMBER:
    case JSON_TRUE:
    case JSON_FALSE:
        return value->raw;
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return (struct slice){0};
}

/* PostgreSQL cannot keep a zero byte in text. */
static bool is_searchable(struct slice s, size_t max)
{
    return slice_present(s) && s.len <= max && !memchr(s.ptr, 0, s.len);
}

static bool is_label(const struct json *member)
{
    return is_searchable(member->key, LABEL_NAME_BYTES_MAX) &&
           is_searchable(label_value(member), LABEL_VALUE_BYTES_MAX);
}

static enum status insert_label(struct db *db, const struct session *session, const struct json *member,
                                struct failure *failure)
{
    if (!is_label(member)) {
        return STATUS_OK;
    }
    return statement_run(db,
                         sql_label_insert(.tenant_key = session->tenant_key, .name = member->key,
                                          .value = label_value(member), .listed_at_ms = session->listed_at_ms,
                                          .session_key = session->key),
                         NULL, failure);
}

enum status labels_insert(struct db *db, const struct session *session, struct failure *failure)
{
    if (session->metadata.len <= 2) {
        return STATUS_OK;
    }
    struct arena arena = {0};
    const struct json *metadata = NULL;
    enum status status = json_parse(&arena, session->metadata, &metadata, failure);
    const struct json *member = status == STATUS_OK && json_is(metadata, JSON_OBJECT) ? metadata->child : NULL;
    for (; status == STATUS_OK && member; member = member->next) {
        status = insert_label(db, session, member, failure);
    }
    arena_release(&arena);
    return status;
}

int64_t labels_count(const struct session *session)
{
    struct arena arena = {0};
    const struct json *metadata = NULL;
    int64_t count = 0;
    if (session->metadata.len > 2 && json_parse(&arena, session->metadata, &metadata, NULL) == STATUS_OK) {
        for (const struct json *member = metadata->child; member; member = member->next) {
            count += is_label(member);
        }
    }
    arena_release(&arena);
    return count;
}

enum status labels_replace(struct db *db, const struct session *session, struct failure *failure)
{
    enum status status = statement_run(
        db, sql_session_part(SQL_SESSION_DELETE_LABELS, .tenant_key = session->tenant_key, .session_key = session->key),
        NULL, failure);
    return status != STATUS_OK ? status : labels_insert(db, session, failure);
}

enum status labels_relist(struct db *db, const struct session *session, struct failure *failure)
{
    if (session->metadata.len <= 2) {
        return STATUS_OK;
    }
    return statement_run(db,
                         sql_label_relist(.listed_at_ms = session->listed_at_ms, .tenant_key = session->tenant_key,
                                          .session_key = session->key),
                         NULL, failure);
}
