/* The health of a session: what looks stuck, and what is done about it. Pure: the sweep (service/core/watchdog.h)
 * gathers the facts and executes the findings; every finding is an event watchdog.NAME in the session's log.
 *
 * Each action changes what it was found by, so that a finding does not come again at the next look. */
#ifndef DOMAIN_WATCHDOG_H
#define DOMAIN_WATCHDOG_H

#include "domain/change.h"

enum watchdog {
    WATCHDOG_STUCK_TURN,          /* runs, and neither an event nor live output came for too long */
    WATCHDOG_SILENT_STREAM,       /* streamed, and fell silent in the middle */
    WATCHDOG_RUNNER_LOST,         /* its lease expired and was not revoked */
    WATCHDOG_QUEUE_STUCK,         /* idle although prompts are queued */
    WATCHDOG_ERROR_SAFETY_NET,    /* its turn is over, but the session still runs */
    WATCHDOG_ORPHANED_LEASE,      /* a lease on a session without a turn */
    WATCHDOG_WAITING_WITHOUT_ASK, /* waits for a person who was asked nothing, or has answered */
    WATCHDOG_STALE,               /* a chat that nobody has used for days */
    WATCHDOG_COUNT
};
extern const struct enum_names watchdog_enum;
extern const enum event_kind watchdog_event_kinds[WATCHDOG_COUNT];

enum health_action {
    HEALTH_INTERRUPT,        /* whoever runs the turn is told to end it */
    HEALTH_REVERT_AND_DRAIN, /* the lease is taken; the prompt waits again */
    HEALTH_DRAIN_QUEUE,      /* the next prompt starts */
    HEALTH_FORCE_COMPLETE,   /* the turn is over: to rest */
    HEALTH_MARK_NOT_BUSY,    /* the lease goes; the session stays as it is */
    HEALTH_PERFORM_RECOVERY, /* the turn is cut, or taken up again */
    HEALTH_MARK_INACTIVE,    /* hidden from lists, as if archived by hand */
    HEALTH_ACTION_COUNT
};
extern const struct enum_names health_action_enum;

struct health_facts {
    enum session_status status;
    bool hosted; /* the server runs its turns */
    bool leased;
    bool paused;              /* by a person or for want of money: nothing is dispatched */
    bool streaming;           /* live output followed the last event */
    bool interrupted;         /* the turn was told to end */
    int64_t lease_overdue_ms; /* since the lease ran out; 0 = it has not */
    int64_t silent_ms;        /* since the last event or live output */
    int64_t asks_pending;
    int64_t asks_of_turn;     /* whatever became of them */
    int64_t prompts_ready;    /* waiting, and not to be collected */
    int64_t prompt_waited_ms; /* the longest */
};

/* How long each may last; 0 = that watchdog sleeps. */
struct health_limits {
    int64_t turn_silence_ms;   /* of a turn that the server runs */
    int64_t worker_silence_ms; /* of a worker that renews its lease */
    int64_t stream_silence_ms;
    int64_t cut_ms;    /* from being told to end */
    int64_t runner_ms; /* from the end of the lease */
    int64_t queue_ms;
    int64_t error_ms;
    int64_t waiting_ms;
    int64_t stale_ms; /* of a chat, from its last activity */
};

struct health_finding {
    enum watchdog watchdog;
    enum health_action action;
};
enum { HEALTH_FINDINGS_MAX = WATCHDOG_COUNT };

/* What is to be done, most urgent first; 0 = it is well. A turn gets one finding at most: what follows from it is seen
 * at the next look. */
size_t health_actions(const struct health_facts *facts, const struct health_limits *limits,
                      struct health_finding out[HEALTH_FINDINGS_MAX]);
/* The shortest of the limits that silence of a running turn is measured by; 0 = none. */
int64_t health_first_silence_ms(const struct health_limits *limits);

/* Days of silence are no emergency and are not swept for: a timer of the session asks this. */
bool health_is_stale(const struct session *session, int64_t silent_ms, const struct health_limits *limits);

/* watchdog.NAME {turn, action, status, silent_ms, waited_ms} */
void change_watchdog(struct arena *arena, const struct session *session, const struct health_finding *finding,
                     const struct health_facts *facts, struct changes *out);

#endif
