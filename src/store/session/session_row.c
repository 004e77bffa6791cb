#include "store/session/session_row.h"

#include "store/engine.h"
#include "store/seal/seal.h"
#include "store/statement.h"

static bool holds_number(const struct session_field *field)
{
    return field->kind == FIELD_I64 || field->kind == FIELD_BOOL || field->kind == FIELD_ENUM;
}

/* What people and agents said; lists filter by the rest. */
static bool is_content(const struct session_field *field)
{
    static const size_t offsets[] = {
        offsetof(struct session, agent_config),  offsetof(struct session, initial_prompt),
        offsetof(struct session, title),         offsetof(struct session, details),
        offsetof(struct session, result),        offsetof(struct session, error_message),
        offsetof(struct session, status_reason), offsetof(struct session, preview),
    };
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        if (offsets[i] == field->offset) {
            return true;
        }
    }
    return false;
}

/* Before its row has a key, a session that is sealed has no content: it is saved again at once. */
static struct slice stored_text(struct db *db, const struct session *session, const struct session_field *field)
{
    struct slice text = session_field_text(session, field);
    if (!db->seal || !is_content(field)) {
        return text;
    }
    return session->key ? seal_text(db, session->tenant_key, session->key, text) : (struct slice){0};
}

void session_bind(struct query *query, const struct session *session, int row)
{
    const struct db_vtable *vtable = query->db->vtable;
    const struct session_field *field = &session_fields[row];
    if (row < 0) {
        vtable->bind_i64(query, session->key);
    } else if (holds_number(field)) {
        vtable->bind_i64(query, session_field_number(session, field));
    } else {
        vtable->bind_text(query, stored_text(query->db, session, field));
    }
}

void session_read(struct query *query, struct arena *arena, struct session *out)
{
    memset(out, 0, sizeof *out);
    out->key = query_i64(query, SESSION_COLUMN_KEY);
    for (size_t i = 0; i < session_fields_count; i++) {
        const struct session_field *field = &session_fields[i];
        int column = SESSION_COLUMN_TENANT_KEY + (int)i;
        if (holds_number(field)) {
            session_field_set_number(out, field, query_i64(query, column));
        } else if (field->kind == FIELD_PREVIEW) {
            session_field_set_text(out, field, seal_slot_open(query->db, query_text(query, column), 0));
        } else {
            session_field_set_text(out, field, column_open(query, column, arena));
        }
    }
}
