/* Every field of struct session, in the order of the struct, except `key`: one table for copying, comparing and storing
 * a session. A field that is missing here is lost by all three, so the table's test counts the bytes of the struct. */
#ifndef DOMAIN_SESSION_FIELDS_H
#define DOMAIN_SESSION_FIELDS_H

#include "domain/session.h"

enum field_kind {
    FIELD_I64,
    FIELD_TEXT, /* struct slice; absent stays absent */
    FIELD_JSON, /* struct slice that holds one JSON value, or is absent */
    FIELD_BOOL,
    FIELD_ENUM,    /* an enum, as wide as int */
    FIELD_PREVIEW, /* char[SESSION_PREVIEW_BYTES], zero-terminated */
};

struct session_field {
    const char *name; /* the member of struct session */
    enum field_kind kind;
    size_t offset;
    bool hot;         /* changed by ordinary events: the last group of the struct */
    unsigned changed; /* the bit of enum session_changed that stands for it */
};

extern const struct session_field session_fields[];
extern const size_t session_fields_count;

/* One field by its row. Getting a kind from a row of another kind is a bug and ends the process. */
int64_t session_field_number(const struct session *session, const struct session_field *field); /* I64, BOOL, ENUM */
struct slice session_field_text(const struct session *session,
                                const struct session_field *field); /* TEXT, JSON, PREVIEW */
void session_field_set_number(struct session *session, const struct session_field *field, int64_t value);
/* The bytes are borrowed (a preview is copied). */
void session_field_set_text(struct session *session, const struct session_field *field, struct slice text);

#endif
