/* How change_*.c puts an event together. Not for other rooms. */
#ifndef DOMAIN_CHANGE_PAYLOAD_H
#define DOMAIN_CHANGE_PAYLOAD_H

#include "domain/change.h"

/* An event whose metadata is being written; begun and ended in pairs. */
struct payload {
    struct buffer buffer;
    struct json_out out;
};

void payload_begin(struct payload *payload);
/* Adds the event to `out`. */
void payload_end(struct payload *payload, struct arena *arena, enum event_kind kind, struct changes *out);
/* Leaves an empty word out. */
void payload_word(struct payload *payload, const char *key, struct enum_names words, int index);

/* The two events of a reopening, after the caller checked that it may be reopened. */
void change_add_reopening(struct arena *arena, const struct session *session, const char *reason, struct changes *out);

/* A reason for people; absent when it is an empty line or none. */
struct slice payload_line(const char *reason);
/* A refused move says in members of its problem from where and where to. `failure` may be NULL. */
void payload_name_states(struct failure *failure, const char *from, const char *to);

#endif
