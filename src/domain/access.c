#include "domain/access.h"

static const char *const access_role_names[ACCESS_COUNT] = {
    [ACCESS_NONE] = "none",
    [ACCESS_VIEWER] = "viewer",
    [ACCESS_COLLABORATOR] = "collaborator",
    [ACCESS_OWNER] = "owner",
};
const struct enum_names access_role_enum = {access_role_names, ACCESS_COUNT};
const struct enum_names access_role_given_enum = {access_role_names + ACCESS_VIEWER, ACCESS_COUNT - ACCESS_VIEWER};

/* What each action needs. A worker, runner or sandbox acts with SCOPE_CLAIM where `holders` says so: it reads and
 * writes the session it runs. */
static const struct {
    const char *name;
    enum access_role role;
    unsigned scope;
    bool holders;
    bool steers; /* says what the agent does next: not for code in its sandbox */
} actions[ACTION_COUNT] = {
    [ACTION_READ] = {"read it", ACCESS_VIEWER, SCOPE_READ, true, false},
    [ACTION_APPEND] = {"write to it", ACCESS_COLLABORATOR, SCOPE_WRITE, true, false},
    [ACTION_SPEAK] = {"speak to its agent", ACCESS_COLLABORATOR, SCOPE_WRITE, true, true},
    [ACTION_INTERRUPT] = {"interrupt it", ACCESS_COLLABORATOR, SCOPE_WRITE, false, true},
    [ACTION_HIBERNATE] = {"hibernate or wake it", ACCESS_COLLABORATOR, SCOPE_WRITE, false, true},
    [ACTION_PAUSE] = {"pause it or let it go on", ACCESS_COLLABORATOR, SCOPE_WRITE, false, true},
    [ACTION_UPDATE] = {"change it", ACCESS_OWNER, SCOPE_WRITE, false, false},
    [ACTION_STOP] = {"stop it", ACCESS_OWNER, SCOPE_WRITE, false, false},
    [ACTION_ARCHIVE] = {"archive it", ACCESS_OWNER, SCOPE_WRITE, false, false},
    [ACTION_DELETE] = {"delete it", ACCESS_OWNER, SCOPE_WRITE, false, false},
    [ACTION_SHARE] = {"share it", ACCESS_OWNER, SCOPE_WRITE, false, false},
    [ACTION_PARTICIPANTS] = {"change its participants", ACCESS_OWNER, SCOPE_WRITE, false, false},
    [ACTION_ANSWER] = {"answer in it", ACCESS_VIEWER, SCOPE_WRITE, false, false},
};

/* What each kind of caller may be, apart from the rules for people below. */
static const struct {
    enum access_role bound;      /* in the session it is bound to */
    enum access_role namespaced; /* where its id prefix matches */
    enum access_role visible;    /* the most it gets from a session that the organisation may see */
    bool person;
    bool claims; /* takes work; a person needs to own the tenant */
} kinds[PRINCIPAL_COUNT] = {
    [PRINCIPAL_ANONYMOUS] = {ACCESS_NONE, ACCESS_NONE, ACCESS_NONE, false, false},
    [PRINCIPAL_USER] = {ACCESS_NONE, ACCESS_NONE, ACCESS_COLLABORATOR, true, false},
    [PRINCIPAL_WORKER] = {ACCESS_NONE, ACCESS_NONE, ACCESS_VIEWER, false, true},
    [PRINCIPAL_RUNNER] = {ACCESS_COLLABORATOR, ACCESS_NONE, ACCESS_NONE, false, true},
    [PRINCIPAL_SANDBOX] = {ACCESS_COLLABORATOR, ACCESS_NONE, ACCESS_NONE, false, true},
    [PRINCIPAL_CHANNEL] = {ACCESS_NONE, ACCESS_COLLABORATOR, ACCESS_VIEWER, false, true},
    [PRINCIPAL_SHARE_LINK] = {ACCESS_COLLABORATOR, ACCESS_NONE, ACCESS_NONE, false, false},
    [PRINCIPAL_SYSTEM] = {ACCESS_OWNER, ACCESS_OWNER, ACCESS_OWNER, false, true},
};

static enum access_role greater(enum access_role a, enum access_role b)
{
    return a > b ? a : b;
}

static enum access_role lesser(enum access_role a, enum access_role b)
{
    return a < b ? a : b;
}

/* What the organisation may do with a session of this visibility. */
static enum access_role visible_role(enum visibility visibility)
{
    static const enum access_role roles[VISIBILITY_COUNT] = {
        [VISIBILITY_PRIVATE] = ACCESS_NONE,
        [VISIBILITY_ORG_VISIBLE] = ACCESS_VIEWER,
        [VISIBILITY_ORG_JOINABLE] = ACCESS_COLLABORATOR,
    };
    return (unsigned)visibility < VISIBILITY_COUNT ? roles[visibility] : ACCESS_NONE;
}

static bool is_bound_here(const struct principal *who, const struct session *session)
{
    return slice_present(who->session_id) && slice_eq(who->session_id, session->id);
}

/* The walls no rule below reaches over: the tenant, the token's namespace, the one session of a bound principal. A
 * sandbox does not outlive its session, whoever has kept its token. */
static bool is_outside(const struct principal *who, const struct session *session)
{
    return who->tenant_key == 0 || who->tenant_key != session->tenant_key ||
           (who->kind == PRINCIPAL_SANDBOX && session_status_is_ended(session->status)) ||
           (slice_present(who->id_prefix) && !slice_starts(session->id, who->id_prefix)) ||
           (slice_present(who->session_id) && !slice_eq(who->session_id, session->id));
}

static bool is_session_owner(const struct principal *who, const struct session *session)
{
    return kinds[who->kind].person && slice_present(who->user_id) && slice_present(session->owner) &&
           slice_eq(who->user_id, session->owner);
}

static bool is_tenant_owner(const struct principal *who)
{
    return access_rank(who) == MEMBER_OWNER;
}

bool access_runs(const struct principal *who, const struct session *session, bool holds_lease)
{
    return holds_lease ||
           ((who->kind == PRINCIPAL_RUNNER || who->kind == PRINCIPAL_SANDBOX) && is_bound_here(who, session));
}

bool access_speaks_for_people(const struct principal *who)
{
    return who->kind != PRINCIPAL_RUNNER && who->kind != PRINCIPAL_SANDBOX;
}

static enum access_role role_of_share_link(const struct principal *who, const struct session *session)
{
    enum access_role most = is_bound_here(who, session) ? kinds[PRINCIPAL_SHARE_LINK].bound : ACCESS_NONE;
    return lesser(most, (enum access_role)who->share_role);
}

/* Those who neither own nor run it. */
static enum access_role role_of_others(const struct principal *who, const struct session *session,
                                       enum access_role participant)
{
    enum access_role role = lesser(kinds[who->kind].visible, visible_role(session->visibility));
    if (who->kind == PRINCIPAL_SHARE_LINK) {
        return role_of_share_link(who, session);
    }
    if (slice_present(who->id_prefix)) {
        role = greater(role, kinds[who->kind].namespaced);
    }
    if (!kinds[who->kind].person) {
        return role;
    }
    if (who->member == MEMBER_NONE) {
        role = ACCESS_NONE;
    }
    if (who->member == MEMBER_ADMIN) {
        role = greater(role, ACCESS_VIEWER);
    }
    return greater(role, participant);
}

enum access_role access_role(const struct principal *who, const struct session *session, enum access_role participant,
                             bool holds_lease)
{
    if (who->kind == PRINCIPAL_SYSTEM) {
        return ACCESS_OWNER;
    }
    if ((unsigned)who->kind >= PRINCIPAL_COUNT || is_outside(who, session)) {
        return ACCESS_NONE;
    }
    if (is_session_owner(who, session) || is_tenant_owner(who)) {
        return ACCESS_OWNER;
    }
    if (access_runs(who, session, holds_lease)) {
        return ACCESS_COLLABORATOR;
    }
    if (session_purpose_is_private(session->purpose)) {
        return ACCESS_NONE;
    }
    return role_of_others(who, session, participant);
}

enum member_role access_rank(const struct principal *who)
{
    return kinds[who->kind].person ? who->member : MEMBER_NONE;
}

bool access_is_bound(const struct principal *who)
{
    return slice_present(who->session_id) || kinds[who->kind].bound != ACCESS_NONE;
}

bool access_is_tenant_wide(const struct principal *who)
{
    return !access_is_bound(who) && !slice_present(who->id_prefix);
}

bool access_covers(const struct principal *who, struct slice id_prefix, struct slice session_id)
{
    return (!slice_present(who->id_prefix) || slice_starts(id_prefix, who->id_prefix)) &&
           (!slice_present(who->session_id) || slice_eq(session_id, who->session_id));
}

bool access_reads_unowned(const struct principal *who)
{
    bool by_namespace = slice_present(who->id_prefix) && kinds[who->kind].namespaced != ACCESS_NONE;
    return by_namespace || access_rank(who) >= MEMBER_ADMIN;
}

struct slice access_holder(const struct principal *who)
{
    return slice_present(who->user_id) ? who->user_id : who->name;
}

enum status access_check_claim(const struct principal *who, struct failure *failure)
{
    bool allowed = kinds[who->kind].person ? is_tenant_owner(who) : kinds[who->kind].claims;
    return allowed ? STATUS_OK
                   : failure_set(failure, STATUS_FORBIDDEN, "role_required",
                                 "Work is claimed by workers, runners, sandboxes and channels, and by owners of the "
                                 "tenant; ask an admin for a worker's token.");
}

bool access_works(const struct principal *who)
{
    return kinds[who->kind].claims && !kinds[who->kind].person;
}

bool access_may_claim(const struct principal *who, const struct session *session)
{
    return (who->scopes & SCOPE_CLAIM) != 0 && !is_outside(who, session) && access_check_claim(who, NULL) == STATUS_OK;
}

enum status access_not_found(struct failure *failure)
{
    return failure_set(failure, STATUS_NOT_FOUND, "session_not_found",
                       "There is no such session, or it is not for you.");
}

static bool is_holder_kind(enum principal_kind kind)
{
    return kind == PRINCIPAL_WORKER || kind == PRINCIPAL_RUNNER || kind == PRINCIPAL_SANDBOX;
}

static bool has_scope(const struct principal *who, enum action action)
{
    unsigned accepted = actions[action].scope;
    if (actions[action].holders && is_holder_kind(who->kind)) {
        accepted |= SCOPE_CLAIM;
    }
    return who->kind == PRINCIPAL_SYSTEM || (who->scopes & accepted) != 0;
}

static const char *scope_name(unsigned scope)
{
    int bit = __builtin_ctz(scope);
    return scope_enum.names[bit];
}

enum status access_check(const struct principal *who, enum access_role role, enum action action,
                         struct failure *failure)
{
    if (role == ACCESS_NONE) {
        return access_not_found(failure);
    }
    if (role < actions[action].role) {
        return failure_set(failure, STATUS_FORBIDDEN, "insufficient_role",
                           "To %s you need to be %s of this session; you are %s.", actions[action].name,
                           access_role_names[actions[action].role], access_role_names[role]);
    }
    if (actions[action].steers && who->kind == PRINCIPAL_SANDBOX) {
        return failure_set(failure, STATUS_FORBIDDEN, "person_required",
                           "Code in the sandbox of a session cannot %s; it has the tools of the server.",
                           actions[action].name);
    }
    if (!has_scope(who, action)) {
        return failure_set(failure, STATUS_FORBIDDEN, "insufficient_scope", "To %s the token needs the scope `%s`.",
                           actions[action].name, scope_name(actions[action].scope));
    }
    return STATUS_OK;
}

/* --- events --- */

static enum status check_human_writer(const struct principal *who, const struct session *session,
                                      struct slice event_type, struct failure *failure)
{
    if (session->type != TYPE_MIXED || !is_session_owner(who, session)) {
        return failure_set(failure, STATUS_FORBIDDEN, "human_events_only",
                           "%.*s is written only by the owner of a mixed session.", SLICE_ARG(event_type));
    }
    if (session->status != SESSION_RUNNING) {
        return failure_set(failure, STATUS_CONFLICT, "session_not_running",
                           "%.*s is written only while the session is running; it is %s.", SLICE_ARG(event_type),
                           session_status_enum.names[session->status]);
    }
    return STATUS_OK;
}

enum status access_check_event(const struct principal *who, const struct session *session, enum access_role role,
                               bool holds_lease, struct slice event_type, struct failure *failure)
{
    if (role == ACCESS_NONE) {
        return access_not_found(failure);
    }
    if (who->kind == PRINCIPAL_SYSTEM) {
        return STATUS_OK;
    }
    switch (event_type_writers(event_type)) {
    case WRITERS_PEOPLE:
        if (!access_speaks_for_people(who)) {
            return failure_set(failure, STATUS_FORBIDDEN, "person_required",
                               "%.*s is what a person said or decided; a %s cannot write it.", SLICE_ARG(event_type),
                               principal_kind_enum.names[who->kind]);
        }
        __attribute__((fallthrough));
    case WRITERS_ANYONE:
        if (role >= ACCESS_COLLABORATOR) {
            return STATUS_OK;
        }
        return failure_set(failure, STATUS_FORBIDDEN, "insufficient_role",
                           "To write to it you need to be collaborator of this session; you are %s.",
                           access_role_names[role]);
    case WRITERS_HOLDER:
        if (role == ACCESS_OWNER || access_runs(who, session, holds_lease)) {
            return STATUS_OK;
        }
        return failure_set(failure, STATUS_FORBIDDEN, "holder_events_only",
                           "%.*s is written by whoever runs the session (its lease, runner or sandbox) or owns it.",
                           SLICE_ARG(event_type));
    case WRITERS_HUMAN:
        return check_human_writer(who, session, event_type, failure);
    case WRITERS_SERVER:
        break;
    }
    return failure_set(failure, STATUS_FORBIDDEN, "reserved_event_type", "%.*s is written by the server alone.",
                       SLICE_ARG(event_type));
}
