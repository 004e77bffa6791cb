/* A prompt: what somebody says to a session so that its agent runs. Durable from the moment it is accepted: either its
 * user.message is in the log, or it waits in the queue, or prompt.withdrawn says what became of it. */
#ifndef DOMAIN_PROMPT_H
#define DOMAIN_PROMPT_H

#include "domain/change.h"

struct prompt {
    struct slice id;
    int64_t position; /* orders the queue; grows, may have holes */
    enum queue_mode mode;
    struct slice actor;
    struct slice content;  /* a JSON array */
    struct slice metadata; /* the client's JSON object, or absent */
    struct slice thread_id;
    int64_t created_at_ms;
};

/* What a prompt meets in a session. */
enum prompt_meets {
    PROMPT_DISPATCHES, /* a turn starts */
    PROMPT_REOPENS,    /* the conversation is reopened first */
    PROMPT_QUEUES,     /* a turn runs or waits to be run */
};

/* CONFLICT when the session takes no prompts: archived, failed, without an agent, no conversation. */
MUST_CHECK enum status prompt_meet(const struct session *session, enum prompt_meets *out, struct failure *failure);
/* May a prompt be sent in this mode? `steer` and `collect` are not offered. */
MUST_CHECK enum status prompt_check_mode(enum queue_mode mode, struct failure *failure);
/* The client's metadata (may be NULL) must leave `prompt_id` to the server. */
MUST_CHECK enum status prompt_check_metadata(const struct json *metadata, struct failure *failure);
/* A message of one text part, as content. */
struct slice prompt_content_of(struct arena *arena, struct slice text);
/* The text parts of a message's content, one per line; empty when there are none. */
struct slice prompt_text_of(struct arena *arena, struct slice content);

/* user.message {prompt_id, the client's metadata} in the name of the prompt's actor, and session.status_change to
 * pending. The session must be at rest (work_takes_prompt). */
MUST_CHECK enum status change_dispatch(struct arena *arena, const struct session *session, const struct prompt *prompt,
                                       struct changes *out, struct failure *failure);
/* prompt.queued {prompt_id, mode, position}: `place` counts from 1. */
void change_queue(struct arena *arena, const struct prompt *prompt, int64_t place, struct changes *out);
/* prompt.withdrawn {prompt_id, reason} */
void change_withdraw(struct arena *arena, const struct prompt *prompt, const char *reason, struct changes *out);

#endif
