/* The one function that decides access (S3-147, S2-047, S2-048, design §2). */
#ifndef DOMAIN_ACCESS_H
#define DOMAIN_ACCESS_H

#include "domain/principal.h"
#include "domain/session.h"

enum access_role { ACCESS_NONE, ACCESS_VIEWER, ACCESS_COLLABORATOR, ACCESS_OWNER, ACCESS_COUNT };
extern const struct enum_names access_role_enum, access_role_given_enum; /* those that can be given: from viewer on */

/* Everything one can do to a session; a table gives the least role and the scope each needs (S3-148). */
enum action {
    ACTION_READ,
    ACTION_APPEND,
    ACTION_SPEAK, /* messages to its agent, and the queue of them */
    ACTION_INTERRUPT,
    ACTION_HIBERNATE,
    ACTION_PAUSE,
    ACTION_UPDATE,
    ACTION_STOP,
    ACTION_ARCHIVE,
    ACTION_DELETE,
    ACTION_SHARE,
    ACTION_PARTICIPANTS,
    ACTION_ANSWER, /* the ask itself says who may */
    ACTION_COUNT
};

/* The role of `who` in `session`. `participant` is the stored role of who->user_id there (ACCESS_NONE when none);
 * `holds_lease` is true when the call carries this session's live lease. ACCESS_NONE means: answer as for an unknown
 * id. */
enum access_role access_role(const struct principal *who, const struct session *session, enum access_role participant,
                             bool holds_lease);
/* False for code in a sandbox and for runners: what they write is never taken for what a person said. */
bool access_speaks_for_people(const struct principal *who);
/* Runs the session right now: holds its lease, or is a runner or sandbox made for it. */
bool access_runs(const struct principal *who, const struct session *session, bool holds_lease);
/* OK, NOT_FOUND (for ACCESS_NONE) or FORBIDDEN with what is needed. */
MUST_CHECK enum status access_check(const struct principal *who, enum access_role role, enum action action,
                                    struct failure *failure);
/* May `who` write this type here? HOLDER types need the lease (or a runner/sandbox of the session, or the
 * session's or tenant's owner); HUMAN types need the owner of a running mixed session; SERVER types nobody. */
MUST_CHECK enum status access_check_event(const struct principal *who, const struct session *session,
                                          enum access_role role, bool holds_lease, struct slice event_type,
                                          struct failure *failure);
/* The caller's role in the tenant, which only people have: a worker, runner, sandbox or channel whose token names a
 * user ends with that user and has none of his rights over others. */
enum member_role access_rank(const struct principal *who);
/* Reaches one session at most: bound to it, or of a kind that exists for one (share links, runners, sandboxes). */
bool access_is_bound(const struct principal *who);
/* Reaches everything in the tenant that its role allows: bound to no session and to no namespace. */
bool access_is_tenant_wide(const struct principal *who);
/* Is a credential with these bounds no wider than `who`? */
bool access_covers(const struct principal *who, struct slice id_prefix, struct slice session_id);
/* May read every session within its walls that is no orchestrator or workflow: what access_role says, for lists. */
bool access_reads_unowned(const struct principal *who);
/* Whose streams end together when access ends: the user, or the actor where there is none. */
struct slice access_holder(const struct principal *who);
/* A claim opens any session within the caller's walls: for workers and their like, and for owners of the tenant. */
MUST_CHECK enum status access_check_claim(const struct principal *who, struct failure *failure);
/* Of a kind that takes work and is no person. */
bool access_works(const struct principal *who);
/* The same for one session: within the caller's walls, and with the scope. */
bool access_may_claim(const struct principal *who, const struct session *session);
/* The text for an unknown or forbidden id: always the same bytes. */
enum status access_not_found(struct failure *failure);

#endif
