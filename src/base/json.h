/* A strict JSON reader (RFC 8259, UTF-8, no duplicate keys, bounded depth) that yields slices of the text it read, so
 * that what a client sent can be stored byte for byte, and a writer that appends to a buffer. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* One value. Lives in the arena given to json_parse; slices point into the parsed text. */
struct json {
    enum json_kind kind;
    uint32_t count;                 /* elements of an array, members of an object */
    struct slice raw;               /* the exact bytes, quotes included */
    struct slice text;              /* of a string: decoded */
    struct slice key;               /* of an object's member: decoded */
    struct json *child;             /* first element or member */
    struct json *next;              /* the following sibling */
    const struct json_index *index; /* of a large object, as it was read: for json_member */
};

enum { JSON_DEPTH_MAX = 64, JSON_UNINDEXED_MAX = 16 };

/* The whole text must be one value with white space around it at most. The failure names the byte offset. */
MUST_CHECK enum status json_parse(struct arena *arena, struct slice text, const struct json **out,
                                  struct failure *failure);

/* The same for text of strangers: at most `values_max` elements and members, at any depth. Each costs time and memory
 * worth fifty bytes of text. */
MUST_CHECK enum status json_parse_within(struct arena *arena, struct slice text, size_t values_max,
                                         const struct json **out, struct failure *failure);

const char *json_kind_name(enum json_kind kind);
/* The member called `key`, or NULL (also when `object` is NULL or no object). */
const struct json *json_get(const struct json *object, const char *key);
/* The same for a name that is not a constant. Fast for objects of any size. */
const struct json *json_member(const struct json *object, struct slice key);
/* The same, but NULL for a member that is null. */
const struct json *json_get_value(const struct json *object, const char *key);
/* Each is false, with *out untouched, when the value is missing or of another kind. */
bool json_as_text(const struct json *value, struct slice *out);
bool json_as_i64(const struct json *value, int64_t *out); /* whole numbers only: 1e3 and 1.0 are refused */
bool json_as_bool(const struct json *value, bool *out);
static inline bool json_is(const struct json *value, enum json_kind kind)
{
    return value && value->kind == kind;
}
/* The same value: order of members does not count, numbers by what they are worth (1, 1.0 and 10e-1 are equal). */
bool json_equal(const struct json *a, const struct json *b);
/* Convenience for reading what the project itself wrote: missing text is an absent slice, a missing number is 0. */
struct slice json_text_of(const struct json *object, const char *key);
int64_t json_i64_of(const struct json *object, const char *key);
struct slice json_raw_of(const struct json *object, const char *key);

/* Writing. Commas are placed by the writer; nesting is the caller's duty. */
struct json_out {
    struct buffer *buffer;
    bool need_comma;
};

static inline struct json_out json_out_to(struct buffer *buffer)
{
    return (struct json_out){buffer, false};
}

void json_begin_object(struct json_out *out);
void json_end_object(struct json_out *out);
void json_begin_array(struct json_out *out);
void json_end_array(struct json_out *out);
void json_key(struct json_out *out, const char *key);
void json_key_slice(struct json_out *out, struct slice key);
void json_text(struct json_out *out, struct slice text); /* an absent slice is written as null */
void json_i64(struct json_out *out, int64_t value);
void json_bool(struct json_out *out, bool value);
void json_null(struct json_out *out);
void json_raw(struct json_out *out, struct slice json); /* an absent slice is written as null */
void json_time(struct json_out *out, int64_t wall_ms);  /* RFC 3339; 0 is written as null */
/* key and value in one call */
void json_put_text(struct json_out *out, const char *key, struct slice text);
void json_put_i64(struct json_out *out, const char *key, int64_t value);
void json_put_bool(struct json_out *out, const char *key, bool value);
void json_put_raw(struct json_out *out, const char *key, struct slice json);
void json_put_time(struct json_out *out, const char *key, int64_t wall_ms);
/* Only when present. */
void json_maybe_text(struct json_out *out, const char *key, struct slice text);
void json_maybe_raw(struct json_out *out, const char *key, struct slice json);

#endif
