/* Random group commits while the server ends the writer's connection at random moments: what was acknowledged is there,
 * what was refused is not, no group is there by half.
 *     store_postgres_kill postgres://… [seed [groups]]          an empty database */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <libpq-fe.h>

#include "workload.h"

static uint64_t state;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

struct killer {
    PGconn *connection;
    long delay_us;
};

static void *kill_main(void *argument)
{
    const struct killer *killer = argument;
    nanosleep(&(struct timespec){.tv_nsec = killer->delay_us * 1000}, NULL);
    PQclear(PQexec(killer->connection, "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
                                       " where application_name = 'sojourn' and datname = current_database()"));
    return NULL;
}

struct tally {
    int acknowledged, refused, unknown;
};

static void tally_add(struct tally *tally, enum status status)
{
    tally->acknowledged += status == STATUS_OK;
    tally->unknown += status == STATUS_UNCERTAIN;
    tally->refused += status != STATUS_OK && status != STATUS_UNCERTAIN;
}

/* One group with a kill somewhere in it, then the look at what is there. */
static const char *round_run(struct workload *workload, PGconn *connection, struct tally *tally)
{
    struct killer killer = {connection, (long)(next_random() % 6000)};
    struct failure failure = {0};
    pthread_t thread;
    pthread_create(&thread, NULL, kill_main, &killer);
    enum status status = STATUS_OK;
    for (int i = 0; i < 4 && status == STATUS_OK; i++) {
        status = workload_group(workload, false, &failure);
        tally_add(tally, status);
    }
    pthread_join(thread, NULL);
    if (status != STATUS_OK && status != STATUS_UNAVAILABLE) {
        static char problem[1100];
        snprintf(problem, sizeof problem, "a lost connection is %s: %s", status_name(status), failure.detail);
        return problem;
    }
    return workload_check(workload, workload->db, status == STATUS_UNCERTAIN);
}

int main(int argc, char **argv)
{
    static struct workload workload;
    struct failure failure = {0};
    struct tally tally = {0};
    struct db *db = NULL;
    const char *problem = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: %s postgres://… [seed [rounds]]\n", argv[0]);
        return 2;
    }
    unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int rounds = argc > 3 ? atoi(argv[3]) : 100;
    state = seed * 0x9e3779b97f4a7c15u + 1;
    struct db_options options = {.engine = DB_POSTGRES, .url = argv[1]};
    PGconn *connection = PQconnectdb(argv[1]);
    workload_init(&workload, next_random);
    if (db_open(&options, &db, &failure) || workload_start(&workload, db, &failure)) {
        problem = failure.detail;
    }
    int round = 0;
    for (; round < rounds && !problem; round++) {
        problem = round_run(&workload, connection, &tally);
    }
    printf("seed %llu, %d rounds: %d groups acknowledged, %d refused, %d unknown, %lld events found\n", seed, round,
           tally.acknowledged, tally.refused, tally.unknown, (long long)workload.events);
    if (problem) {
        printf("round %d: %s\n", round, problem);
    }
    workload_release(&workload);
    db_close(db);
    PQfinish(connection);
    return problem != NULL || tally.refused + tally.unknown == 0;
}
