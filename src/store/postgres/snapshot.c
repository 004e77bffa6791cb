#include "store/postgres/snapshot.h"

static bool running_parse(struct slice list, struct snapshot *out)
{
    struct slice number;
    out->running_count = 0;
    for (bool more = list.len > 0; more; out->running_count++) {
        more = slice_cut(list, ',', &number, &list);
        if (out->running_count == SNAPSHOT_RUNNING_MAX || !slice_to_i64(number, &out->running[out->running_count])) {
            return false;
        }
    }
    return true;
}

bool snapshot_parse(struct slice text, struct snapshot *out)
{
    struct slice min, rest, next, running;
    return slice_cut(text, ':', &min, &rest) && slice_cut(rest, ':', &next, &running) &&
           slice_to_i64(next, &out->next) && running_parse(running, out);
}

void snapshot_write(const struct snapshot *snapshot, struct buffer *to)
{
    buffer_format(to, "0:%lld:", (long long)snapshot->next);
    for (size_t i = 0; i < snapshot->running_count; i++) {
        buffer_format(to, "%s%lld", i ? "," : "", (long long)snapshot->running[i]);
    }
}

static bool is_running(const struct snapshot *snapshot, int64_t transaction)
{
    for (size_t i = 0; i < snapshot->running_count; i++) {
        if (snapshot->running[i] == transaction) {
            return true;
        }
    }
    return false;
}

bool snapshot_sees(const struct snapshot *snapshot, int64_t transaction)
{
    return transaction < snapshot->next && !is_running(snapshot, transaction);
}

bool snapshot_is_within(const struct snapshot *inner, const struct snapshot *outer)
{
    for (size_t i = 0; i < outer->running_count; i++) {
        if (snapshot_sees(inner, outer->running[i])) {
            return false;
        }
    }
    /* Each of the transactions that are new to `outer` must be running, so there are not more of them. */
    if (inner->next > outer->next && inner->next - outer->next > (int64_t)inner->running_count) {
        return false;
    }
    for (int64_t later = outer->next; later < inner->next; later++) {
        if (!is_running(inner, later)) {
            return false;
        }
    }
    return true;
}

static void running_remove(struct snapshot *snapshot, int64_t transaction)
{
    for (size_t i = 0; i < snapshot->running_count; i++) {
        if (snapshot->running[i] == transaction) {
            snapshot->running[i] = snapshot->running[--snapshot->running_count];
            return;
        }
    }
}

void snapshot_add(struct snapshot *snapshot, int64_t transaction)
{
    if (transaction < snapshot->next) {
        running_remove(snapshot, transaction);
        return;
    }
    if (transaction - snapshot->next > (int64_t)(SNAPSHOT_RUNNING_MAX - snapshot->running_count)) {
        return;
    }
    while (snapshot->next < transaction) {
        snapshot->running[snapshot->running_count++] = snapshot->next++;
    }
    snapshot->next++;
}

void snapshot_join(struct snapshot *snapshot, const struct snapshot *other)
{
    struct snapshot both = {.next = snapshot->next > other->next ? snapshot->next : other->next};
    for (size_t i = 0; i < snapshot->running_count; i++) {
        if (!snapshot_sees(other, snapshot->running[i])) {
            both.running[both.running_count++] = snapshot->running[i];
        }
    }
    for (size_t i = 0; i < other->running_count; i++) {
        int64_t running = other->running[i];
        if (!snapshot_sees(snapshot, running) && !is_running(&both, running)) {
            if (both.running_count == SNAPSHOT_RUNNING_MAX) {
                return;
            }
            both.running[both.running_count++] = running;
        }
    }
    *snapshot = both;
}
