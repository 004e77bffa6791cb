#include "domain/task.h"
#include "domain_unit.h"

static enum status read(const char *text, struct task *out, struct failure *failure)
{
    *failure = (struct failure){0};
    return task_read(&test_arena, json_of(text), 4, out, failure);
}

static void what_is_read(void **state)
{
    struct task task;
    struct failure failure;
    (void)state;
    assert_status(read("{\"id\":\"t\",\"steps\":[{\"id\":\"a\",\"agent\":\"x\"},"
                       "{\"id\":\"b\",\"name\":\"Bee\",\"human\":true,\"depends_on\":[\"a\",\"c\"]},"
                       "{\"id\":\"c\",\"agent\":\"y\",\"depends_on\":[\"a\"],\"requires_approval\":true}]}",
                       &task, &failure),
                  STATUS_OK);
    assert_int_equal(task.step_count, 3);
    assert_slice(task.name, "t");
    assert_int_equal(task.steps[0].after, 0);
    assert_int_equal(task.steps[1].after, 5);
    assert_int_equal(task.steps[2].after, 1);
    assert_slice(task.steps[1].name, "Bee");
    assert_absent(task.steps[1].agent);
    assert_true(task.steps[2].requires_approval);
}

static void the_short_form_is_one_step(void **state)
{
    struct task task;
    struct failure failure;
    (void)state;
    assert_status(read("{\"id\":\"t\",\"name\":\"T\",\"agent\":\"x\",\"prompt\":\"p\"}", &task, &failure), STATUS_OK);
    assert_int_equal(task.step_count, 1);
    assert_slice(task.steps[0].id, "main");
    assert_slice(task.steps[0].name, "T");
}

static void what_is_written_is_read_again(void **state)
{
    struct task task;
    struct task_step step;
    struct failure failure;
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    (void)state;
    assert_status(
        read("{\"id\":\"t\",\"steps\":[{\"id\":\"a\",\"agent\":\"x\",\"prompt\":\"p\",\"requires_approval\":true,"
             "\"output\":{\"fields\":{\"n\":\"any\"}},\"criteria\":{\"n\":{\"options\":{\"x\":{}}}}}]}",
             &task, &failure),
        STATUS_OK);
    task_write_step(&out, &task.steps[0]);
    buffer_add_byte(&text, '\0');
    assert_status(task_read_step(json_of(text.ptr), &step, &failure), STATUS_OK);
    assert_slice(step.agent, "x");
    assert_slice(step.prompt, "p");
    assert_true(step.requires_approval);
    assert_slice(step.output->raw, "{\"fields\":{\"n\":\"any\"}}");
    assert_slice(step.criteria->raw, "{\"n\":{\"options\":{\"x\":{}}}}");
    buffer_release(&text);
}

static void what_cannot_work_is_refused(void **state)
{
    static const struct {
        const char *task, *word;
    } rows[] = {
        {"{\"id\":\"T\",\"agent\":\"x\"}", "kebab-case"},
        {"{\"id\":\"a--b\",\"agent\":\"x\"}", "kebab-case"},
        {"{\"id\":\"t\"}", "either an `agent` or `human`"},
        {"{\"id\":\"t\",\"steps\":[]}", "1 to 4 steps"},
        {"{\"id\":\"t\",\"steps\":[1]}", "an object"},
        {"{\"id\":\"t\",\"steps\":[{\"id\":\"a\",\"human\":true,\"depends_on\":[\"a\"]}]}", "circle: a"},
        {"{\"id\":\"t\",\"steps\":[{\"id\":\"a\",\"human\":true,\"depends_on\":[7]}]}", "no step"},
        {"{\"id\":\"t\",\"steps\":[{\"id\":\"a\",\"human\":true,\"depends_on\":[\"c\"]},{\"id\":\"b\",\"human\":true},"
         "{\"id\":\"c\",\"human\":true,\"depends_on\":[\"a\",\"b\"]}]}",
         "circle: a, c"},
        {"{\"id\":\"t\",\"depends_on\":[],\"agent\":\"x\"}", "does not belong here"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct task task;
        struct failure failure;
        assert_status(read(rows[i].task, &task, &failure), STATUS_INVALID);
        assert_row(failure.detail, strstr(failure.detail, rows[i].word) != NULL);
    }
}

/* Steps: b and c wait for a, d for both, e for nobody. */
static const struct task_step diamond[] = {{.after = 0}, {.after = 1}, {.after = 1}, {.after = 6}, {.after = 0}};

static enum session_status state_of(char letter)
{
    static const char letters[] = "dpr...cfx"; /* in the order of enum work */
    return (enum session_status)(strchr(letters, letter) - letters);
}

static void what_follows_from_an_end(void **state)
{
    static const struct {
        const char *states; /* first letters, x for expired */
        const char *actions;
        enum run_end end;
    } rows[] = {
        {"pdddp", ".....", RUN_GOES_ON},    {"cdddp", ".ss..", RUN_GOES_ON},
        {"ccrdc", ".....", RUN_GOES_ON},    {"cccdc", "...s.", RUN_GOES_ON},
        {"ccccc", ".....", RUN_IS_DONE},    {"fdddp", ".fff.", RUN_HAS_FAILED},
        {"cxrdc", "...f.", RUN_HAS_FAILED}, {"ccccf", ".....", RUN_HAS_FAILED},
        {"pdddd", ".....", RUN_GOES_ON}, /* a draft that waits for nobody is begun by a person */
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        enum step_action actions[5];
        enum session_status states[5];
        char seen[6] = {0};
        for (size_t step = 0; step < 5; step++) {
            states[step] = state_of(rows[i].states[step]);
        }
        assert_int_equal(task_plan(diamond, states, 5, actions), rows[i].end);
        for (size_t step = 0; step < 5; step++) {
            seen[step] = ".sf"[actions[step]];
        }
        assert_string_equal(seen, rows[i].actions);
    }
}

static void what_an_agent_is_told(void **state)
{
    struct task task;
    struct failure failure;
    (void)state;
    assert_status(
        read("{\"id\":\"t\",\"agent\":\"x\",\"output\":{\"fields\":{\"n\":\"any\"},\"required\":[]}}", &task, &failure),
        STATUS_OK);
    assert_slice(task_brief(&test_arena, &task, &task.steps[0], SLICE("{\"a\":1}")),
                 "t: t\n\nInput: {\"a\":1}\n\nEnd with one JSON object that has these fields, by name and type: "
                 "{\"n\":\"any\"}\nNeeded are: []");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read),
        cmocka_unit_test(the_short_form_is_one_step),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(what_cannot_work_is_refused),
        cmocka_unit_test(what_follows_from_an_end),
        cmocka_unit_test(what_an_agent_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
