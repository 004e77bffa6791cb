/* Options as tables. A row says everything about an option once: the command line, the environment, the configuration
 * file, help, manual and shell completion are made from it. */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/quantity.h"
#include "base/status.h"
#include "base/enum_names.h"

enum option_type {
    OPTION_SECTION, /* not an option: the heading of the rows that follow */
    OPTION_TEXT,    /* const char * */
    OPTION_NUMBER,  /* int64_t or size_t between min and max */
    OPTION_SWITCH,  /* bool */
    OPTION_CHOICE,  /* int: the index in `choices`, counted from min */
    OPTION_LIST,    /* struct text_list; may be given several times */
};

struct text_list {
    const char **items;
    size_t count;
};

struct option {
    const char *name;  /* "log-level"; of a section: its title. NULL ends a table */
    const char *alias; /* a former name, which is accepted too; NULL = none */
    enum option_type type;
    size_t offset;        /* of the field in the struct the table fills */
    const char *value;    /* what stands for the value in help: "FILE" */
    const char *fallback; /* the default, written as a user would; NULL = none */
    int64_t min, max;
    enum quantity_unit unit;
    const struct enum_names *choices;
    bool secret;      /* never from the command line, where everybody can read it, and never shown */
    const char *help; /* one sentence */
};

/* The offset of a field, refused by the compiler when the field is not of the type the row claims. */
#define OPTION_FIELD(owner, field, type) _Generic(((owner *)0)->field, type : offsetof(owner, field))
/* The same for numbers, which may be sizes: their values are never negative then. */
#define OPTION_NUMBER_FIELD(owner, field)                                                                              \
    _Generic(((owner *)0)->field, int64_t : offsetof(owner, field), size_t : offsetof(owner, field))

/* --- names --- */
/* By its name, or its former one. */
const struct option *option_find(const struct option *table, struct slice name);
/* "SOJOURN_LOG_LEVEL" */
void option_environment_name(const struct option *option, char *out, size_t room);
/* The same of its former name; without one, of its name. */
void option_environment_alias(const struct option *option, char *out, size_t room);
/* "log_level" */
void option_file_key(const struct option *option, char *out, size_t room);
/* Is this the key of its name, or of its former one? */
bool option_has_key(const struct option *option, struct slice key);
/* The candidate that a person most probably meant, or NULL when nothing is near. */
const char *closest_name(struct slice name, const char *const *candidates, size_t count);
const struct option *option_closest(const struct option *table, struct slice name);

/* --- values --- */
/* Fills every field with its default. */
void options_set_fallbacks(const struct option *table, void *values, struct arena *arena);
/* Reads `text` into the field; a list gets one more item. `origin` is how the failure names the option ("--log-level",
 * "SOJOURN_LOG_LEVEL"). Text that is kept is copied into the arena. The field is untouched on failure. */
MUST_CHECK enum status option_set(const struct option *option, void *values, struct slice text, const char *origin,
                                  struct arena *arena, struct failure *failure);
/* The current value as a user would write it; secrets and passwords in URLs are masked. */
void option_show(const struct option *option, const void *values, struct buffer *out);
/* What is accepted, in a few words: "1 to 64", "debug, info, warn or error". Empty when everything is. */
void option_show_accepted(const struct option *option, struct buffer *out);

#endif
