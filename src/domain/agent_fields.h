/* The keys of an agent's definition in one table: reading, writing and refusing all follow it. Private to the room. */
#ifndef DOMAIN_AGENT_FIELDS_H
#define DOMAIN_AGENT_FIELDS_H

#include "base/quantity.h"
#include "domain/agent.h"

enum agent_field_kind {
    AGENT_TEXT,     /* struct slice, of min to max bytes; absent stays absent */
    AGENT_NUMBER,   /* int64_t from min to max, with a unit or without */
    AGENT_FRACTION, /* double from 0 to 1 */
    AGENT_SWITCH,   /* bool */
    AGENT_WORD,     /* an enum, one of `words` */
    AGENT_TEXTS,    /* a list of texts, each of min to max bytes */
    AGENT_ITEMS,    /* a list of objects with `members` */
    AGENT_PAIRS,    /* an object of texts */
    AGENT_GROUP,    /* an object with `members`, whose values stand in the same struct */
    AGENT_GIVEN,    /* a number the server gives: accepted, so that what was shown can be sent back, and not heard */
};

struct agent_field {
    const char *name; /* NULL ends a table */
    enum agent_field_kind kind;
    bool required;
    size_t offset;       /* in the struct the table is about */
    size_t count_offset; /* of lists */
    int64_t min, max;
    enum quantity_unit unit;
    const struct enum_names *words;
    /* NULL when the text is fine, else what it must be. */
    const char *(*problem)(struct slice text);
    const struct agent_field *members;
    size_t item_size;
};

enum { AGENT_LIST_MAX = 256, AGENT_TURNS_MAX = 50, AGENT_TOOL_ROUNDS_MAX = 16 };

extern const struct agent_field agent_fields[], narrow_fields[], permission_rule_fields[];

/* The row called `name`, or NULL. */
const struct agent_field *agent_field_find(const struct agent_field *fields, struct slice name);
/* What an agent is that says nothing. */
void agent_set_defaults(struct agent *agent);

/* Reading: one source, and the failure of the first thing that is wrong. */
struct agent_reader {
    struct arena *arena;
    const struct agent_source *source;
    const char *code; /* of the failure */
    struct failure *failure;
};
/* INVALID, with file and line of `value` (NULL = the file only) before the sentence. */
enum status agent_refuse(const struct agent_reader *reader, const struct json *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The members of `object` into the struct at `base`. `path` stands before the names in messages: "", "sandbox.". */
MUST_CHECK enum status agent_read_members(const struct agent_reader *reader, const struct json *object,
                                          const struct agent_field *fields, const char *path, void *base);
/* One value by its row. */
MUST_CHECK enum status agent_read_value(const struct agent_reader *reader, const struct json *value,
                                        const struct agent_field *field, const char *path, void *base);

/* `*` stands for any text. Also tells whether one pattern covers another: everything the text with its own `*` can
 * stand for matches then. */
bool agent_glob_matches(struct slice pattern, struct slice text);
/* The same, A-Z and a-z alike: for rules that tighten. */
bool agent_glob_matches_nocase(struct slice pattern, struct slice text);

#endif
