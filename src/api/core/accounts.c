#include "api/core/accounts.h"

#include <stdlib.h>

#include "base/arena.h"

/* Callers are told apart by a hash with a secret seed: nothing is allocated or freed for them, nobody can choose to
 * share an account, and two who do by chance share a limit. */
enum { CALLER_SLOTS = 16384, TENANT_SLOTS = 4096 };

struct accounts {
    uint64_t seed;
    struct byte_account guests;
    struct byte_account callers[CALLER_SLOTS];
    struct byte_account tenants[TENANT_SLOTS];
};

static void fill(struct byte_account *accounts, size_t count, struct byte_account model)
{
    for (size_t i = 0; i < count; i++) {
        accounts[i].max = model.max;
        accounts[i].whose = model.whose;
        accounts[i].option = model.option;
        accounts[i].status = model.status;
    }
}

struct accounts *accounts_new(const struct accounts_options *options)
{
    struct accounts *accounts = memory_zeroed(sizeof *accounts);
    options->ids->fill(options->ids, &accounts->seed, sizeof accounts->seed);
    fill(&accounts->guests, 1,
         (struct byte_account){.max = options->guest_bytes_max,
                               .whose = "callers who are not known yet",
                               .option = "guest-bytes-max",
                               .status = STATUS_UNAVAILABLE});
    fill(accounts->callers, CALLER_SLOTS,
         (struct byte_account){.max = options->caller_bytes_max,
                               .whose = "this caller",
                               .option = "caller-bytes-max",
                               .status = STATUS_LIMITED});
    fill(accounts->tenants, TENANT_SLOTS,
         (struct byte_account){.max = options->tenant_bytes_max,
                               .whose = "this tenant",
                               .option = "tenant-bytes-max",
                               .status = STATUS_LIMITED});
    return accounts;
}

int64_t accounts_held(const struct accounts *accounts)
{
    int64_t held = atomic_load_explicit(&accounts->guests.used, memory_order_relaxed);
    for (size_t i = 0; i < CALLER_SLOTS; i++) {
        held += atomic_load_explicit(&accounts->callers[i].used, memory_order_relaxed);
    }
    return held;
}

void accounts_free(struct accounts *accounts)
{
    free(accounts);
}

void accounts_enter_guest(struct accounts *accounts, struct byte_hold *hold)
{
    byte_hold_move(hold, &accounts->guests, NULL);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 32);
}

static uint64_t hash_name(uint64_t hash, struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        hash = mix(hash, (unsigned char)name.ptr[i]);
    }
    return hash;
}

void accounts_enter_caller(struct accounts *accounts, const struct principal *who, struct byte_hold *hold)
{
    uint64_t tenant = mix(accounts->seed, (uint64_t)who->tenant_key);
    uint64_t caller = hash_name(tenant, who->name);
    byte_hold_move(hold, &accounts->callers[caller % CALLER_SLOTS], &accounts->tenants[tenant % TENANT_SLOTS]);
}
