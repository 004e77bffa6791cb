#include "service/agent/agent.h"

#include "service/scene.h"

static struct failure failure;

static const struct json *parsed(struct scene *scene, const char *text)
{
    const struct json *value = NULL;
    assert_int_equal(json_parse(&scene->arena, slice_of(text), &value, &failure), STATUS_OK);
    return value;
}

#define CODER                                                                                                          \
    "{\"id\":\"coder\",\"provider\":\"openai\",\"model\":\"m\",\"system_prompt\":\"s\",\"tools\":[\"read_file\","      \
    "\"set_title\"],"                                                                                                  \
    "\"fs_scope\":\"project\"%s}"

static int64_t push(struct scene *scene, const char *rest)
{
    struct call call = scene_call(scene);
    struct agent_row row;
    bool is_new;
    char text[400];
    snprintf(text, sizeof text, CODER, rest);
    scene_begin(scene);
    assert_int_equal(agent_push(&call, parsed(scene, text), &row, &is_new), STATUS_OK);
    scene_commit(scene);
    return row.version;
}

static struct session make(struct scene *scene, const char *agent, const char *config, const char *details)
{
    struct call call = scene_call(scene);
    struct session_access entry;
    struct session session;
    bool created;
    struct session_input input = {.type = SLICE("agent"),
                                  .agent = slice_of(agent),
                                  .attempt = 1,
                                  .ttl_ms = -1,
                                  .agent_config = config ? parsed(scene, config) : NULL,
                                  .details = details ? parsed(scene, details) : NULL};
    scene_begin(scene);
    assert_int_equal(session_create(&call, &input, &entry, &created), STATUS_OK);
    session_copy(&session, &entry.loaded->session, &scene->arena);
    scene_commit(scene);
    return session;
}

static struct agent agent_in(struct scene *scene, const struct session *session)
{
    struct call call = scene_call(scene);
    struct agent agent;
    assert_int_equal(agent_of_session(&call, session, &scene->arena, &agent), STATUS_OK);
    return agent;
}

static void a_session_has_the_version_it_started_with(void **state)
{
    struct scene *scene = scene_new();
    (void)state;
    assert_int_equal(push(scene, ""), 1);
    struct session first = make(scene, "coder", NULL, NULL);
    assert_int_equal(push(scene, ",\"caps\":{\"turns_max\":3}"), 2);
    struct session second = make(scene, "coder", NULL, NULL);
    assert_int_equal(agent_in(scene, &first).turns_max, 50);
    assert_int_equal(agent_in(scene, &first).version, 1);
    assert_int_equal(agent_in(scene, &second).turns_max, 3);
    assert_int_equal(second.driver, DRIVER_MODEL);
    struct call call = scene_call(scene);
    scene_begin(scene);
    assert_int_equal(agent_remove(&call, SLICE("coder")), STATUS_OK);
    scene_commit(scene);
    assert_int_equal(agent_in(scene, &second).version, 2);
    scene_free(scene);
}

static void it_is_narrowed_by_the_session(void **state)
{
    struct scene *scene = scene_new();
    (void)state;
    push(scene, "");
    struct session narrow = make(scene, "coder", "{\"tools\":[\"set_title\"],\"turns_max\":2}",
                                 "{\"context\":{\"fs_scope\":\"sandboxed\"}}");
    struct agent agent = agent_in(scene, &narrow);
    assert_int_equal(agent.tool_count, 1);
    assert_int_equal(agent.turns_max, 2);
    assert_int_equal(agent.fs_scope, FS_SCOPE_SANDBOXED);
    struct session wide = make(scene, "coder", NULL, "{\"context\":{\"fs_scope\":\"full\"}}");
    assert_int_equal(agent_in(scene, &wide).fs_scope, FS_SCOPE_PROJECT);
    struct session both =
        make(scene, "coder", "{\"fs_scope\":\"project\"}", "{\"context\":{\"fs_scope\":\"sandboxed\"}}");
    assert_int_equal(agent_in(scene, &both).fs_scope, FS_SCOPE_SANDBOXED);
    scene_free(scene);
}

static void what_nobody_defined_is_a_workers(void **state)
{
    struct scene *scene = scene_new();
    (void)state;
    struct session session = make(scene, "Agent", NULL, NULL);
    struct agent agent = agent_in(scene, &session);
    assert_int_equal(agent.driver, DRIVER_WORKER);
    assert_int_equal(agent.version, 0);
    assert_int_equal(agent.turns_max, 50);
    assert_true(slice_is(agent.id, "Agent"));
    scene_free(scene);
}

static struct shared_agent shared(const char *id, int64_t turns_max)
{
    struct shared_agent shared = {.source = AGENT_OF_FILE};
    agent_set_undefined(&shared.agent, slice_of(id));
    shared.agent.turns_max = turns_max;
    return shared;
}

static void share(struct scene *scene, const struct shared_agent *agents, size_t count)
{
    struct call call = scene_call(scene);
    scene_begin(scene);
    assert_int_equal(agent_share(&call, agents, count), STATUS_OK);
    scene_commit(scene);
}

static int64_t newest(struct scene *scene, const char *id)
{
    struct call call = scene_call(scene);
    struct agent_row row;
    return agent_find(&call, slice_of(id), 0, &row) == STATUS_OK ? row.version : 0;
}

static void files_say_what_there_is(void **state)
{
    struct scene *scene = scene_new();
    struct shared_agent agents[] = {shared("one", 1), shared("two", 2)};
    (void)state;
    share(scene, agents, 2);
    share(scene, agents, 2);
    assert_int_equal(newest(scene, "one"), 1);
    agents[0] = shared("one", 5);
    share(scene, agents, 1);
    assert_int_equal(newest(scene, "one"), 2);
    assert_int_equal(newest(scene, "two"), 0);
    share(scene, agents + 1, 1);
    assert_int_equal(newest(scene, "two"), 2);
    assert_int_equal(newest(scene, "one"), 0);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_has_the_version_it_started_with),
        cmocka_unit_test(it_is_narrowed_by_the_session),
        cmocka_unit_test(what_nobody_defined_is_a_workers),
        cmocka_unit_test(files_say_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
