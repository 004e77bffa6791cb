#include "domain/contract.h"
#include "domain_unit.h"

static const char contract[] = "{\"fields\":{\"s\":\"string\",\"n\":\"number\",\"i\":\"integer\",\"b\":\"boolean\","
                               "\"o\":\"object\",\"l\":\"array\","
                               "\"x\":\"any\"},\"required\":[\"s\"]}";

static void what_keeps_it(void **state)
{
    static const struct {
        const char *output;
        const char *problem; /* NULL = none */
    } rows[] = {
        {"{\"s\":\"\"}", NULL},
        {"{\"s\":\"a\",\"n\":1.5,\"i\":2,\"b\":false,\"o\":{},\"l\":[],\"x\":null,\"more\":1}", NULL},
        {"{\"s\":\"a\",\"n\":null}", NULL},
        {"{}", "has no s"},
        {"{\"s\":null}", "has no s"},
        {"{\"s\":1}", "s of the output must be string"},
        {"{\"s\":\"a\",\"n\":\"1\"}", "n of the output must be number"},
        {"{\"s\":\"a\",\"i\":1.5}", "i of the output must be integer"},
        {"{\"s\":\"a\",\"b\":0}", "b of the output must be boolean"},
        {"{\"s\":\"a\",\"o\":[]}", "o of the output must be object"},
        {"{\"s\":\"a\",\"l\":{}}", "l of the output must be array"},
        {"[]", "must be an object"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct failure failure = {0};
        enum status status = contract_enforce(json_of(contract), json_of(rows[i].output), &failure);
        assert_row(rows[i].output, (status == STATUS_OK) == !rows[i].problem);
        assert_row(rows[i].output, !rows[i].problem || strstr(failure.detail, rows[i].problem));
        assert_row(rows[i].output, !rows[i].problem || strcmp(failure.code, "output_contract") == 0);
    }
    assert_status(contract_enforce(json_of(contract), NULL, NULL), STATUS_INVALID);
    assert_status(contract_enforce(NULL, json_of("7"), NULL), STATUS_OK);
    assert_status(contract_enforce(json_of("{\"fields\":{\"a\":\"any\"}}"), json_of("{}"), NULL), STATUS_INVALID);
}

static void what_is_a_contract(void **state)
{
    static const char *const wrong[] = {
        "[]",
        "{}",
        "{\"fields\":{}}",
        "{\"fields\":{\"a\":\"date\"}}",
        "{\"fields\":{\"a\":1}}",
        "{\"fields\":{\"\":\"any\"}}",
        "{\"fields\":{\"a\":\"any\"},\"required\":\"a\"}",
        "{\"fields\":{\"a\":\"any\"},\"required\":[\"b\"]}",
        "{\"fields\":{\"a\":\"any\"},\"more\":1}",
    };
    (void)state;
    assert_status(contract_check(json_of(contract), NULL), STATUS_OK);
    assert_status(contract_check(NULL, NULL), STATUS_OK);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        assert_row(wrong[i], contract_check(json_of(wrong[i]), NULL) == STATUS_INVALID);
    }
}

static void what_it_yields(void **state)
{
    struct contract_yield yield =
        contract_yield(&test_arena, json_of(contract), json_of("{\"more\":1,\"n\":1.50,\"s\":\"a\",\"x\":null}"));
    (void)state;
    assert_slice(yield.fields, "{\"s\":\"a\",\"n\":1.50}");
    assert_slice(yield.names, "[\"s\",\"n\"]");
    assert_absent(contract_yield(&test_arena, json_of(contract), json_of("{\"more\":1}")).fields);
    assert_absent(contract_yield(&test_arena, NULL, json_of("{\"s\":1}")).fields);
}

static const char criteria[] =
    "{\"tone\":{},\"risk\":{\"options\":{\"low\":{\"score\":2},\"high\":{\"score\":1,\"flag\":true},\"fatal\":"
    "{\"hard_block\":true}}},\"age\":{\"options\":{\"old\":{\"score\":3,\"hard_block\":false},\"dead\":"
    "{\"hard_block\":true}}}}";

static void what_blocks(void **state)
{
    static const struct {
        const char *output;
        const char *dimension, *option; /* NULL = nothing blocks */
        int64_t score;
        const char *flags;
    } rows[] = {
        {"{}", NULL, NULL, 0, "[]"},
        {"{\"risk\":\"low\",\"age\":\"old\",\"tone\":\"x\"}", NULL, NULL, 5, "[]"},
        {"{\"risk\":\"high\",\"age\":\"young\"}", NULL, NULL, 1, "[\"risk\"]"},
        {"{\"risk\":[\"fatal\"]}", NULL, NULL, 0, "[]"},
        {"{\"risk\":\"fatal\",\"age\":\"dead\"}", "risk", "fatal", 0, "[]"},
        {"{\"risk\":\"high\",\"age\":\"dead\"}", "age", "dead", 1, "[\"risk\"]"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct safety safety = criteria_evaluate(&test_arena, json_of(criteria), json_of(rows[i].output));
        assert_row(rows[i].output, safety.ok == !rows[i].dimension);
        assert_row(rows[i].output, safety.ok || (slice_is(safety.dimension, rows[i].dimension) &&
                                                 slice_is(safety.option, rows[i].option)));
        assert_int_equal(safety.score, rows[i].score);
        assert_slice(safety.flags, rows[i].flags);
    }
    assert_true(criteria_evaluate(&test_arena, NULL, json_of("{}")).ok);
}

static void what_are_criteria(void **state)
{
    static const char *const wrong[] = {"[]",
                                        "{\"a\":1}",
                                        "{\"a\":{\"options\":[]}}",
                                        "{\"a\":{\"options\":{\"x\":1}}}",
                                        "{\"a\":{\"options\":{\"x\":{\"hard_block\":1}}}}",
                                        "{\"a\":{\"options\":{\"x\":{\"colour\":\"red\"}}}}",
                                        "{}",
                                        "{\"a\":{}}",
                                        "{\"a\":{\"options\":{}}}",
                                        "{\"a\":{\"options\":null}}",
                                        "{\"a\":{\"optionStyles\":{\"x\":{\"hard_block\":true}}}}",
                                        "{\"a\":{\"options\":{\"x\":{\"hardBlock\":true}}}}",
                                        "{\"dimensions\":{\"a\":{\"options\":{\"x\":{\"hard_block\":true}}}}}"};
    (void)state;
    assert_status(criteria_check(json_of(criteria), NULL), STATUS_OK);
    assert_status(criteria_check(NULL, NULL), STATUS_OK);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        assert_row(wrong[i], criteria_check(json_of(wrong[i]), NULL) == STATUS_INVALID);
    }
    assert_status(criteria_check_fields(json_of(criteria), NULL, NULL), STATUS_OK);
    assert_status(criteria_check_fields(json_of("{\"n\":{}}"), json_of(contract), NULL), STATUS_OK);
    assert_status(criteria_check_fields(json_of(criteria), json_of(contract), NULL), STATUS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_keeps_it), cmocka_unit_test(what_is_a_contract), cmocka_unit_test(what_it_yields),
        cmocka_unit_test(what_blocks),   cmocka_unit_test(what_are_criteria),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
