#include "domain/access.h"
#include "domain_unit.h"

static struct session session_of(enum purpose purpose, enum visibility visibility)
{
    return (struct session){.tenant_key = TENANT,
                            .id = SLICE("telegram:1"),
                            .type = TYPE_MIXED,
                            .status = SESSION_RUNNING,
                            .owner = SLICE("owner"),
                            .purpose = purpose,
                            .visibility = visibility};
}

static struct principal principal_of(enum principal_kind kind, const char *user, enum member_role member)
{
    return (struct principal){
        .kind = kind, .tenant_key = TENANT, .user_id = slice_of(user), .member = member, .scopes = SCOPE_ALL};
}

/* The rules of S3-147 with the decisions, written a second time as plainly as possible. */
static enum access_role expected_role(const struct principal *who, const struct session *session,
                                      enum access_role participant, bool lease)
{
    bool user = who->kind == PRINCIPAL_USER;
    bool private = session->purpose == PURPOSE_ORCHESTRATOR || session->purpose == PURPOSE_WORKFLOW;
    if (who->kind == PRINCIPAL_SYSTEM) {
        return ACCESS_OWNER;
    }
    if (who->tenant_key != TENANT) {
        return ACCESS_NONE;
    }
    if (user && (slice_is(who->user_id, "owner") || who->member == MEMBER_OWNER)) {
        return ACCESS_OWNER;
    }
    if (lease) {
        return ACCESS_COLLABORATOR;
    }
    if (private) {
        return ACCESS_NONE;
    }
    enum access_role role = ACCESS_NONE;
    bool tenant_kind = who->kind == PRINCIPAL_WORKER || who->kind == PRINCIPAL_CHANNEL;
    if (session->visibility != VISIBILITY_PRIVATE && ((user && who->member != MEMBER_NONE) || tenant_kind)) {
        role = user && session->visibility == VISIBILITY_ORG_JOINABLE ? ACCESS_COLLABORATOR : ACCESS_VIEWER;
    }
    if (user && who->member == MEMBER_ADMIN && role < ACCESS_VIEWER) {
        role = ACCESS_VIEWER;
    }
    return user && participant > role ? participant : role;
}

/* kinds x membership x own or foreign x participation x visibility x purpose x lease x tenant */
static void the_whole_matrix_is_as_decided(void **state)
{
    static const int sizes[] = {PRINCIPAL_COUNT, MEMBER_COUNT, 2, ACCESS_COUNT, VISIBILITY_COUNT, PURPOSE_COUNT, 2, 2};
    int total = 1, at[8];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        total *= sizes[i];
    }
    for (int n = 0; n < total; n++) {
        int rest = n;
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            at[i] = rest % sizes[i];
            rest /= sizes[i];
        }
        struct principal who =
            principal_of((enum principal_kind)at[0], at[2] ? "owner" : "other", (enum member_role)at[1]);
        struct session session = session_of((enum purpose)at[5], (enum visibility)at[4]);
        who.tenant_key = at[7] ? TENANT : TENANT + 1;
        enum access_role participant = (enum access_role)at[3];
        enum access_role role = access_role(&who, &session, participant, at[6]);
        enum access_role expected = expected_role(&who, &session, participant, at[6]);
        if (role != expected) {
            fail_msg("%s %s user=%s participant=%s %s %s lease=%d tenant=%d: %s, expected %s",
                     principal_kind_enum.names[at[0]], member_role_enum.names[at[1]], at[2] ? "owner" : "other",
                     access_role_enum.names[at[3]], visibility_enum.names[at[4]], purpose_enum.names[at[5]], at[6],
                     at[7], access_role_enum.names[role], access_role_enum.names[expected]);
        }
    }
}

static void a_prefix_is_a_wall(void **state)
{
    struct session session = session_of(PURPOSE_INTERACTIVE, VISIBILITY_ORG_JOINABLE);
    (void)state;
    for (int kind = 0; kind < PRINCIPAL_SYSTEM; kind++) {
        struct principal who = principal_of((enum principal_kind)kind, "owner", MEMBER_OWNER);
        who.id_prefix = SLICE("slack:");
        assert_int_equal(access_role(&who, &session, ACCESS_OWNER, true), ACCESS_NONE);
    }
    struct principal channel = principal_of(PRINCIPAL_CHANNEL, "owner", MEMBER_MEMBER);
    session.visibility = VISIBILITY_PRIVATE;
    channel.id_prefix = SLICE("telegram:");
    assert_int_equal(access_role(&channel, &session, ACCESS_NONE, false), ACCESS_COLLABORATOR);
    session.purpose = PURPOSE_WORKFLOW;
    assert_int_equal(access_role(&channel, &session, ACCESS_NONE, false), ACCESS_NONE);
    struct principal worker = principal_of(PRINCIPAL_WORKER, "owner", MEMBER_OWNER);
    session.purpose = PURPOSE_INTERACTIVE;
    worker.id_prefix = SLICE("telegram:");
    assert_int_equal(access_role(&worker, &session, ACCESS_NONE, false), ACCESS_NONE);
}

static void a_credential_covers_what_is_no_wider(void **state)
{
    struct principal who = principal_of(PRINCIPAL_USER, "owner", MEMBER_OWNER);
    struct slice none = {0};
    (void)state;
    assert_true(access_is_tenant_wide(&who));
    assert_true(access_covers(&who, none, none));
    who.id_prefix = SLICE("cli:");
    assert_false(access_is_tenant_wide(&who));
    assert_true(access_covers(&who, SLICE("cli:a"), none));
    assert_false(access_covers(&who, SLICE("cl"), none));
    assert_false(access_covers(&who, none, SLICE("cli:a")));
    who.id_prefix = none;
    who.session_id = SLICE("a");
    assert_false(access_is_tenant_wide(&who));
    assert_true(access_covers(&who, none, SLICE("a")));
    assert_false(access_covers(&who, none, none));
}

static void bound_principals_reach_one_session(void **state)
{
    static const enum principal_kind bound[] = {PRINCIPAL_RUNNER, PRINCIPAL_SANDBOX, PRINCIPAL_SHARE_LINK};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bound); i++) {
        struct session session = session_of(PURPOSE_INTERACTIVE, VISIBILITY_PRIVATE);
        struct principal who = principal_of(bound[i], NULL, MEMBER_NONE);
        who.share_role = ACCESS_COLLABORATOR;
        assert_int_equal(access_role(&who, &session, ACCESS_NONE, false), ACCESS_NONE);
        who.session_id = SLICE("telegram:1");
        assert_int_equal(access_role(&who, &session, ACCESS_NONE, false), ACCESS_COLLABORATOR);
        who.session_id = SLICE("telegram:2");
        assert_int_equal(access_role(&who, &session, ACCESS_OWNER, true), ACCESS_NONE);
        who.session_id = SLICE("telegram:1");
        session.purpose = PURPOSE_ORCHESTRATOR;
        bool link = bound[i] == PRINCIPAL_SHARE_LINK;
        assert_int_equal(access_role(&who, &session, ACCESS_NONE, false), link ? ACCESS_NONE : ACCESS_COLLABORATOR);
    }
    struct session session = session_of(PURPOSE_INTERACTIVE, VISIBILITY_PRIVATE);
    struct principal link = principal_of(PRINCIPAL_SHARE_LINK, NULL, MEMBER_NONE);
    link.session_id = SLICE("telegram:1");
    link.share_role = ACCESS_VIEWER;
    assert_int_equal(access_role(&link, &session, ACCESS_NONE, false), ACCESS_VIEWER);
    link.share_role = ACCESS_OWNER;
    assert_int_equal(access_role(&link, &session, ACCESS_NONE, false), ACCESS_COLLABORATOR);
}

static void nobody_owns_a_session_without_an_owner(void **state)
{
    struct session session = session_of(PURPOSE_INTERACTIVE, VISIBILITY_PRIVATE);
    struct principal who = principal_of(PRINCIPAL_USER, NULL, MEMBER_MEMBER);
    (void)state;
    session.owner = (struct slice){NULL, 0};
    assert_int_equal(access_role(&who, &session, ACCESS_NONE, false), ACCESS_NONE);
    session.tenant_key = who.tenant_key = 0;
    who.user_id = session.owner = SLICE("x");
    assert_int_equal(access_role(&who, &session, ACCESS_OWNER, true), ACCESS_NONE);
}

static void every_action_needs_its_role_and_scope(void **state)
{
    static const struct {
        enum access_role role;
        unsigned scope;
    } rows[ACTION_COUNT] = {
        [ACTION_READ] = {ACCESS_VIEWER, SCOPE_READ},
        [ACTION_APPEND] = {ACCESS_COLLABORATOR, SCOPE_WRITE},
        [ACTION_SPEAK] = {ACCESS_COLLABORATOR, SCOPE_WRITE},
        [ACTION_INTERRUPT] = {ACCESS_COLLABORATOR, SCOPE_WRITE},
        [ACTION_HIBERNATE] = {ACCESS_COLLABORATOR, SCOPE_WRITE},
        [ACTION_PAUSE] = {ACCESS_COLLABORATOR, SCOPE_WRITE},
        [ACTION_UPDATE] = {ACCESS_OWNER, SCOPE_WRITE},
        [ACTION_STOP] = {ACCESS_OWNER, SCOPE_WRITE},
        [ACTION_ARCHIVE] = {ACCESS_OWNER, SCOPE_WRITE},
        [ACTION_DELETE] = {ACCESS_OWNER, SCOPE_WRITE},
        [ACTION_SHARE] = {ACCESS_OWNER, SCOPE_WRITE},
        [ACTION_PARTICIPANTS] = {ACCESS_OWNER, SCOPE_WRITE},
        [ACTION_ANSWER] = {ACCESS_VIEWER, SCOPE_WRITE},
    };
    (void)state;
    for (int action = 0; action < ACTION_COUNT; action++) {
        for (int role = 0; role < ACCESS_COUNT; role++) {
            for (unsigned scopes = 0; scopes <= SCOPE_ALL; scopes++) {
                struct principal who = principal_of(PRINCIPAL_USER, "u", MEMBER_MEMBER);
                struct failure failure = {0};
                who.scopes = scopes;
                enum status expected = role == ACCESS_NONE                  ? STATUS_NOT_FOUND
                                       : role < (int)rows[action].role      ? STATUS_FORBIDDEN
                                       : (scopes & rows[action].scope) == 0 ? STATUS_FORBIDDEN
                                                                            : STATUS_OK;
                assert_status(access_check(&who, (enum access_role)role, (enum action)action, &failure), expected);
            }
        }
    }
}

static void holders_work_with_the_claim_scope(void **state)
{
    static const enum principal_kind holders[] = {PRINCIPAL_WORKER, PRINCIPAL_RUNNER, PRINCIPAL_SANDBOX};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(holders); i++) {
        struct principal who = principal_of(holders[i], NULL, MEMBER_NONE);
        who.scopes = SCOPE_CLAIM;
        assert_status(access_check(&who, ACCESS_COLLABORATOR, ACTION_READ, NULL), STATUS_OK);
        assert_status(access_check(&who, ACCESS_COLLABORATOR, ACTION_APPEND, NULL), STATUS_OK);
        assert_status(access_check(&who, ACCESS_COLLABORATOR, ACTION_INTERRUPT, NULL), STATUS_FORBIDDEN);
    }
    struct principal user = principal_of(PRINCIPAL_USER, "u", MEMBER_MEMBER);
    user.scopes = SCOPE_CLAIM;
    assert_status(access_check(&user, ACCESS_OWNER, ACTION_READ, NULL), STATUS_FORBIDDEN);
}

/* What runs in a sandbox may be anybody's code. */
static void a_sandbox_does_not_steer_its_session(void **state)
{
    static const enum action steering[] = {ACTION_SPEAK, ACTION_INTERRUPT, ACTION_HIBERNATE, ACTION_PAUSE};
    struct principal code = principal_of(PRINCIPAL_SANDBOX, NULL, MEMBER_NONE);
    struct principal runner = principal_of(PRINCIPAL_RUNNER, NULL, MEMBER_NONE);
    (void)state;
    code.scopes = runner.scopes = SCOPE_ALL;
    for (size_t i = 0; i < COUNT_OF(steering); i++) {
        assert_status(access_check(&code, ACCESS_COLLABORATOR, steering[i], NULL), STATUS_FORBIDDEN);
        assert_status(access_check(&runner, ACCESS_COLLABORATOR, steering[i], NULL), STATUS_OK);
    }
}

static void strangers_read_the_same_bytes(void **state)
{
    struct principal who = principal_of(PRINCIPAL_USER, "u", MEMBER_MEMBER);
    struct session session = session_of(PURPOSE_INTERACTIVE, VISIBILITY_PRIVATE);
    struct failure unknown, hidden, event;
    (void)state;
    memset(&unknown, 0, sizeof unknown);
    memset(&hidden, 1, sizeof hidden);
    memset(&event, 2, sizeof event);
    assert_status(access_not_found(&unknown), STATUS_NOT_FOUND);
    assert_status(access_check(&who, ACCESS_NONE, ACTION_DELETE, &hidden), STATUS_NOT_FOUND);
    assert_status(access_check_event(&who, &session, ACCESS_NONE, false, SLICE("user.message"), &event),
                  STATUS_NOT_FOUND);
    assert_string_equal(unknown.code, hidden.code);
    assert_string_equal(unknown.detail, hidden.detail);
    assert_string_equal(unknown.members, hidden.members);
    assert_string_equal(unknown.detail, event.detail);
}

/* --- who writes which event --- */

static void every_kind_of_event_has_its_writers(void **state)
{
    static const struct {
        const char *who;
        enum principal_kind kind;
        const char *user;
        enum access_role role;
        bool lease, bound;
        const char *expected; /* anyone, people, holder, human, server: x allowed */
    } rows[] = {
        {"viewer", PRINCIPAL_USER, "other", ACCESS_VIEWER, false, false, "....."},
        {"collaborator", PRINCIPAL_USER, "other", ACCESS_COLLABORATOR, false, false, "xx..."},
        {"session owner", PRINCIPAL_USER, "owner", ACCESS_OWNER, false, false, "xxxx."},
        {"tenant owner", PRINCIPAL_USER, "other", ACCESS_OWNER, false, false, "xxx.."},
        {"lease holder", PRINCIPAL_WORKER, "other", ACCESS_COLLABORATOR, true, false, "xxx.."},
        {"lease holder of the owner's token", PRINCIPAL_WORKER, "owner", ACCESS_COLLABORATOR, true, false, "xxx.."},
        {"worker without lease", PRINCIPAL_WORKER, "other", ACCESS_VIEWER, false, false, "....."},
        {"runner", PRINCIPAL_RUNNER, NULL, ACCESS_COLLABORATOR, false, true, "x.x.."},
        {"sandbox", PRINCIPAL_SANDBOX, NULL, ACCESS_COLLABORATOR, false, true, "x.x.."},
        {"share link", PRINCIPAL_SHARE_LINK, NULL, ACCESS_COLLABORATOR, false, true, "xx..."},
        {"channel", PRINCIPAL_CHANNEL, "other", ACCESS_COLLABORATOR, false, false, "xx..."},
        {"system", PRINCIPAL_SYSTEM, NULL, ACCESS_OWNER, false, false, "xxxxx"},
    };
    static const char *const types[][2] = {{"external.github", "build.progress"},
                                           {"user.message", "user.custom"},
                                           {"agent.message", "agent.custom"},
                                           {"human.marker", "human.custom"},
                                           {"session.created", "prompt.queued"}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session session = session_of(PURPOSE_INTERACTIVE, VISIBILITY_PRIVATE);
        struct principal who = principal_of(rows[i].kind, rows[i].user, MEMBER_MEMBER);
        who.session_id = rows[i].bound ? SLICE("telegram:1") : (struct slice){NULL, 0};
        for (size_t t = 0; t < COUNT_OF(types) * 2; t++) {
            struct failure failure = {0};
            enum status status = access_check_event(&who, &session, rows[i].role, rows[i].lease,
                                                    slice_of(types[t / 2][t % 2]), &failure);
            assert_row(rows[i].who, status == (rows[i].expected[t / 2] == 'x' ? STATUS_OK : STATUS_FORBIDDEN));
        }
    }
}

/* A runner may be told why its session ended; a sandbox is no more. */
static void a_sandbox_does_not_outlive_its_session(void **state)
{
    (void)state;
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct session session = session_of(PURPOSE_INTERACTIVE, VISIBILITY_ORG_JOINABLE);
        session.status = (enum session_status)work;
        struct principal sandbox = principal_of(PRINCIPAL_SANDBOX, NULL, MEMBER_NONE), runner = sandbox;
        sandbox.session_id = runner.session_id = session.id;
        runner.kind = PRINCIPAL_RUNNER;
        assert_int_equal(access_role(&sandbox, &session, ACCESS_NONE, false),
                         session_status_is_ended(session.status) ? ACCESS_NONE : ACCESS_COLLABORATOR);
        assert_int_equal(access_role(&runner, &session, ACCESS_NONE, false), ACCESS_COLLABORATOR);
    }
}

static void human_events_need_a_running_mixed_session(void **state)
{
    struct principal who = principal_of(PRINCIPAL_USER, "owner", MEMBER_MEMBER);
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++) {
        for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
            struct session session = session_of(PURPOSE_INTERACTIVE, VISIBILITY_PRIVATE);
            session.type = (enum session_type)type;
            session.status = (enum session_status)work;
            enum status expected = type != TYPE_MIXED        ? STATUS_FORBIDDEN
                                   : work != SESSION_RUNNING ? STATUS_CONFLICT
                                                             : STATUS_OK;
            assert_status(access_check_event(&who, &session, ACCESS_OWNER, false, SLICE("human.navigate"), NULL),
                          expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_matrix_is_as_decided),
        cmocka_unit_test(a_sandbox_does_not_outlive_its_session),
        cmocka_unit_test(a_prefix_is_a_wall),
        cmocka_unit_test(a_credential_covers_what_is_no_wider),
        cmocka_unit_test(bound_principals_reach_one_session),
        cmocka_unit_test(nobody_owns_a_session_without_an_owner),
        cmocka_unit_test(every_action_needs_its_role_and_scope),
        cmocka_unit_test(holders_work_with_the_claim_scope),
        cmocka_unit_test(a_sandbox_does_not_steer_its_session),
        cmocka_unit_test(strangers_read_the_same_bytes),
        cmocka_unit_test(every_kind_of_event_has_its_writers),
        cmocka_unit_test(human_events_need_a_running_mixed_session),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
