#include "domain/idle.h"
#include "unit.h"

static const struct idle_facts idle = {.idle_ms = 300000, .grace_ms = 300000, .has_sandbox = true};

static void all_seven_or_not_at_all(void **state)
{
    (void)state;
    struct {
        const char *what;
        struct idle_facts facts;
    } rows[] = {
        {"an HTTP tool call", idle}, {"a running tool", idle}, {"a viewer", idle},
        {"a terminal", idle},        {"a turn", idle},         {"the grace time", idle},
        {"no sandbox", idle},
    };
    assert_true(idle_may_hibernate(&idle));
    rows[0].facts.http_tool_calls = 1;
    rows[1].facts.running_tools = 1;
    rows[2].facts.viewers = 1;
    rows[3].facts.proxies = 1;
    rows[4].facts.in_turn = true;
    rows[5].facts.idle_ms = idle.grace_ms - 1;
    rows[6].facts.has_sandbox = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (idle_may_hibernate(&rows[i].facts)) {
            fail_msg("%s does not keep it awake", rows[i].what);
        }
    }
}

static void people_get_longer_than_machines(void **state)
{
    (void)state;
    assert_int_equal(idle_grace_ms(true, 300000, 30000, 0), 300000);
    assert_int_equal(idle_grace_ms(false, 300000, 30000, 0), 30000);
    assert_int_equal(idle_grace_ms(true, 300000, 30000, 900000), 300000);
    assert_int_equal(idle_grace_ms(true, 300000, 30000, 60000), 60000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_seven_or_not_at_all),
        cmocka_unit_test(people_get_longer_than_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
