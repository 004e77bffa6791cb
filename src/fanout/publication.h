/* What leaves a commit (or a running turn) for the viewers. Made once, shared by all loops, counted. */
#ifndef FANOUT_PUBLICATION_H
#define FANOUT_PUBLICATION_H

#include "base/buffer.h"
#include "base/slice.h"
#include "domain/event_facts.h"
#include "domain/turn.h"

enum publication_kind {
    PUBLISH_EVENTS,  /* durable events of one session, dense sequences */
    PUBLISH_DELTA,   /* live output that follows a durable event; numbered by the fanout */
    PUBLISH_CLOSE,   /* the session is gone or the access of `only_user` ended: its viewers are told `closed`.
                      * session_key 0: all streams of the tenant, the firehose too */
    PUBLISH_RECHECK, /* credentials changed: streams whose own is over end */
};

/* One entry. Slices point into the publication's own bytes. */
struct publication_entry {
    enum publication_kind kind;
    int64_t tenant_key;
    int64_t session_key;
    struct slice session_id;
    int64_t sequence;         /* event: its number; delta: the number of the last durable event when it was accepted */
    int64_t count_base;       /* delta: how many deltas of this sequence are already saved in the store */
    int64_t delta;            /* delta: its number N in the cursor SEQ.N; set by the fanout */
    struct event_facts event; /* event: what it did */
    struct slice type;        /* event: its name, for filters and for the wire */
    enum delta_kind delta_kind;
    struct slice thread_id;
    struct slice json;      /* the event, or the delta's object, ready to be sent */
    struct slice reason;    /* close: "deleted", "access_revoked" */
    struct slice only_user; /* close: absent = everybody */
};

struct publication;

struct publication *publication_new(void);
struct publication *publication_ref(struct publication *publication);
void publication_unref(struct publication *publication);
/* Copies the entry's slices into the publication. Only before it is published. */
void publication_add(struct publication *publication, const struct publication_entry *entry);
size_t publication_count(const struct publication *publication);
const struct publication_entry *publication_at(const struct publication *publication, size_t index);
/* The fanout's first loop numbers a delta before any other thread sees the publication. */
void publication_number(struct publication *publication, size_t index, int64_t sequence, int64_t delta);
bool publication_has(const struct publication *publication, enum publication_kind kind);

#endif
