#include "base/byte_hold.h"

static int64_t account_add(struct byte_account *account, int64_t bytes)
{
    return account ? atomic_fetch_add_explicit(&account->used, bytes, memory_order_relaxed) + bytes : 0;
}

static void add_to_all(const struct byte_hold *hold, int64_t bytes)
{
    for (int i = 0; i < BYTE_ACCOUNTS_MAX; i++) {
        (void)account_add(hold->accounts[i], bytes);
    }
}

static enum status refuse(const struct byte_account *account, struct failure *failure)
{
    enum status status =
        failure_set(failure, account->status, "too_many_bytes",
                    "Requests and answers of %s hold %lld bytes of memory already (option %s). Try again later.",
                    account->whose, (long long)account->max, account->option);
    failure->retry_after_s = 1;
    return status;
}

enum status byte_hold_take(struct byte_hold *hold, int64_t bytes, struct failure *failure)
{
    for (int i = 0; i < BYTE_ACCOUNTS_MAX; i++) {
        struct byte_account *account = hold->accounts[i];
        if (!account || account_add(account, bytes) <= account->max) {
            continue;
        }
        for (int taken = i; taken >= 0; taken--) {
            (void)account_add(hold->accounts[taken], -bytes);
        }
        return refuse(account, failure);
    }
    hold->bytes += bytes;
    return STATUS_OK;
}

void byte_hold_add(struct byte_hold *hold, int64_t bytes)
{
    add_to_all(hold, bytes);
    hold->bytes += bytes;
}

enum status byte_hold_check(const struct byte_hold *hold, struct failure *failure)
{
    for (int i = 0; i < BYTE_ACCOUNTS_MAX; i++) {
        const struct byte_account *account = hold->accounts[i];
        if (account && atomic_load_explicit(&account->used, memory_order_relaxed) > account->max) {
            return refuse(account, failure);
        }
    }
    return STATUS_OK;
}

void byte_hold_move(struct byte_hold *hold, struct byte_account *first, struct byte_account *second)
{
    if (hold->accounts[0] == first && hold->accounts[1] == second) {
        return;
    }
    int64_t bytes = hold->bytes;
    byte_hold_release(hold);
    hold->accounts[0] = first;
    hold->accounts[1] = second;
    if (bytes != 0) {
        byte_hold_add(hold, bytes);
    }
}

void byte_hold_release(struct byte_hold *hold)
{
    if (hold->bytes != 0) {
        add_to_all(hold, -hold->bytes);
        hold->bytes = 0;
    }
}
