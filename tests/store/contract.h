/* The parts of the contract suite, one per noun. */
#ifndef TESTS_STORE_CONTRACT_H
#define TESTS_STORE_CONTRACT_H

#include "fixture.h"

#define CONTRACT_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

struct contract_part {
    const char *name;
    const struct CMUnitTest *tests;
    size_t count;
};

extern const struct contract_part contract_sessions, contract_lists, contract_events, contract_shares, contract_leases,
    contract_prompts, contract_asks, contract_identity, contract_care;
extern const struct contract_part contract_work;
extern const struct contract_part contract_agents, contract_sessions, contract_lists, contract_events, contract_shares,
    contract_leases, contract_prompts, contract_identity, contract_care;

#endif
