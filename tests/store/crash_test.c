/* Power cuts: random groups on a disk that loses, reorders and tears what was not synced. After every cut the database
 * opens again and holds every acknowledged event.
 *
 * crash_test [first seed [number of seeds]] */
#include <stdio.h>
#include <stdlib.h>

#include "sim_disk.h"
#include "workload.h"

static const struct db_options options = {
    .engine = DB_SQLITE, .path = "db", .vfs = "sim", .cache_kib = 64, .checkpoint_pages = 40};

struct run {
    uint64_t seed;
    struct db *db;
    struct workload workload;
    int64_t cuts, lost_in_flight, kept_in_flight;
};

static void fail(const struct run *run, const char *what, const char *why)
{
    fprintf(stderr, "seed %llu, after %lld groups and %lld power cuts: %s: %s\nrun it alone: crash_test %llu 1\n",
            (unsigned long long)run->seed, (long long)run->workload.groups, (long long)run->cuts, what, why,
            (unsigned long long)run->seed);
    exit(1);
}

static void open_database(struct run *run)
{
    struct failure failure = {0};
    if (db_open(&options, &run->db, &failure)) {
        fail(run, "the database does not open", failure.detail);
    }
    if (workload_start(&run->workload, run->db, &failure)) {
        fail(run, "the tenant cannot be made", failure.detail);
    }
}

/* The cut comes between groups, inside one, or at any write or sync of one. True: a group was in flight. */
static bool work_until_cut(struct run *run)
{
    struct failure failure = {0};
    int64_t groups = (int64_t)(disk_random() % 20);
    int way = (int)(disk_random() % 3);
    for (int64_t i = 0; i < groups; i++) {
        if (workload_group(&run->workload, false, &failure)) {
            fail(run, "a group failed on a sound disk", failure.detail);
        }
    }
    if (way == 0) {
        return false;
    }
    if (way == 1) {
        if (workload_group(&run->workload, true, &failure)) {
            fail(run, "a group failed on a sound disk", failure.detail);
        }
        return true;
    }
    bool at_sync = disk_random() % 2; /* then the group is whole in the log, but perhaps not on the disk */
    disk_set_fault((struct disk_fault){.calls = at_sync ? DISK_SYNC : DISK_WRITE | DISK_SYNC | DISK_TRUNCATE,
                                       .at = 1 + (int64_t)(disk_random() % (at_sync ? 8 : 150)),
                                       .lasting = true});
    while (!workload_group(&run->workload, false, &failure))
        ;
    return true;
}

static void cut_and_check(struct run *run)
{
    bool in_flight = work_until_cut(run);
    disk_cut_power();
    db_close(run->db);
    run->cuts++;
    open_database(run);
    const char *problem = workload_check(&run->workload, run->db, in_flight);
    if (problem) {
        fail(run, "after the power cut", problem);
    }
    run->kept_in_flight += run->workload.kept_in_flight;
    run->lost_in_flight += in_flight && !run->workload.kept_in_flight;
}

static void run_seed(struct run *run, uint64_t seed)
{
    run->seed = seed;
    disk_reset(seed);
    workload_init(&run->workload, disk_random);
    open_database(run);
    for (int i = 0; i < 6; i++) {
        cut_and_check(run);
    }
    db_close(run->db);
    workload_release(&run->workload);
}

int main(int argc, char **argv)
{
    static struct run run;
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
    int64_t groups = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        run_seed(&run, seed);
        groups += run.workload.groups;
    }
    printf("%llu seeds, %lld power cuts, %lld groups, in flight %lld lost whole, %lld kept whole: nothing acknowledged "
           "was lost\n",
           (unsigned long long)count, (long long)run.cuts, (long long)groups, (long long)run.lost_in_flight,
           (long long)run.kept_in_flight);
    disk_reset(0);
    return 0;
}
