/* What the server does, as flows over the store: each runs inside one transaction. */
#ifndef TESTS_STORE_FAULT_FLOWS_H
#define TESTS_STORE_FAULT_FLOWS_H

#include "store/store.h"

enum { TENANT = 1, NOW_MS = 1700000000 };

struct flow_state {
    struct db *db;
    struct arena arena;
    struct session log, queued, running; /* as stored before the flow */
};

struct flow {
    const char *name;
    enum status (*run)(struct flow_state *s, struct failure *failure);
};
extern const struct flow fault_flows[];
extern const size_t fault_flow_count;

/* Make the state every flow begins with, in two transactions. */
enum status fault_fill(struct flow_state *s, struct failure *failure);
enum status fault_fill_more(struct flow_state *s, struct failure *failure);

#endif
