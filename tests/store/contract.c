/* One suite for both engines: contract sqlite:PATH | contract postgres://… [part]. The database must be empty or from
 * an earlier run of this suite; every test makes tenants of its own. */
#include "contract.h"

#include <stdio.h>

static const struct contract_part *const parts[] = {
    &contract_sessions, &contract_lists,    &contract_events, &contract_shares, &contract_leases, &contract_prompts,
    &contract_asks,     &contract_identity, &contract_care,   &contract_agents, &contract_work,
};

int main(int argc, char **argv)
{
    if (argc < 2 || !fixture_options(argv[1], &fixture_database)) {
        fprintf(stderr, "usage: %s sqlite:PATH | postgres://… [part]\n", argv[0]);
        return 2;
    }
    int failed = 0;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (argc < 3 || strcmp(argv[2], parts[i]->name) == 0) {
            failed += _cmocka_run_group_tests(parts[i]->name, parts[i]->tests, parts[i]->count, NULL, NULL);
        }
    }
    if (failed) {
        fprintf(stderr, "run one part alone: %s %s PART\n", argv[0], argv[1]);
    }
    return failed ? 1 : 0;
}
