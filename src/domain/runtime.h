/* The runtime machine: the sandbox or runner under the session. */
#ifndef DOMAIN_RUNTIME_H
#define DOMAIN_RUNTIME_H

#include "base/enum_names.h"

enum runtime {
    RUNTIME_NONE,
    RUNTIME_STARTING,
    RUNTIME_RUNNING,
    RUNTIME_HIBERNATING,
    RUNTIME_HIBERNATED,
    RUNTIME_RESTORING,
    RUNTIME_STOPPED,
    RUNTIME_ERROR,
    RUNTIME_COUNT
};

enum pause_reason {
    PAUSE_NONE,
    PAUSE_MANUAL,
    PAUSE_INACTIVITY,
    PAUSE_CREDIT_LIMIT,
    PAUSE_PAYMENT_FAILED,
    PAUSE_OVERAGE_CAP,
    PAUSE_SUSPENDED,
    PAUSE_ORPHANED,
    PAUSE_COUNT
};

enum stop_reason {
    STOP_NONE,
    STOP_COMPLETED,
    STOP_FAILED,
    STOP_USER,
    STOP_PARENT,
    STOP_SUPERSEDED,
    STOP_EXPIRED,
    STOP_ABANDONED,
    STOP_ATTEMPTS_EXHAUSTED,
    STOP_SNAPSHOT_FAILED,
    STOP_SANDBOX_GONE,
    STOP_TURN_LIMIT,
    STOP_BUDGET_EXCEEDED,
    STOP_DELETED,
    STOP_COUNT
};

extern const struct enum_names runtime_enum;
extern const struct enum_names pause_reason_enum; /* index 0 is "" */
extern const struct enum_names stop_reason_enum;  /* index 0 is "" */

/* error -> restoring needs a snapshot. */
bool runtime_allows(enum runtime from, enum runtime to, bool has_snapshot);
/* "running, stopped, error": where `from` may go; empty when nowhere. */
void runtime_targets(enum runtime from, bool has_snapshot, char *out, size_t room);
/* Does this reason keep turns from starting? A person's, or want of money; the others are about the sandbox alone. */
bool pause_blocks_turns(enum pause_reason reason);
/* May a session be paused in this state for a reason that does not hold it? A sandbox that runs or is gone is not. */
bool runtime_can_pause(enum runtime state);
bool runtime_is_asleep(enum runtime state);        /* hibernating or hibernated */
bool runtime_is_something(enum runtime state);     /* there is, or was, a sandbox that is not stopped */
bool runtime_is_transitioning(enum runtime state); /* starting, hibernating or restoring */
bool runtime_is_up(enum runtime state);            /* running: may be put to sleep */
bool runtime_is_inhabited(enum runtime state);     /* code may be inside, or is about to be */
bool runtime_is_hibernated(enum runtime state);    /* hibernated: may be woken */

/* What the host of sandboxes (service/sandbox/runtime_host.h) does next; asked again after everything it did. */
enum runtime_action {
    RUNTIME_REST,   /* nothing, and nothing is kept in memory */
    RUNTIME_WAIT,   /* nothing until something else happens */
    RUNTIME_GIVE,   /* hand the live one to those who want it */
    RUNTIME_MAKE,   /* create, restore, or find again what an earlier life left */
    RUNTIME_SAVE,   /* stop what runs in it and take a snapshot */
    RUNTIME_END,    /* free */
    RUNTIME_REFUSE, /* tell those who want one that there is none */
};
struct runtime_facts {
    enum runtime state;
    bool ended;        /* the session is */
    bool has_snapshot; /* to restore from */
    bool live;         /* the host has it in its hands */
    bool wanted;       /* somebody waits for it */
    bool used;         /* it is in use */
    bool saved;        /* its snapshot is written down */
};
struct runtime_step {
    enum runtime to; /* written before the action begins */
    enum runtime_action action;
};
struct runtime_step runtime_next(const struct runtime_facts *facts);

#endif
