/* Checks of what a client says about a session. A value that is absent is fine everywhere. */
#ifndef DOMAIN_INPUT_H
#define DOMAIN_INPUT_H

#include "domain/change.h"

enum { REFERENCE_BYTES_MAX = 200, NAME_BYTES_MAX = 64 };

MUST_CHECK enum status input_check_chars(struct slice text, const char *name, size_t least, size_t most,
                                         struct failure *failure);
/* Slugs, ids of other things, platforms: printable, no white space. */
MUST_CHECK enum status input_check_name(struct slice text, const char *name, size_t most, struct failure *failure);
/* A session's id. */
MUST_CHECK enum status input_check_id(struct slice id, const char *name, struct failure *failure);
/* *out keeps its value when the word is absent. */
MUST_CHECK enum status input_read_word(struct slice word, const char *name, struct enum_names words, int *out,
                                       struct failure *failure);
/* `patch` over the text of an object: null removes. *out is in the arena, and absent when nothing remains. */
MUST_CHECK enum status input_merge_metadata(struct arena *arena, struct slice old, const struct json *patch,
                                            const struct session_limits *limits, struct slice *out,
                                            struct failure *failure);

/* Where a session comes from. */
struct source {
    struct slice kind;
    struct slice platform;
    struct slice trigger_id;
    bool interactive;
    int type; /* enum chat_type */
};
/* An object, just the kind as a string, or nothing; the id's scheme says the rest. */
MUST_CHECK enum status input_read_source(const struct json *json, struct slice id, struct source *out,
                                         struct failure *failure);

#endif
