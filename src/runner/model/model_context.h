/* What the model is told: the conversation of a session as a list of blocks, built from its log, growing during the
 * turn, shortened by trimming and compaction. Owned by one turn. */
#ifndef RUNNER_MODEL_CONTEXT_H
#define RUNNER_MODEL_CONTEXT_H

#include "runner/driver.h"
#include "wire/model_message.h"

enum { SUMMARY_TOKENS_MAX = 4096, CHARS_PER_TOKEN = 4 };

struct context_entry {
    enum model_role role;
    struct model_block block;
    int64_t sequence; /* of its event; INT64_MAX = said in this turn */
};

struct model_context {
    struct arena *arena;           /* the turn's */
    struct context_entry *entries; /* heap */
    size_t count, room;
    size_t first;         /* entries before it are not sent */
    struct slice summary; /* of what was folded; absent = nothing was */
    const struct turn_input *brief;
};

void context_init(struct model_context *context, struct arena *arena, const struct turn_input *brief);
void context_release(struct model_context *context);
/* Slices must live as long as the arena. */
void context_add(struct model_context *context, enum model_role role, struct model_block block);

/* About so many tokens will be sent: four bytes to one. */
int64_t context_tokens(const struct model_context *context, size_t more_bytes);
/* Keeps at most `entries_max`, from a user's message on. How many were dropped. */
size_t context_trim(struct model_context *context, size_t entries_max);
/* Where the last complete exchange before the current one begins; context->first when nothing stands before it. */
size_t context_fold_point(const struct model_context *context);
/* Drops everything before `point`; with a summary in its place unless that is absent. */
void context_drop(struct model_context *context, size_t point, struct slice summary);
/* The highest sequence that is not sent any more; 0 = none. */
int64_t context_dropped_through(const struct model_context *context);
/* The entries up to `point` as text for a summary, the newest kept when it is longer than `bytes_max`. */
void context_render(const struct model_context *context, size_t point, size_t bytes_max, struct buffer *to);
/* Messages for one request; every tool call has its result. They live in `arena`. */
size_t context_messages(const struct model_context *context, struct arena *arena, const struct model_message **out);
/* Text from outside between marks it can't close itself. */
void context_fence(struct buffer *to, const char *mark, struct slice text);

#endif
