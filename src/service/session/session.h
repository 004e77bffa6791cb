/* Commands and queries on a session as a whole. */
#ifndef SERVICE_SESSION_H
#define SERVICE_SESSION_H

#include "service/core/transaction.h"

/* A session opened for a command, and what the caller is in it. */
struct session_access {
    struct loaded_session *loaded;
    enum access_role role;
    bool holds_lease;
};

/* Writer: loads and checks access. A call that carries a lease which is not the session's live one is refused as stale,
 * whatever it wants to do. */
MUST_CHECK enum status session_authorize(struct call *call, struct slice id, enum action action,
                                         struct session_access *out);
/* Writer: NOT_FOUND unless the caller can see the session, or could claim it. */
MUST_CHECK enum status session_check_reached(struct call *call, int64_t key);
/* Reader: the same for queries. A call with a lease that succeeds holds it. */
MUST_CHECK enum status session_authorize_read(struct call *call, struct slice id, enum action action,
                                              struct session *out, enum access_role *out_role);

/* Creates, or opens the session that has the id already (*out_created false). */
MUST_CHECK enum status session_create(struct call *call, const struct session_input *input, struct session_access *out,
                                      bool *out_created);
MUST_CHECK enum status session_update(struct call *call, struct slice id, const struct json *patch,
                                      struct session_access *out);
/* What a collaborator, or whoever runs the turn, knows of git: members that are named replace those that stand. */
MUST_CHECK enum status session_set_git_state(struct call *call, struct slice id, const struct json *git_state,
                                             struct session_access *out);
MUST_CHECK enum status session_set_archived(struct call *call, struct slice id, bool archived,
                                            struct session_access *out);
/* Moves the work machine on request of a person or a program that holds no lease. */
MUST_CHECK enum status session_move(struct call *call, struct slice id, enum session_status to, struct slice reason,
                                    struct session_access *out);
MUST_CHECK enum status session_reopen(struct call *call, struct slice id, struct session_access *out);
/* A new session for the same work; the failed one stays as it is. */
MUST_CHECK enum status session_retry(struct call *call, struct slice id, struct session_access *out);
MUST_CHECK enum status session_delete(struct call *call, struct slice id);
/* The session as it was after event `sequence`. */
MUST_CHECK enum status session_view_at(struct call *call, struct slice id, int64_t sequence, struct session *out);

/* What belongs to a change of the work machine, wherever it came from: a session at rest starts its next prompt; an
 * ended one loses its lease, timers and queued prompts and its parent is told. Called after the change was appended. */
MUST_CHECK enum status session_after_move(struct call *call, struct loaded_session *loaded);

/* Reader. What of the tenant the filter lets through; whoever fills it says who asks (visible_to, private_of). */
MUST_CHECK enum status session_list(struct call *call, const struct session_filter *filter, struct session_page *out);
MUST_CHECK enum status session_count(struct call *call, const struct session_filter *filter,
                                     int64_t counts[TYPE_COUNT][SESSION_STATUS_COUNT]);
MUST_CHECK enum status session_count_children(struct call *call, const struct session *session, int64_t *out);

/* LIMITED, with the numbers, when the owner of this session at rest has as many sessions under way as they may; nothing
 * when it is under way, or does not count. */
MUST_CHECK enum status session_check_begin(struct call *call, const struct session *session);
/* Whoever runs it does so no longer; nothing when nobody does. */
MUST_CHECK enum status session_drop_lease(struct call *call, struct loaded_session *loaded);
/* What a turn leaves behind after a move: its lease, its asks, the prompts behind it. A part of session_after_move. */
MUST_CHECK enum status session_leave_turn(struct call *call, struct loaded_session *loaded);

#endif
