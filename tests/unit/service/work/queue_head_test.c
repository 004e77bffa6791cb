/* A head of a queue is at every moment what sorting the whole queue would say. */
#include "unit.h"

#include <stdlib.h>

#include "domain/agent.h"
#include "service/work/queue_head.h"

enum { SESSIONS = 200, STEPS = 20000 };

static const char *const agents[] = {"a", "b"};
static const struct candidate nobody[1];

struct waiting {
    struct session sessions[SESSIONS];
    bool waits[SESSIONS];
};

static bool asked_for(const struct session *session, const struct queue_filter *filter)
{
    return session->driver == DRIVER_WORKER &&
           (!slice_present(filter->agent) || slice_eq(session->agent, filter->agent)) &&
           (filter->type < 0 || filter->type == (int)session->type);
}

static int in_order(const void *left, const void *right)
{
    return candidate_goes_before(left, right) ? -1 : 1;
}

static size_t sorted_queue(const struct waiting *waiting, const struct queue_filter *filter, struct candidate *out)
{
    size_t count = 0;
    for (size_t i = 0; i < SESSIONS; i++) {
        const struct session *session = &waiting->sessions[i];
        if (waiting->waits[i] && asked_for(session, filter)) {
            out[count++] = (struct candidate){session->key, session->priority, session->queued_at_ms};
        }
    }
    qsort(out, count, sizeof *out, in_order);
    return count;
}

static void assert_head_is_right(struct queue_heads *heads, const struct waiting *waiting,
                                 const struct queue_filter *filter, size_t wanted)
{
    struct candidate expected[SESSIONS];
    size_t count = sorted_queue(waiting, filter, expected);
    const struct queue_head *head = queue_heads_find(heads, filter, wanted);
    if (!head) {
        head = queue_heads_fill(heads, filter, expected, count < QUEUE_HEAD_ROOM ? count : QUEUE_HEAD_ROOM);
    }
    assert_non_null(head);
    size_t told = count < wanted ? count : wanted;
    assert_true(head->count >= told);
    assert_true(!head->whole || head->count == count);
    assert_memory_equal(&head->items[head->first], expected, told * sizeof *expected);
}

static void change_one(struct queue_heads *heads, struct waiting *waiting, size_t at)
{
    struct session *session = &waiting->sessions[at];
    if (waiting->waits[at]) {
        queue_heads_remove(heads, session->key);
    }
    waiting->waits[at] = rand() % 3 != 0;
    session->priority = rand() % 3;
    session->queued_at_ms = rand() % 50;
    if (waiting->waits[at]) {
        queue_heads_add(heads, session);
    }
}

static void test_a_head_is_what_the_store_would_say(void **state)
{
    (void)state;
    static struct waiting waiting;
    struct queue_heads heads = {0};
    srand(7);
    for (size_t i = 0; i < SESSIONS; i++) {
        waiting.sessions[i] = (struct session){.key = (int64_t)i + 1,
                                               .tenant_key = 1,
                                               .agent = slice_of(agents[i % 2]),
                                               .type = (enum session_type)(i % 3),
                                               .driver = i % 7 == 0 ? DRIVER_DEMO : DRIVER_WORKER};
    }
    for (int step = 0; step < STEPS; step++) {
        /* Long runs of claims and of arrivals, so that heads run empty and fill up. */
        change_one(&heads, &waiting, (size_t)rand() % SESSIONS);
        struct queue_filter filter = {1, step % 3 ? slice_of(agents[step % 2]) : (struct slice){0}, step % 4 - 1,
                                      false};
        assert_head_is_right(&heads, &waiting, &filter, (size_t)(1 + rand() % 8));
    }
    queue_heads_clear(&heads);
}

static void test_heads_of_others_are_not_touched(void **state)
{
    (void)state;
    struct queue_heads heads = {0};
    struct queue_filter mine = {1, SLICE("a"), -1, false}, hosted = {1, SLICE("a"), -1, true},
                        theirs = {2, SLICE("a"), -1, false};
    queue_heads_fill(&heads, &mine, nobody, 0);
    queue_heads_fill(&heads, &hosted, nobody, 0);
    queue_heads_fill(&heads, &theirs, nobody, 0);
    struct session session = {.key = 5, .tenant_key = 1, .agent = SLICE("a"), .driver = DRIVER_WORKER};
    queue_heads_add(&heads, &session);
    session.driver = DRIVER_RUNNER; /* claimed by key */
    session.key = 6;
    queue_heads_add(&heads, &session);
    assert_int_equal(queue_heads_find(&heads, &mine, 1)->count, 1);
    assert_int_equal(queue_heads_find(&heads, &hosted, 1)->count, 0);
    assert_int_equal(queue_heads_find(&heads, &theirs, 1)->count, 0);
    queue_heads_clear(&heads);
    assert_null(queue_heads_find(&heads, &mine, 1));
}

static void test_the_head_that_was_used_least_recently_goes(void **state)
{
    (void)state;
    struct queue_heads heads = {0};
    struct queue_filter filter = {.type = -1};
    for (filter.tenant_key = 1; filter.tenant_key <= QUEUE_HEADS_MAX; filter.tenant_key++) {
        queue_heads_fill(&heads, &filter, nobody, 0);
    }
    struct queue_filter first = {.tenant_key = 1, .type = -1}, second = {.tenant_key = 2, .type = -1};
    assert_non_null(queue_heads_find(&heads, &first, 1));
    queue_heads_fill(&heads, &filter, nobody, 0);
    assert_non_null(queue_heads_find(&heads, &first, 1));
    assert_null(queue_heads_find(&heads, &second, 1));
    char name[QUEUE_AGENT_BYTES_MAX + 1] = {0};
    filter.agent = slice_from(name, sizeof name);
    assert_null(queue_heads_fill(&heads, &filter, nobody, 0));
    queue_heads_clear(&heads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_head_is_what_the_store_would_say),
        cmocka_unit_test(test_heads_of_others_are_not_touched),
        cmocka_unit_test(test_the_head_that_was_used_least_recently_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
