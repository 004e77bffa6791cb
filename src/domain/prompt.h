/* A prompt: what somebody says to a session so that its agent runs. Durable from the moment it is accepted: either its
 * user.message is in the log, or it waits in the queue, or prompt.withdrawn says what became of it. */
#ifndef DOMAIN_PROMPT_H
#define DOMAIN_PROMPT_H

#include "domain/change.h"

struct prompt {
    struct slice id;
    int64_t position; /* orders the queue; may have holes */
    enum queue_mode mode;
    struct slice actor;
    struct slice content;  /* a JSON array */
    struct slice metadata; /* the client's JSON object, or absent */
    struct slice thread_id;
    int64_t created_at_ms;
    int64_t revision; /* from 1; grows with every change */
    int64_t priority; /* -100 to 100; higher first */
    int64_t due_ms;   /* steady; mode collect: when it may be dispatched, unless another one follows it */
};

/* What a prompt meets in a session. */
enum prompt_admission {
    PROMPT_DISPATCHES, /* a turn starts */
    PROMPT_REOPENS,    /* the conversation is reopened first */
    PROMPT_QUEUES,     /* a turn runs or waits to be run */
};

/* CONFLICT when the session takes no prompts: archived, failed, without an agent, no conversation. */
MUST_CHECK enum status prompt_admit(const struct session *session, enum prompt_admission *out, struct failure *failure);
/* May something be said in this session at all, without making its agent run? */
MUST_CHECK enum status prompt_check_append(const struct session *session, struct failure *failure);
/* LIMITED (`turn_limit`) when the session had all the turns it may have (0 = no limit): those that ended, the one it is
 * in, and those that the prompts ahead of this one will take. */
MUST_CHECK enum status prompt_check_turns(const struct session *session, int64_t ahead, int64_t turns_max,
                                          struct failure *failure);
/* How many turns the prompts of the queue take before `prompt`, if it goes to the end: collected ones that stand
 * together take one. */
int64_t prompt_turns_ahead(const struct prompt *queue, size_t count, const struct prompt *prompt);
/* The client's metadata (may be NULL) must leave the server's names to the server. */
MUST_CHECK enum status prompt_check_metadata(const struct json *metadata, struct failure *failure);
/* What a prompt brings besides its content, as one JSON object; absent when there is nothing. All checked here. */
struct prompt_extras {
    const struct json *metadata;    /* the client's; NULL = none */
    const struct json *sender;      /* {channel, channel_id, channel_user_id, display_name, email} */
    const struct json *attachments; /* [{type, url | data, …}] */
    const struct json *mentioned;   /* boolean */
    struct slice message_id;
};
MUST_CHECK enum status prompt_metadata_of(struct arena *arena, const struct prompt_extras *extras, struct slice *out,
                                          struct failure *failure);
/* What was attached to a message, by the metadata of its event: to itself, or to each of the collected ones in it. */
void prompt_each_attachment(const struct json *metadata, void (*each)(void *owner, const struct json *attachment),
                            void *owner);
/* A message of one text part, as content. */
struct slice prompt_content_of(struct arena *arena, struct slice text);
/* Is the event what somebody said to the agent, and not only wrote into the log (`appended`)? */
bool prompt_begins_turn(const struct event *event);
/* The text parts of a message's content, one per line; empty when there are none. */
struct slice prompt_text_of(struct arena *arena, struct slice content);

/* --- the queue, in its order --- */

enum { PROMPT_PRIORITY_MAX = 100 }; /* and as far below zero */
/* Where a new prompt goes: behind the last that is as urgent as it, or interrupts a turn. An index; `count` = the end.
 */
size_t prompt_place(const struct prompt *queue, size_t count, const struct prompt *prompt);
bool prompt_same_thread(const struct prompt *a, const struct prompt *b);
/* What is dispatched next, as one message: the oldest prompt that is ready, or the collected prompts of one thread that
 * stand together. Collected ones are ready when the last of them is due or something else of their thread follows.
 * Fills `out` (room for `count`) and returns how many; 0 when nothing is ready. Content beyond bytes_max is left for
 * the next turn. */
size_t prompt_pick(const struct prompt *queue, size_t count, int64_t steady_ms, size_t bytes_max, struct prompt *out);
/* When the next collected prompts become ready by time; 0 when none waits for that. */
int64_t prompt_next_due(const struct prompt *queue, size_t count, int64_t steady_ms);

/* --- events --- */

/* user.message {prompt_id, what the prompt brought} in the name of its actor, or of several collected ones
 * {prompts: [{prompt_id, actor, created_at, parts, metadata}]}, and session.status_change to pending. The session must
 * be at rest (session_status_takes_prompt). */
MUST_CHECK enum status change_dispatch(struct arena *arena, const struct session *session, const struct prompt *prompts,
                                       size_t count, struct changes *out, struct failure *failure);
/* user.message {appended: true}: a message that starts no turn. */
MUST_CHECK enum status change_append_message(struct arena *arena, const struct prompt *prompt, struct changes *out,
                                             struct failure *failure);
/* prompt.queued {prompt_id, mode, position, priority unless 0}: `place` counts from 1. */
void change_queue(struct arena *arena, const struct prompt *prompt, int64_t place, struct changes *out);
/* prompt.edited {prompt_id, revision} */
void change_edit_prompt(struct arena *arena, const struct prompt *prompt, struct changes *out);
/* prompt.moved {prompt_id, mode, position, revision} */
void change_move_prompt(struct arena *arena, const struct prompt *prompt, int64_t place, struct changes *out);
/* prompt.withdrawn {prompt_id, reason} */
void change_withdraw(struct arena *arena, const struct prompt *prompt, const char *reason, struct changes *out);
/* turn.interrupt_requested {turn, reason, by, prompt_id}; prompt_id absent = none. */
void change_interrupt(struct arena *arena, const struct session *session, const char *reason, struct slice by,
                      struct slice prompt_id, struct changes *out);

#endif
